#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/layout_copies.h>
#include <taper/operator.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <functional>
#include <limits>

#include "tests/support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Floats = std::vector<float>;

/// 0, 1, 2, ... in this shape.
Tensor counted(IntSpan sizes) {
  return arange(SizesAndStrides::contiguous(sizes).numel(), {.dtype = float32}).view(sizes);
}
Floats values(const Tensor& t) { return t.to_vector<float>(); }
bool shares(const Tensor& a, const Tensor& b) { return a.is_alias_of(b); }

}  // namespace

TEST_CASE("view shows the same memory in another shape", "[S52]") {
  Tensor a = arange(12, {.dtype = float32});
  Tensor b = a.view({3, 4});

  CHECK(b.strides() == IntSpan{4, 1});
  CHECK(b.storage_offset() == 0);
  CHECK(shares(a, b));

  b.select(0, 1).select(0, 1).fill_(99);
  CHECK(values(a)[5] == 99);
}

TEST_CASE("view works on every layout that strides can describe", "[S56][S57]") {
  const Tensor every_other = arange(12, {.dtype = float32}).view({2, 6}).slice(1, 0, 6, 2);
  CHECK(every_other.strides() == IntSpan{6, 2});
  const Tensor flat = every_other.view(-1);
  CHECK(flat.strides() == IntSpan{2});
  CHECK(values(flat) == Floats{0, 2, 4, 6, 8, 10});

  const Tensor swapped = counted({2, 3, 4}).transpose(0, 1);
  const Tensor same = swapped.view({3, 2, 4});
  CHECK(same.strides() == IntSpan{4, 12, 1});
  CHECK(shares(same, swapped));

  CHECK(counted({3, 4}).t().view({2, 2, 3}).strides() == IntSpan{2, 1, 4});
  CHECK(counted({1}).view(IntSpan{}).dim() == 0);
  CHECK(counted({}).view({1, 1}).strides() == IntSpan{1, 1});
  CHECK(zeros({0, 2}).view({0, 5}).sizes() == IntSpan{0, 5});
}

TEST_CASE("view names the dims that cannot merge", "[S55][S167]") {
  const Tensor x = counted({2, 3}).t();
  CHECK_THROWS_AS(x.view(6), ShapeError);
  CHECK_THROWS_WITH(x.view(6), Contains("size [6]") && Contains("dims 0 and 1") && Contains("float32[3, 2]") &&
                                   Contains("strides [1, 3]") && Contains("3 apart") && Contains("-2 from") &&
                                   Contains("reshape()"));
}

TEST_CASE("view works out one size", "[S58]") {
  CHECK(counted({2, 3, 4}).view({2, -1}).sizes() == IntSpan{2, 12});
  CHECK_THROWS_WITH(counted({2, 3}).view({4, -1}), Contains("do not divide by 4"));
  CHECK_THROWS_WITH(zeros({0, 3}).view({0, -1}), Contains("ambiguous"));
  CHECK_THROWS_WITH(counted({2, 3}).view({-1, -1}), Contains("only one size"));
  CHECK_THROWS_WITH(counted({2, 3}).view({-2, 3}), Contains("-2 at dim 0"));
  CHECK_THROWS_WITH(counted({2, 3}).view({5}), Contains("5 elements") && Contains("has 6"));
  CHECK_THROWS_AS(counted({2}).view({std::int64_t(1) << 40, std::int64_t(1) << 40}), ShapeError);
}

TEST_CASE("reshape copies only where no view will do", "[S59][S60]") {
  const Tensor x = counted({2, 3});
  CHECK(shares(x.reshape({3, 2}), x));

  const Tensor copied = x.t().reshape(6);
  CHECK_FALSE(shares(copied, x));
  CHECK_FALSE(copied.is_view());
  CHECK(values(copied) == Floats{0, 3, 1, 4, 2, 5});

  CHECK(values(x.reshape({3, 2})) == Floats{0, 1, 2, 3, 4, 5});
  CHECK(values(x.t()) == Floats{0, 3, 1, 4, 2, 5});
}

