// What docs/handle_and_land.md and docs/tensor_and_vectors.md say of tensors, and five questions about them.
#include <taper/allocator.h>
#include <taper/autograd/engine.h>
#include <taper/error.h>
#include <taper/factory.h>
#include <taper/layout_copies.h>
#include <taper/ops/copy.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/tensor_index.h>

#include "support/catch.h"
#include "support/values.h"

using namespace taper;

namespace {

Tensor counted(IntSpan sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return arange(count, {.dtype = float32}).view(sizes);
}
std::ptrdiff_t bytes_from_start(const Tensor& t) {
  return static_cast<const char*>(t.data_ptr()) - static_cast<const char*>(t.storage()->data());
}

}  // namespace

TEST_CASE("transposing copies nothing, and contiguous() then copies in logical order", "[S177]") {
  const Tensor x = counted({2, 3});
  const Tensor t = x.t();
  CHECK(t.storage() == x.storage());
  CHECK(t.strides() == IntSpan{1, 3});

  const LayoutCopies before = layout_copies();
  const Tensor dense = t.contiguous();
  CHECK(layout_copies().count == before.count + 1);
  CHECK(dense.storage() != x.storage());
  CHECK(values(dense.as_strided({6}, {1}, 0)) == Values{0, 3, 1, 4, 2, 5});  // as it lies in memory
  CHECK(values(x.as_strided({6}, {1}, 0)) == Values{0, 1, 2, 3, 4, 5});
}

TEST_CASE("question 1: what do strides [12, 4, 1] become when the outer dimensions are exchanged?", "[S178]") {
  const Tensor x = counted({2, 3, 4});
  CHECK(x.strides() == IntSpan{12, 4, 1});
  const Tensor y = x.transpose(0, 2);
  CHECK(y.sizes() == IntSpan{4, 3, 2});
  CHECK(y.strides() == IntSpan{1, 4, 12});
  CHECK(y.is_alias_of(x));
}

TEST_CASE("question 2: which of view, reshape and flatten copy?", "[S178]") {
  const Tensor x = counted({2, 3});
  for (const Tensor& y : {x.view(6), x.reshape(6), x.flatten()}) CHECK(y.is_alias_of(x));
  CHECK(x.flatten().data_ptr() == x.data_ptr());

  const Tensor t = x.t();  // no stride leads through 0 3 1 4 2 5
  CHECK_THROWS_AS(t.view(6), ShapeError);
  for (const Tensor& y : {t.reshape(6), t.flatten()}) {
    CHECK_FALSE(y.is_alias_of(x));
    CHECK(values(y) == Values{0, 3, 1, 4, 2, 5});
  }

  const Tensor column = x.slice(1, 0, 1);  // not contiguous, and yet one stride leads through it
  CHECK_FALSE(column.is_contiguous());
  for (const Tensor& y : {column.view(2), column.reshape(2), column.flatten()}) CHECK(y.is_alias_of(x));
}

TEST_CASE("question 3: what tells x[0] from x[:, 0]?", "[S178]") {
  const Tensor x = counted({2, 3});
  const Tensor row = x[0], column = x.index({Slice(), 0});
  CHECK(row.strides() == IntSpan{1});
  CHECK(row.is_contiguous());
  CHECK(values(row) == Values{0, 1, 2});
  CHECK(column.strides() == IntSpan{3});
  CHECK_FALSE(column.is_contiguous());
  CHECK(values(column) == Values{0, 3});

  CHECK(row.data_ptr() == column.data_ptr());  // both start at x[0, 0] and show x's memory
  CHECK(row.is_alias_of(x));
  CHECK(column.is_alias_of(x));
}

TEST_CASE("question 4: when does to() give a tensor of its own?", "[S178]") {
  const Tensor x = counted({2, 3});
  CHECK(x.to(float32).is_same(x));
  CHECK(x.to(x.device()).is_same(x));
  CHECK(x.to(x.device(), float32).is_same(x));

  CHECK_FALSE(x.to(float32, /*copy=*/true).is_alias_of(x));
  CHECK_FALSE(x.to(float64).is_alias_of(x));
  CHECK_FALSE(x.to(meta).is_alias_of(x));
  CHECK(x.to(float64).dtype() == float64);
  CHECK(x.dtype() == float32);
}

