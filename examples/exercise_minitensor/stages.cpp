// The stages of the exercise: one test each. Compiled with the folder of one mini_tensor.h as its include path.
#define CATCH_CONFIG_MAIN
#include <mini_tensor.h>

#include <catch2/catch.hpp>

using Floats = std::vector<float>;

namespace {

/// 0, 1, 2, ... in this shape.
MiniTensor counted(const Sizes& sizes) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= std::size_t(size);
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = float(i);
  return MiniTensor(values, sizes);
}

}  // namespace

TEST_CASE("stage 1: a new tensor has one block of memory and row-major strides", "[stage1][S175]") {
  const MiniTensor x = counted({2, 3, 4});
  CHECK(x.numel() == 24);
  CHECK(x.strides() == Sizes{12, 4, 1});
  CHECK(x.offset() == 0);
  CHECK(x.storage()->size() == 24);
  CHECK(counted({5}).strides() == Sizes{1});

  CHECK(counted({}).numel() == 1);  // a single number has no dimension
  CHECK(counted({}).strides().empty());
  CHECK(counted({0, 3}).numel() == 0);
  CHECK_THROWS_AS(MiniTensor({1, 2, 3}, {2, 2}), std::invalid_argument);
}

TEST_CASE("stage 2: an index leads to a place in the storage, or to an error", "[stage2][S175][S176]") {
  const MiniTensor x = counted({2, 3});
  CHECK(x.storage_index({1, 2}) == 5);
  CHECK(x.storage_index({0, 0}) == 0);
  CHECK_THROWS_AS(x.storage_index({2, 0}), IndexError);
  CHECK_THROWS_AS(x.storage_index({0, 3}), IndexError);
  CHECK_THROWS_AS(x.storage_index({-1, 0}), IndexError);
  CHECK_THROWS_AS(x.storage_index({1}), RankError);
  CHECK_THROWS_AS(x.storage_index({1, 2, 0}), RankError);

  const MiniTensor columns(x.storage(), {2, 2}, {1, 3}, 1);
  CHECK(columns.storage_index({1, 1}) == 5);
  x.at({1, 2}) = 50;
  CHECK(columns.at({1, 1}) == 50);
}

TEST_CASE("stage 3: elements are visited in logical order", "[stage3][S175]") {
  const MiniTensor x = counted({2, 3});
  CHECK(x.values() == Floats{0, 1, 2, 3, 4, 5});
  CHECK(MiniTensor(x.storage(), {3, 2}, {1, 3}, 0).values() == Floats{0, 3, 1, 4, 2, 5});
  CHECK(MiniTensor(x.storage(), {2}, {2}, 1).values() == Floats{1, 3});
  CHECK(MiniTensor(x.storage(), {2, 2}, {0, 1}, 4).values() == Floats{4, 5, 4, 5});
  CHECK(MiniTensor(x.storage(), {}, {}, 5).values() == Floats{5});
  CHECK(counted({2, 0}).values().empty());
}

TEST_CASE("stage 4: transposing exchanges sizes and strides and copies nothing", "[stage4][S175][S177]") {
  const MiniTensor x = counted({2, 3});
  const MiniTensor t = x.transpose(0, 1);
  CHECK(t.sizes() == Sizes{3, 2});
  CHECK(t.strides() == Sizes{1, 3});
  CHECK(t.storage() == x.storage());
  CHECK(t.values() == Floats{0, 3, 1, 4, 2, 5});

  t.at({2, 0}) = 20;
  CHECK(x.at({0, 2}) == 20);
  CHECK(counted({2, 3, 4}).transpose(0, 2).strides() == Sizes{1, 4, 12});
  CHECK_THROWS_AS(x.transpose(0, 2), IndexError);
}

TEST_CASE("stage 5: selecting moves the offset and drops a dimension", "[stage5][S175]") {
  const MiniTensor x = counted({2, 3});
  const MiniTensor row = x.select(0, 1), column = x.select(1, 1);
  CHECK(row.offset() == 3);
  CHECK(row.sizes() == Sizes{3});
  CHECK(row.strides() == Sizes{1});
  CHECK(row.values() == Floats{3, 4, 5});
  CHECK(column.offset() == 1);
  CHECK(column.strides() == Sizes{3});
  CHECK(column.values() == Floats{1, 4});
  CHECK(row.storage() == x.storage());
  CHECK(row.select(0, 2).values() == Floats{5});
  CHECK_THROWS_AS(x.select(0, 2), IndexError);
  CHECK_THROWS_AS(x.select(2, 0), IndexError);
}

TEST_CASE("stage 6: contiguous means dense and in logical order", "[stage6][S175]") {
  const MiniTensor x = counted({2, 3});
  CHECK(x.is_contiguous());
  CHECK_FALSE(x.transpose(0, 1).is_contiguous());
  CHECK(x.select(0, 1).is_contiguous());  // wherever it starts
  CHECK_FALSE(x.select(1, 1).is_contiguous());
  CHECK(counted({1, 3}).transpose(0, 1).is_contiguous());  // [3, 1]: no second row that the stride would lead to
  CHECK(MiniTensor(x.storage(), {0, 2}, {9, 9}, 0).is_contiguous());
}

TEST_CASE("stage 7: a view shows the same memory in another shape", "[stage7][S175]") {
  const MiniTensor x = counted({2, 6});
  const MiniTensor v = x.view({3, 4});
  CHECK(v.strides() == Sizes{4, 1});
  CHECK(v.storage() == x.storage());
  v.at({1, 1}) = 99;
  CHECK(x.at({0, 5}) == 99);

  CHECK(x.select(0, 1).view({2, 3}).offset() == 6);
  CHECK(x.select(0, 1).view({2, 3}).values() == Floats{6, 7, 8, 9, 10, 11});
  CHECK_THROWS_AS(x.view({5}), ViewError);
  CHECK_THROWS_AS(x.transpose(0, 1).view({12}), ViewError);
}

TEST_CASE("stage 8: contiguous() copies in logical order, and only if it must", "[stage8][S175][S177]") {
  const MiniTensor x = counted({2, 3});
  CHECK(x.contiguous().storage() == x.storage());
  CHECK(x.select(0, 1).contiguous().storage() == x.storage());

  const MiniTensor t = x.transpose(0, 1);
  const MiniTensor dense = t.contiguous();
  CHECK(dense.storage() != x.storage());
  CHECK(*dense.storage() == Floats{0, 3, 1, 4, 2, 5});
  CHECK(dense.sizes() == Sizes{3, 2});
  CHECK(dense.strides() == Sizes{2, 1});
  CHECK(dense.offset() == 0);
  CHECK(dense.view({6}).values() == Floats{0, 3, 1, 4, 2, 5});
}