TEST_CASE("flatten merges a range of dims", "[S61]") {
  const Tensor x = counted({2, 3, 4});
  CHECK(x.flatten(1).sizes() == IntSpan{2, 12});
  CHECK(shares(x.flatten(1), x));
  CHECK(x.flatten().sizes() == IntSpan{24});
  CHECK(x.flatten(-2, -1).sizes() == IntSpan{2, 12});
  CHECK(counted({}).flatten().sizes() == IntSpan{1});
  CHECK_THROWS_AS(x.flatten(2, 1), ShapeError);
  CHECK(unflatten(x, 2, {2, -1}).sizes() == IntSpan{2, 3, 2, 2});
  CHECK_THROWS_AS(unflatten(x, 2, {3, 2}), ShapeError);
}

TEST_CASE("unsqueeze and squeeze change only the shape", "[S62][S63]") {
  const Tensor x = counted({3, 4});
  CHECK(x.unsqueeze(0).strides() == IntSpan{12, 4, 1});
  CHECK(x.unsqueeze(1).strides() == IntSpan{4, 4, 1});
  CHECK(x.unsqueeze(-1).strides() == IntSpan{4, 1, 1});
  CHECK(shares(x.unsqueeze(2), x));
  CHECK_THROWS_WITH(x.unsqueeze(3), Contains("-3 to 2"));

  CHECK(counted({1, 1, 1}).squeeze().dim() == 0);
  CHECK(counted({1, 3, 1}).squeeze().sizes() == IntSpan{3});
  CHECK(counted({1, 3, 1}).squeeze(1).sizes() == IntSpan{1, 3, 1});
  CHECK(counted({1, 3, 1}).squeeze(-1).sizes() == IntSpan{1, 3});
  CHECK(counted({}).squeeze(0).dim() == 0);
  CHECK_THROWS_AS(x.squeeze(2), IndexError);
}

TEST_CASE("transpose and permute reorder sizes and strides", "[S64][S65][S66]") {
  CHECK(counted({2, 3}).transpose(0, 1).strides() == IntSpan{1, 3});
  const Tensor x = counted({2, 3, 4});
  CHECK(x.transpose(0, 2).sizes() == IntSpan{4, 3, 2});
  CHECK(x.transpose(0, 2).strides() == IntSpan{1, 4, 12});
  CHECK_FALSE(x.transpose(0, 2).is_contiguous());
  CHECK(x.permute({2, 0, 1}).sizes() == IntSpan{4, 2, 3});
  CHECK(x.permute({2, 0, 1}).strides() == IntSpan{1, 12, 4});
  CHECK_THROWS_WITH(x.permute({0, 0, 1}), Contains("names dim 0 twice"));
  CHECK_THROWS_AS(x.permute({0, 1}), ShapeError);
  CHECK_THROWS_AS(x.permute({0, 1, 3}), IndexError);
  CHECK_THROWS_AS(x.t(), ShapeError);
  CHECK(movedim(x, 0, -1).sizes() == IntSpan{3, 4, 2});
  CHECK(movedim(x, {0, 1}, {2, 0}).sizes() == IntSpan{3, 4, 2});
  CHECK(mT(x).sizes() == IntSpan{2, 4, 3});
  CHECK(numpy_T(x).sizes() == IntSpan{4, 3, 2});

  const Tensor image = counted({2, 3, 4, 5});
  const Tensor back = image.permute({0, 2, 3, 1}).permute({0, 3, 1, 2});
  CHECK(back.strides() == image.strides());
  CHECK(shares(back, image));

  Tensor d = counted({3, 4});
  Tensor e = d.t();
  e.select(0, 1).select(0, 2).fill_(9);
  CHECK(values(d)[2 * 4 + 1] == 9);
}

