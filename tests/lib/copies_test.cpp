// What operations copy: the counters by operator, the scope that forbids it, and explanations of views and results.
#include <taper/autograd/engine.h>
#include <taper/explain.h>
#include <taper/factory.h>
#include <taper/layout_copies.h>
#include <taper/ops/conv.h>
#include <taper/ops/copy.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <cstring>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
Tensor counted(IntSpan sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(n, {.dtype = float32}).view(sizes);
}
}  // namespace

TEST_CASE("copies are counted by operator, the most bytes first", "[S81]") {
  reset_copy_stats();
  const Tensor x = counted({4, 6});
  static_cast<void>(x.t().reshape({24}));
  static_cast<void>(x.t().reshape({3, 8}));
  static_cast<void>(x.slice(1, 0, 6, 2).contiguous());
  static_cast<void>(x.t().matmul(x));  // reads the transposed operand as it lies
  static_cast<void>(x.add(x.t().contiguous().t()));

  const std::vector<CopyStats> stats = copy_stats();
  REQUIRE(stats.size() == 2);
  CHECK(std::string(stats[0].op) == "reshape");
  CHECK(stats[0].count == 2);
  CHECK(stats[0].bytes == 2 * 96);
  CHECK(std::string(stats[1].op) == "contiguous");
  CHECK(stats[1].count == 2);
  CHECK(stats[1].bytes == 48 + 96);
  reset_copy_stats();
  CHECK(copy_stats().empty());
}

TEST_CASE("a kernel's own copies count as its operator's", "[S81]") {
  reset_copy_stats();
  const Tensor image = counted({1, 2, 4, 8}).slice(3, 0, 8, 2), filter = ones({1, 2, 3, 3});
  static_cast<void>(conv2d(image, filter));
  static_cast<void>(max_pool2d(image, {2, 2}));
  static_cast<void>(matmul(counted({4, 8}).slice(1, 0, 8, 2), ones({4, 2})));
  std::vector<std::string> ops;
  for (const CopyStats& s : copy_stats()) ops.push_back(s.op);
  CHECK(ops == std::vector<std::string>{"conv2d", "max_pool2d", "matmul"});
}