TEST_CASE("question 5: how much memory does a view of one element keep?", "[S178]") {
  Tensor x = zeros({1000, 1000});
  const Tensor one = x[0][0], own = one.clone();
  x = Tensor();
  CHECK(one.nbytes() == 4);
  CHECK(one.storage()->bytes() == 4'000'000);  // all of it
  CHECK(own.storage()->bytes() == 4);
}

TEST_CASE("the four probes tell handles, views and copies apart", "[S180]") {
  const Tensor x = counted({2, 3});
  struct Expected {
    const char* what;
    Tensor t;
    bool same_tensor, same_land;
    std::ptrdiff_t offset;
    IntVec strides;
    bool contiguous;
  };
  const Expected rows[] = {
      {"y = x", x, true, true, 0, {3, 1}, true},
      {"x.view({3, 2})", x.view({3, 2}), false, true, 0, {2, 1}, true},
      {"x.t()", x.t(), false, true, 0, {1, 3}, false},
      {"x[1]", x[1], false, true, 12, {1}, true},
      {"x.slice(1, 1)", x.slice(1, 1), false, true, 4, {3, 1}, false},
      {"x.detach()", x.detach(), false, true, 0, {3, 1}, true},
      {"x.contiguous()", x.contiguous(), true, true, 0, {3, 1}, true},
      {"x.t().contiguous()", x.t().contiguous(), false, false, 0, {2, 1}, true},
      {"x.clone()", x.clone(), false, false, 0, {3, 1}, true},
  };
  for (const Expected& row : rows) {
    CAPTURE(row.what);
    CHECK(row.t.is_same(x) == row.same_tensor);
    CHECK((row.t.storage()->data() == x.storage()->data()) == row.same_land);
    CHECK(row.t.is_alias_of(x) == row.same_land);
    CHECK(bytes_from_start(row.t) == row.offset);
    CHECK(row.t.strides() == IntSpan(row.strides));
    CHECK(row.t.is_contiguous() == row.contiguous);
  }
}

TEST_CASE("a write counts for the land, whoever wrote", "[S180]") {
  const Tensor x = zeros({2, 3});
  Tensor row = x[1], other = x;
  const std::uint32_t before = x.version();
  row.fill_(7);
  CHECK(x.version() == before + 1);
  CHECK(other.version() == before + 1);
  CHECK(values(x) == Values{0, 0, 0, 7, 7, 7});
}

TEST_CASE("the land lives as long as anybody holds a part of it", "[S179][S180]") {
  Tensor x = zeros({2, 3});
  CHECK(x.use_count() == 1);
  {
    const Tensor y = x;
    CHECK(x.use_count() == 2);
  }
  CHECK(x.use_count() == 1);

  const long long storages = live_storages();
  Tensor row = x[1];
  x = Tensor();
  CHECK(live_storages() == storages);
  CHECK(values(row) == Values{0, 0, 0});
  row = Tensor();
  CHECK(live_storages() == storages - 1);
}

TEST_CASE("a tensor is one block, a nested vector a block for each row", "[S179]") {
  const Tensor x = zeros({1000, 1000});
  CHECK(x.storage()->bytes() == 4'000'000);
  CHECK(bytes_from_start(x[999]) == 999 * 4000);
  CHECK(sizeof(Tensor) == sizeof(void*));
  CHECK(sizeof(TensorImpl) + sizeof(StorageImpl) <= 288);

  const std::vector<std::vector<float>> rows(1000, std::vector<float>(1000));
  CHECK(rows[0].data() + 1000 != rows[1].data());  // the heap keeps words of its own between blocks
}

TEST_CASE("a tensor knows what a nested vector does not", "[S179]") {
  Tensor x = counted({4, 3});
  CHECK(x.dtype() == float32);
  CHECK(x.to(float16).nbytes() == x.nbytes() / 2);
  CHECK_THROWS_AS(tensor({{1, 2, 3}, {4, 5}}), ShapeError);
  for (const Tensor& part : {x[1], x.select(1, 2), x.slice(0, 0, 4, 2), x.t()}) CHECK(part.is_alias_of(x));
  CHECK(values(x.slice(0, 0, 4, 2)) == Values{0, 1, 2, 6, 7, 8});

  const Tensor shared = x, copied = x.clone();
  x[0].fill_(9);
  CHECK(values(shared[0]) == Values{9, 9, 9});
  CHECK(values(copied[0]) == Values{0, 1, 2});

  Tensor w = ones({3}).requires_grad_();
  (w * shared[0]).sum().backward();
  CHECK(values(w.grad()) == Values{9, 9, 9});
}