TEST_CASE("slices are an offset and a stride", "[S41][S42][S23]") {
  const Tensor x = arange(12, {.dtype = float32});
  CHECK(x.storage_offset() == 0);
  const Tensor tail = x.slice(0, 2);
  CHECK(tail.sizes() == IntSpan{10});
  CHECK(tail.strides() == IntSpan{1});
  CHECK(tail.storage_offset() == 2);
  CHECK(static_cast<const char*>(tail.data_ptr()) - static_cast<const char*>(x.data_ptr()) == 8);

  const Tensor stepped = arange(10, {.dtype = float32}).slice(0, 2, 8, 2);
  CHECK(values(stepped) == Floats{2, 4, 6});
  CHECK(stepped.strides() == IntSpan{2});
  CHECK(stepped.storage_offset() == 2);

  CHECK(values(x.slice(0, -3)) == Floats{9, 10, 11});
  CHECK(x.slice(0, 5, 3).numel() == 0);
  CHECK(x.slice(0, -100, 100).numel() == 12);
  CHECK(x.slice(0, 0, 12, std::int64_t(1) << 62).numel() == 1);
  CHECK_THROWS_WITH(x.slice(0, 0, 3, 0), Contains("flip"));
  CHECK_THROWS_AS(x.slice(0, 0, 3, -1), ValueError);
}

TEST_CASE("narrow cuts a region without copying", "[S68]") {
  const Tensor x = counted({4, 4});
  CHECK(x.narrow(0, 1, 2).narrow(1, 1, 2).storage_offset() == 5);

  const Tensor image = empty({1, 3, 512, 512});
  const Tensor roi = image.narrow(2, 100, 128).narrow(3, 200, 128);
  CHECK(roi.storage_offset() == 51400);
  CHECK(roi.strides() == IntSpan{786432, 262144, 512, 1});
  CHECK_FALSE(roi.is_contiguous());
  CHECK(static_cast<const char*>(roi.data_ptr()) - static_cast<const char*>(image.data_ptr()) == 205600);

  CHECK(values(x.narrow(0, -1, 1)) == Floats{12, 13, 14, 15});
  CHECK(x.narrow(0, 4, 0).numel() == 0);
  CHECK_THROWS_AS(x.narrow(0, 3, 2), IndexError);
  CHECK_THROWS_AS(x.narrow(0, 5, 0), IndexError);
  CHECK_THROWS_AS(x.narrow(0, 0, std::numeric_limits<std::int64_t>::max()), IndexError);
  CHECK_THROWS_AS(counted({}).narrow(0, 0, 1), IndexError);
}

TEST_CASE("select drops a dim and keeps the storage", "[S69]") {
  const Tensor x = counted({3, 4});
  CHECK(x[0].strides() == IntSpan{1});
  CHECK(x[0].is_contiguous());
  CHECK(x.select(1, 0).strides() == IntSpan{4});
  CHECK_FALSE(x.select(1, 0).is_contiguous());
  CHECK(x[0].storage()->bytes() == x.storage()->bytes());
  CHECK(values(x[-1]) == Floats{8, 9, 10, 11});
  CHECK_THROWS_WITH(x[3], Contains("index 3") && Contains("dim 0") && Contains("float32[3, 4]"));
}

TEST_CASE("unfold shows windows", "[S70]") {
  const Tensor w = arange(6, {.dtype = float32}).unfold(0, 3, 2);
  CHECK(w.strides() == IntSpan{2, 1});
  CHECK(values(w) == Floats{0, 1, 2, 2, 3, 4});
  CHECK(counted({3, 6}).unfold(-1, 4, 1).sizes() == IntSpan{3, 3, 4});
  CHECK(counted({}).unfold(0, 1, 1).sizes() == IntSpan{1});
  CHECK_THROWS_AS(w.unfold(0, 3, 1), ShapeError);
  CHECK_THROWS_AS(w.unfold(0, 1, 0), ValueError);
  CHECK_THROWS_AS(w.unfold(0, -1, 1), ShapeError);
}

TEST_CASE("expand repeats without memory", "[S44][S71]") {
  const Tensor x = counted({3});
  const Tensor rows = x.expand({2, 3});
  CHECK(rows.strides() == IntSpan{0, 1});
  CHECK(rows.storage()->bytes() == 12);
  CHECK(counted({2, 1}).expand({-1, 3}).strides() == IntSpan{1, 0});
  CHECK(counted({1, 3}).expand({1, 1, 3}).strides() == IntSpan{3, 3, 1});
  CHECK(counted({1}).expand({0}).numel() == 0);
  CHECK_THROWS_WITH(counted({2, 3}).expand({2, 4}), Contains("dim 1 is 3"));
  CHECK_THROWS_AS(x.expand({-1, 3}), ShapeError);
  CHECK_THROWS_AS(x.expand(IntSpan{}), ShapeError);
}