TEST_CASE("inside ForbidImplicitCopies reshape copies nothing and contiguous() may", "[S79]") {
  const Tensor x = counted({2, 3});
  const Tensor explicit_one = x.t().contiguous().view({6}), implicit_one = x.t().reshape({6});
  CHECK(equal(explicit_one, implicit_one));

  const ForbidImplicitCopies scope;
  CHECK(values(x.t().contiguous().view({6})) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK_NOTHROW(x.reshape({3, 2}));
  CHECK_NOTHROW(x.t().clone());
  CHECK(
      message_of<ValueError>([&] { x.t().reshape({6}); }) ==
      "reshape: would copy float32[3, 2] on cpu with strides [1, 3], and ForbidImplicitCopies is on; copy it yourself "
      "with x.contiguous()");
  CHECK_THROWS_AS(matmul(counted({4, 8}).slice(1, 0, 8, 2), ones({4, 2})), ValueError);
  CHECK_NOTHROW(matmul(x.t(), x));
}

TEST_CASE("explain_view names the dims that cannot merge, or the strides", "[S55]") {
  const Tensor x = counted({2, 3});
  CHECK(explain_view(x, {6}) == "view with strides [1]");
  CHECK(explain_view(x.t(), {6}) ==
        "view: size [6] needs dims 0 and 1 of float32[3, 2] on cpu to merge, but no stride does that: with strides "
        "[1, 3] the elements in reading order are 3 apart within dim 1 and -2 from one of its rows to the next; use "
        "reshape(), which copies");
}

TEST_CASE("explain answers what an operation cost: seven questions", "[S90][S91]") {
  Tensor x = counted({2, 3});
  const Tensor leaf = counted({2, 3}).requires_grad_();
  const auto row = [](const Tensor& result, const Tensor& source) { return explain(result, source); };
  const std::string view_tail = "; shares memory: yes; gradient: none; kernels: ";
  const std::string viewed =
      "new storage: no; copied: 0 bytes; moved: no; keeps alive: 24 bytes of the source; strides: ";
  CHECK(row(x.view({3, 2}), x) == viewed + "[3, 1] -> [2, 1]" + view_tail + "dense");
  CHECK(row(x.t(), x) == viewed + "[3, 1] -> [1, 3]" + view_tail + "by strides");
  CHECK(row(x.slice(1, 0, 3, 2), x) == viewed + "[3, 1] -> [3, 2]" + view_tail + "by strides");
  CHECK(row(x.unsqueeze(0).expand({4, 2, 3}), x) == viewed + "[3, 1] -> [0, 3, 1]" + view_tail + "by strides");
  CHECK(row(x.contiguous(), x) == viewed + "same" + view_tail + "dense");
  CHECK(row(x.t().contiguous(), x.t()) ==
        "new storage: yes; copied: 24 bytes; moved: no; keeps alive: 24 bytes of its own; strides: [1, 3] -> [2, 1]; "
        "shares memory: no; gradient: none; kernels: dense");
  CHECK(
      row(leaf.clone(), leaf) ==
      "new storage: yes; copied: 24 bytes; moved: no; keeps alive: 24 bytes of its own; strides: same; shares memory: "
      "no; gradient: recorded; kernels: dense");
  CHECK(row(leaf.detach(), leaf) == viewed + "same; shares memory: yes; gradient: cut; kernels: dense");
  CHECK(
      row(x.to(float64), x) ==
      "new storage: yes; copied: 48 bytes; moved: no; keeps alive: 48 bytes of its own; strides: same; shares memory: "
      "no; gradient: none; kernels: dense");
  CHECK(
      row(x.to(meta), x) ==
      "new storage: yes; copied: 24 bytes; moved: cpu -> meta; keeps alive: 24 bytes of its own; strides: same; shares "
      "memory: no; gradient: none; kernels: dense");
  CHECK(row(from_blob(x.impl()->data(), {6}), x) ==
        "new storage: yes; copied: 0 bytes; moved: no; keeps alive: 0 bytes of its own; strides: [3, 1] -> [1]; shares "
        "memory: yes; gradient: none; kernels: dense");
}

TEST_CASE("view(dtype) shows the same bytes as elements of another dtype", "[S21]") {
  const Tensor one = ones({1});
  CHECK(one.view(int32).item<std::int32_t>() == 1065353216);
  CHECK(values(one.view(uint8)) == std::vector<double>{0, 0, 128, 63});
  const Tensor x = ones({2, 4});
  const Tensor bytes = x.view(uint8);
  CHECK(bytes.sizes() == IntSpan{2, 16});
  CHECK(bytes.strides() == IntSpan{16, 1});
  CHECK(bytes.is_alias_of(x));
  CHECK(equal(bytes.view(float32), x));
  CHECK(x.view(int64).sizes() == IntSpan{2, 2});
  CHECK(x.view(float16).sizes() == IntSpan{2, 8});

  const Tensor rows = counted({4, 4}).slice(0, 1, 4, 2);  // 2 rows, from element 4 on
  CHECK(values(rows.view(float64).view(float32)) == values(rows));
  CHECK(rows.view(uint8).storage_offset() == 16);
  CHECK(rows.view(int64).strides() == IntSpan{4, 1});
  CHECK(x.view(float32).is_alias_of(x));
  CHECK(zeros({0, 3}).view(uint8).sizes() == IntSpan{0, 12});

  // A write through it is a write to x.
  Tensor y = zeros({2});
  const auto version = y.version();
  y.view(int32).fill_(1065353216);
  CHECK(values(y) == std::vector<double>{1, 1});
  CHECK(y.version() == version + 1);
}

TEST_CASE("view(dtype) refuses what does not come out even, and what has a gradient", "[S21]") {
  CHECK(message_of<ShapeError>([] { ones({3}).view(float64); }) ==
        "view: the last dim of float32[3] on cpu is 3, which is no whole number of float64: 12 bytes");
  CHECK(message_of<ShapeError>([] { counted({4}).slice(0, 1, 3).view(float64); }) ==
        "view: the start of float32[2] on cpu is 1, which is no whole number of float64: 4 bytes");
  CHECK_THROWS_AS(ones({2, 3}).slice(1, 0, 2).view(float64), ShapeError);
  CHECK_THROWS_AS(ones({4, 2}).t().view(uint8), ShapeError);
  CHECK_THROWS_AS(ones({}).view(uint8), ShapeError);
  CHECK_NOTHROW(ones({}).view(int32));
  CHECK_THROWS_AS(ones({2}).view(bool_), DTypeError);
  const Tensor leaf = ones({2}, {.requires_grad = true});
  CHECK(message_of<AutogradError>([&] { leaf.view(int32); }) ==
        "view: bytes have no derivative, but float32[2] on cpu requires grad; use x.detach().view(taper::int32)");
  CHECK_NOTHROW(leaf.detach().view(int32));
  CHECK(leaf.view(float32).requires_grad());

  alignas(8) std::byte memory[12] = {};
  const Tensor odd = from_blob(memory + 1, {8}, {.dtype = uint8});
  CHECK_THROWS_AS(odd.view(float32), ValueError);
}
