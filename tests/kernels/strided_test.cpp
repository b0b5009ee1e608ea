#include "cpu/strided.h"

#include <vector>

#include "support/catch.h"

using namespace taper;
using namespace taper::cpu_kernels;

namespace {

/// Adds the second operand to the first: shows which elements met, and how often.
void add_rows(const void*, char* const* p, const std::int64_t* step, const std::int64_t* row_step, std::int64_t n,
              std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < n; ++i)
      *reinterpret_cast<int*>(p[0] + r * row_step[0] + i * step[0]) +=
          *reinterpret_cast<const int*>(p[1] + r * row_step[1] + i * step[1]);
}

std::vector<int> counted(std::size_t n) {
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = int(i) + 1;
  return v;
}

}  // namespace

TEST_CASE("dimensions that continue each other become one, and those of size 1 vanish") {
  std::vector<int> a(24), b(24);
  StridedNest nest({2, 1, 3, 4});
  nest.add(a.data(), {2, 1, 3, 4}, {12, 12, 4, 1}, 4);
  nest.add(b.data(), {2, 1, 3, 4}, {12, 99, 4, 1}, 4);
  nest.merge();
  REQUIRE(nest.dims().size() == 1);
  CHECK(nest.dims()[0].size == 24);
  CHECK(nest.dims()[0].step[0] == 4);
}

TEST_CASE("the destination's memory is passed in sequence whatever the order of its dimensions") {
  std::vector<int> a(6), b(6);
  StridedNest nest({2, 3});
  nest.add(a.data(), {2, 3}, {1, 2}, 4);
  nest.add(b.data(), {2, 3}, {3, 1}, 4);
  nest.merge();
  REQUIRE(nest.dims().size() == 2);
  CHECK(nest.dims()[0].size == 2);
  CHECK(nest.dims()[0].step[0] == 4);
  CHECK(nest.dims()[0].step[1] == 12);
}

TEST_CASE("a single element and an empty shape are walked once and never") {
  int one = 0, other = 5;
  StridedNest single(IntSpan{});
  single.add(&one, {}, {}, 4);
  single.add(&other, {}, {}, 4);
  single.merge();
  single.run(add_rows, nullptr, 1);
  CHECK(one == 5);

  StridedNest nothing({3, 0});
  nothing.add(&one, {3, 0}, {0, 1}, 4);
  nothing.add(&other, {}, {}, 4);
  nothing.merge();
  nothing.run(add_rows, nullptr, 1);
  CHECK(one == 5);
}

TEST_CASE("however the work is cut, each element is handled exactly once") {
  for (std::int64_t grain : {1, 2, 5, 7, 12, 13, 30, 1000}) {
    // [5, 3, 4, 2]: out with gaps, the operand repeated along two dimensions and transposed in the others.
    std::vector<int> out(5 * 3 * 4 * 2 * 2, 0);
    const std::vector<int> in = counted(3 * 2);
    StridedNest nest({5, 3, 4, 2});
    nest.add(out.data(), {5, 3, 4, 2}, {48, 16, 4, 2}, 4);
    nest.add(const_cast<int*>(in.data()), {3, 1, 2}, {1, 7, 3}, 4);
    nest.merge();

    nest.run(add_rows, nullptr, grain);

    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t last = i / 2 % 2, third = i / 16 % 3;
      INFO("grain " << grain << ", element " << i);
      REQUIRE(out[i] == (i % 2 ? 0 : in[third + 3 * last]));
    }
  }
}