TEST_CASE("in-place operations refuse an expanded tensor", "[S100]") {
  Tensor x = full({1}, 2.0f);
  Tensor wide = x.expand(3);
  CHECK_THROWS_AS(wide.fill_(5), ShapeError);
  CHECK(values(x) == Floats{2});
}

TEST_CASE("diagonal walks along two dims") {
  CHECK(values(counted({3, 4}).diagonal()) == Floats{0, 5, 10});
  CHECK(values(counted({3, 4}).diagonal(2)) == Floats{2, 7});
  CHECK(values(counted({3, 4}).diagonal(-1)) == Floats{4, 9});
  CHECK(counted({3, 4}).diagonal(7).numel() == 0);
  CHECK(counted({3, 4}).diagonal(std::numeric_limits<std::int64_t>::min()).numel() == 0);
  CHECK(counted({2, 3, 3}).diagonal(1, -1, -2).sizes() == IntSpan{2, 2});
  CHECK_THROWS_AS(counted({3}).diagonal(), IndexError);
  CHECK_THROWS_AS(counted({3, 3}).diagonal(0, 1, -1), ShapeError);
}

TEST_CASE("as_strided shows any layout within the storage", "[S53][S45]") {
  const Tensor x = arange(5, {.dtype = float32});
  CHECK(values(x.as_strided({3, 3}, {1, 1})) == Floats{0, 1, 2, 1, 2, 3, 2, 3, 4});
  CHECK(values(x.slice(0, 2).as_strided({2}, {1})) == Floats{2, 3});
  CHECK(values(x.slice(0, 2).as_strided({2}, {1}, 0)) == Floats{0, 1});
  CHECK_THROWS_AS(x.as_strided({2}, {-1}, 4), ValueError);
  CHECK_THROWS_WITH(x.as_strided({2}, {-1}, 4), Contains("flip"));
  CHECK_THROWS_AS(x.as_strided({2, 2}, {1}), ShapeError);
  CHECK_THROWS_AS(x.as_strided({-2}, {1}), ValueError);
}

TEST_CASE("a part of a tensor without elements can be written and differentiated") {
  const Tensor x = zeros({0, 3}, {.requires_grad = true});
  const Tensor base = zeros({2, 0, 3});
  base.select(0, 1).copy_(x);  // begins past the end of the memory
  const Tensor g = autograd::grad({base}, {x}, {zeros({2, 0, 3})}, {.create_graph = true})[0];
  CHECK(g.sizes() == x.sizes());
}

TEST_CASE("as_strided never reaches outside the storage", "[S54]") {
  const Tensor x = zeros({10});
  CHECK_THROWS_AS(x.as_strided({10}, {1000}), IndexError);
  CHECK_THROWS_WITH(x.as_strided({10}, {1000}), Contains("36004 bytes") && Contains("has 40"));
  CHECK_THROWS_WITH(x.as_strided({2, 2}, {4, 1}, 5), Contains("44 bytes") && Contains("has 40"));
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS(x.as_strided({huge, huge}, {huge, huge}), IndexError);
  CHECK_THROWS_AS(x.as_strided({2}, {1}, huge), IndexError);
  CHECK_THROWS_AS(x.as_strided({huge}, {1}), IndexError);
  CHECK(x.as_strided({0}, {1}, 10).numel() == 0);
  CHECK(x.as_strided({0}, {1}, 11).numel() == 0);  // no element, so none outside
}

TEST_CASE("writes through a view reach the base and its other views", "[S72]") {
  Tensor x = arange(6, {.dtype = float32});
  Tensor y = x.view({2, 3}), z = x.slice(0, 0, 2);
  y[0].select(0, 0).fill_(100);
  CHECK(values(x)[0] == 100);
  CHECK(values(z)[0] == 100);
}

TEST_CASE("split and its relatives cut a dim into parts") {
  const Tensor x = arange(7, {.dtype = float32});
  const auto lengths = [](const TensorList& parts) {
    IntVec n;
    for (const Tensor& p : parts) n.push_back(p.size(0));
    return n;
  };
  CHECK(lengths(x.split(3)) == IntVec{3, 3, 1});
  CHECK(lengths(x.chunk(5)) == IntVec{2, 2, 2, 1});
  CHECK(lengths(x.split_with_sizes({0, 3, 4})) == IntVec{0, 3, 4});
  CHECK(lengths(tensor_split(x, 3)) == IntVec{3, 2, 2});
  CHECK(lengths(tensor_split(x, IntSpan{-2, 10})) == IntVec{5, 2, 0});
  CHECK(x.unbind().size() == 7);
  CHECK(x.unbind()[3].item<float>() == 3);
  CHECK(shares(x.split(3)[1], x));
  CHECK_THROWS_WITH(x.split_with_sizes({3, 3}), Contains("add up to 6") && Contains("is 7"));
  CHECK_THROWS_AS(x.split_with_sizes({9, -2}), ShapeError);
  CHECK_THROWS_AS(x.split(0), ValueError);
  CHECK_THROWS_AS(x.chunk(0), ValueError);
  CHECK_THROWS_AS(counted({}).split(1), IndexError);
}

TEST_CASE("a tensor can change its own shape") {
  Tensor x = counted({2, 3});
  x.t_();
  CHECK(x.sizes() == IntSpan{3, 2});
  CHECK(values(x) == Floats{0, 3, 1, 4, 2, 5});
  CHECK(x.version() == 1);
  x.unsqueeze_(0);
  CHECK(x.sizes() == IntSpan{1, 3, 2});
  x.squeeze_();
  x.transpose_(0, 1);
  CHECK(x.strides() == IntSpan{3, 1});
  x.as_strided_({2, 2}, {1, 2}, 1);
  CHECK(values(x) == Floats{1, 3, 2, 4});
  CHECK_THROWS_AS(x.as_strided_({9}, {1}), IndexError);
  CHECK(x.sizes() == IntSpan{2, 2});

  const Tensor leaf = counted({6}).requires_grad_();
  Tensor y = leaf * 2;
  y.as_strided_({2, 2}, {1, 1}, 3);
  y.sum().backward();
  CHECK(values(leaf.grad()) == Floats{0, 0, 0, 2, 4, 2});
}

TEST_CASE("resize_ changes the shape and keeps what fits") {
  Tensor x = counted({2, 3});
  x.resize_({4});
  CHECK(values(x) == Floats{0, 1, 2, 3});
  x.resize_({2, 4});
  CHECK(x.storage()->bytes() == 32);
  CHECK(values(x)[5] == 5);
  x.resize_({0});
  CHECK(x.numel() == 0);
  CHECK_THROWS_AS(x.resize_({-1}), ValueError);
  CHECK_THROWS_AS(x.resize_({std::int64_t(1) << 40, std::int64_t(1) << 40}), ValueError);

  float outside[4] = {1, 2, 3, 4};
  Tensor borrowed = from_blob(outside, {4});
  borrowed.resize_({2});
  CHECK(values(borrowed) == Floats{1, 2});
  CHECK_THROWS_AS(borrowed.resize_({8}), Error);
  CHECK(borrowed.sizes() == IntSpan{2});

  Tensor tracked = zeros({2}, {.requires_grad = true});
  CHECK_THROWS_AS(tracked.resize_({3}), AutogradError);
}

TEST_CASE("repeat copies what expand only shows", "[S71]") {
  const Tensor x = counted({2, 1});
  const LayoutCopies before = layout_copies();
  const Tensor copied = repeat(x, {1, 3});
  CHECK(copied.strides() == IntSpan{3, 1});
  CHECK(copied.storage()->bytes() == 24);
  CHECK_FALSE(shares(copied, x));
  CHECK(values(copied) == Floats{0, 0, 0, 1, 1, 1});
  CHECK(layout_copies().count == before.count);  // asked for, so not counted

  CHECK(values(repeat(counted({2}), {2, 2})) == Floats{0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(repeat(x, {0, 1}).sizes() == IntSpan{0, 1});
  CHECK(repeat(counted({}), IntSpan{}).dim() == 0);
  CHECK(repeat(counted({}), {2, 2}).sizes() == IntSpan{2, 2});
  CHECK_FALSE(shares(repeat(x, {1, 1}), x));
  CHECK(tile(counted({2, 2}), 2).sizes() == IntSpan{2, 4});
  CHECK_THROWS_AS(repeat(x, 2), ShapeError);
  CHECK_THROWS_AS(repeat(x, {2, -1}), ValueError);
}

TEST_CASE("flip copies, as strides are never negative", "[S45]") {
  const Tensor x = counted({2, 3});
  const Tensor y = flip(x, 1);
  CHECK(y.strides() == IntSpan{3, 1});
  CHECK_FALSE(shares(y, x));
  CHECK(values(y) == Floats{2, 1, 0, 5, 4, 3});
  CHECK(values(flip(x.t(), {0, -1})) == Floats{5, 2, 4, 1, 3, 0});
  CHECK(values(fliplr(x)) == values(y));
  CHECK(values(flipud(x)) == Floats{3, 4, 5, 0, 1, 2});
  CHECK(values(flip(x, IntSpan{})) == values(x));
  CHECK(flip(counted({}), 0).dim() == 0);
  CHECK(flip(zeros({0, 2}), {0, 1}).sizes() == IntSpan{0, 2});
  CHECK_THROWS_AS(flip(x, {1, -1}), ShapeError);
  CHECK_THROWS_AS(flip(x, 2), IndexError);
  for (const DType d : kAllDTypes)
    CHECK(flip(tensor({0, 1, 1}, d), 0).to(float32).to_vector<float>() == Floats{1, 1, 0});
}

TEST_CASE("roll moves entries around the end") {
  const Tensor x = counted({2, 3});
  CHECK(values(x.roll(1, 1)) == Floats{2, 0, 1, 5, 3, 4});
  CHECK(values(x.roll(-1, -1)) == Floats{1, 2, 0, 4, 5, 3});
  CHECK(values(x.roll(7)) == Floats{5, 0, 1, 2, 3, 4});
  CHECK(values(x.t().roll({1, 1}, {0, 1})) == Floats{5, 2, 3, 0, 4, 1});
  CHECK(values(x.roll({1, 1}, {0, 0})) == values(x));
  CHECK_FALSE(shares(x.roll(0, 0), x));
  CHECK(zeros({0, 2}).roll(1, 0).sizes() == IntSpan{0, 2});
  CHECK(counted({}).roll(1).dim() == 0);
  CHECK_THROWS_AS(x.roll({1, 1}), ShapeError);
  CHECK_THROWS_AS(x.roll(1, {0, 1}), ShapeError);
  CHECK_THROWS_AS(x.roll(1, 2), IndexError);
  Tensor tracked = linspace(0.1, 1.7, 6, {.dtype = float64}).view({3, 2});
  tracked.requires_grad_();
  const auto check = [&](const std::function<Tensor(const TensorList&)>& f) {
    CHECK(autograd::gradcheck(f, {tracked}));
    CHECK(autograd::gradgradcheck([&](const TensorList& in) { return f(in).square(); }, {tracked}));
  };
  check([](const TensorList& in) { return in[0].roll({1, -1}, {0, 1}); });
  check([](const TensorList& in) { return in[0].flip({0, 1}); });
  check([](const TensorList& in) { return in[0].repeat({2, 1, 3}); });
}

TEST_CASE("which views of which layouts are safe, and which copy", "[S73]") {
  const auto plain = [] { return counted({4, 6}); };
  const auto transposed = [] { return counted({6, 4}).t(); };
  const auto columns = [] { return counted({4, 12}).slice(1, 0, 12, 2); };
  const auto rows = [] { return counted({8, 6}).slice(0, 0, 8, 2); };
  const auto repeated = [] { return counted({6}).expand({4, 6}); };
  const auto view_of = [](IntVec sizes) { return [sizes](const Tensor& t) { return t.view(sizes); }; };
  const auto reshape_of = [](IntVec sizes) { return [sizes](const Tensor& t) { return t.reshape(sizes); }; };
  enum Result { shared, copied, refused };
  struct Row {
    const char* what;
    std::function<Tensor()> layout;
    std::function<Tensor(const Tensor&)> op;
    Result result;
  };
  const Row table[] = {
      {"plain view", plain, view_of({24}), shared},
      {"plain view to 3-D", plain, view_of({2, 2, 6}), shared},
      {"plain reshape", plain, reshape_of({3, 8}), shared},
      {"plain flatten", plain, [](const Tensor& t) { return t.flatten(); }, shared},
      {"plain contiguous", plain, [](const Tensor& t) { return t.contiguous(); }, shared},
      {"transposed view", transposed, view_of({24}), refused},
      {"transposed view, same shape", transposed, view_of({4, 6}), shared},
      {"transposed view, a dim split", transposed, view_of({2, 2, 6}), shared},
      {"transposed reshape", transposed, reshape_of({24}), copied},
      {"transposed flatten", transposed, [](const Tensor& t) { return t.flatten(); }, copied},
      {"transposed contiguous", transposed, [](const Tensor& t) { return t.contiguous(); }, copied},
      {"every other column, view", columns, view_of({24}), shared},
      {"every other column, contiguous", columns, [](const Tensor& t) { return t.contiguous(); }, copied},
      {"every other row, view", rows, view_of({24}), refused},
      {"every other row, view with a dim split", rows, view_of({2, 2, 2, 3}), shared},
      {"every other row, reshape", rows, reshape_of({24}), copied},
      {"repeated rows, view", repeated, view_of({24}), refused},
      {"repeated rows, reshape", repeated, reshape_of({24}), copied},
      {"repeated rows, dim split", repeated, view_of({4, 2, 3}), shared},
      {"transposed, unsqueezed and flattened at the end", transposed,
       [](const Tensor& t) { return t.unsqueeze(-1).flatten(1); }, shared},
  };
  for (const Row& row : table) {
    CAPTURE(row.what);
    const Tensor x = row.layout();
    const Floats want = values(x);
    const LayoutCopies before = layout_copies();
    if (row.result == refused) {
      CHECK_THROWS_AS(row.op(x), ShapeError);
      CHECK(layout_copies().count == before.count);
      continue;
    }
    const Tensor y = row.op(x);
    const LayoutCopies after = layout_copies();
    CHECK(shares(x, y) == (row.result == shared));
    CHECK(after.count - before.count == (row.result == copied ? 1u : 0u));
    CHECK(after.bytes - before.bytes == (row.result == copied ? y.nbytes() : 0u));
    CHECK(values(y) == want);
  }
}

TEST_CASE("equal values can lie differently in memory", "[S74]") {
  const Tensor x = counted({2, 3}), y = counted({2, 3}).t().contiguous().t();
  CHECK(x.strides() == IntSpan{3, 1});
  CHECK(y.strides() == IntSpan{1, 2});
  CHECK(x.equal(y));
  CHECK_FALSE(same_layout(x, y));
  CHECK(same_layout(x, counted({2, 3})));
}

TEST_CASE("a tensor is an address and a shape", "[S22][S23][S34][S50]") {
  const Tensor x = counted({2, 3, 4});
  CHECK(x.data_ptr() == x.storage()->data());
  CHECK(x.data_ptr() != static_cast<const void*>(&x));
  CHECK(x.data_ptr() != static_cast<const void*>(x.impl()));
  CHECK(static_cast<const char*>(x[1].data_ptr()) - static_cast<const char*>(x.data_ptr()) == 48);
  CHECK(shares(x[1], x));
  CHECK(x.dim() == 3);
  CHECK(x.numel() == 24);
  CHECK(x.size(-1) == 4);
  CHECK_THROWS_AS(x.size(3), IndexError);

  const Tensor s = empty_strided({2, 3}, {1, 2});
  CHECK(s.strides() == IntSpan{1, 2});
  CHECK(s.storage()->bytes() == 24);
  CHECK(empty_strided({2, 3}, {10, 2}).storage()->bytes() == (1 + 10 + 4) * 4);
}

TEST_CASE("views of any rank, dtype and of meta") {
  const Tensor deep = counted({1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(values(deep.flatten()) == values(counted({16})));
  CHECK(deep.squeeze().sizes() == IntSpan{2, 2, 2, 2});
  CHECK(deep.permute({7, 6, 5, 4, 3, 2, 1, 0}).sizes() == IntSpan{2, 1, 2, 1, 2, 1, 2, 1});

  for (const DType d : kAllDTypes) {
    CAPTURE(name_of(d));
    const Tensor t = ones({2, 3}, d);
    CHECK(t.t().reshape({2, 3}).dtype() == d);
    CHECK(t.select(1, 2).sizes() == IntSpan{2});
  }
  const Tensor m = empty({2, 3}, float32, meta);
  CHECK(m.t().reshape(6).device().is_meta());
  CHECK(m.view(6).sizes() == IntSpan{6});
  CHECK(m.as_strided({2}, {4}).sizes() == IntSpan{2});
}

TEST_CASE("gradients of views are right to second order") {
  const auto check_both = [](const std::function<Tensor(const TensorList&)>& f, const TensorList& in) {
    CHECK(autograd::gradcheck(f, in));
    CHECK(autograd::gradgradcheck(f, in));
  };
  const Tensor x = (arange(24, {.dtype = float64}) * 0.21 + 0.5).sin().view({2, 3, 4}).detach().requires_grad_();
  using Case = std::function<Tensor(const Tensor&)>;
  const Case cases[] = {
      [](const Tensor& t) {
        return t.view({6, 4});
      },
      [](const Tensor& t) {
        return t.transpose(0, 2).reshape({4, -1});
      },
      [](const Tensor& t) {
        return t.permute({2, -3, 1});
      },
      [](const Tensor& t) {
        return t.unsqueeze(1).expand({2, 3, 3, 4});
      },
      [](const Tensor& t) { return t.narrow(1, 1, 1).squeeze(1); },
      [](const Tensor& t) { return t.select(-1, 2); },
      [](const Tensor& t) { return t.slice(2, 1, 4, 2); },
      [](const Tensor& t) { return t.unfold(-1, 3, 1); },
      [](const Tensor& t) { return t[0][0][0].unfold(0, 1, 1); },
      [](const Tensor& t) { return t.diagonal(-1, 2, 1); },
      [](const Tensor& t) {
        return t.as_strided({3, 3}, {2, 1}, 4);
      },
      [](const Tensor& t) {
        return t.slice(0, 1).as_strided({2, 2}, {0, 3}, 14);
      },
      [](const Tensor& t) {
        return t[0].slice(0, 0, 1).expand({3, 4}).as_strided({2, 3}, {0, 1}, 1);
      },
      [](const Tensor& t) { return t.split(2, 1)[1]; },
      [](const Tensor& t) { return t.unbind(1)[2] * t.chunk(2, 2)[0][0][0][0]; },
      [](const Tensor& t) {
        return movedim(t, {0, 1}, {2, 0});
      },
  };
  int n = 0;
  for (const Case& view_of : cases) {
    CAPTURE(n++);
    check_both([&](const TensorList& t) { return view_of(t[0]).square(); }, {x});
  }
}

TEST_CASE("a view of no elements has gradient zero") {
  Tensor x = ones({3, 4}, {.requires_grad = true});
  x.slice(1, 3, 1).sum().backward();
  CHECK(values(x.grad()) == Floats(12, 0));
  x.zero_grad();
  x.diagonal(9).sum().backward();
  CHECK(values(x.grad()) == Floats(12, 0));
}

TEST_CASE("a tensor that changes its own shape keeps its history") {
  Tensor x = ones({2, 3}, {.requires_grad = true});
  Tensor y = x * 2;
  y.t_();
  y.unsqueeze_(0);
  (y * counted({1, 3, 2})).sum().backward();
  CHECK(values(x.grad()) == Floats{0, 4, 8, 2, 6, 10});

  CHECK_THROWS_AS(x.t_(), AutogradError);
  CHECK(x.sizes() == IntSpan{2, 3});
  Tensor view_of_y = (x * 2)[0];
  CHECK_THROWS_AS(view_of_y.unsqueeze_(0), AutogradError);
  CHECK(view_of_y.dim() == 1);
}
