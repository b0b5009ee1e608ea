#include "cpu/gemm.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.h"
#include "thread_count.h"
#include "values.h"

using namespace taper::cpu_kernels;

namespace {

/// Three loops in double.
template <class T>
std::vector<double> naive(const GemmShape& s, const T* a, const T* b, const T* c, double alpha, double beta,
                          const T* bias) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < s.k; ++p)
        sum += static_cast<double>(s.trans_a ? a[p * s.lda + i] : a[i * s.lda + p]) *
               static_cast<double>(s.trans_b ? b[j * s.ldb + p] : b[p * s.ldb + j]);
      out.push_back(alpha * sum + (beta == 0 ? 0 : beta * static_cast<double>(c[i * s.ldc + j])) +
                    (bias ? static_cast<double>(bias[j]) : 0));
    }
  return out;
}

/// Largest difference between gemm() and the loops, with gaps between rows that must stay as they were.
template <class T>
double worst_error(GemmShape s, T alpha, T beta, bool with_bias) {
  s.lda = (s.trans_a ? s.m : s.k) + 3, s.ldb = (s.trans_b ? s.k : s.n) + 1, s.ldc = s.n + 2;
  const auto a = random_values<T>((s.trans_a ? s.k : s.m) * s.lda, 1);
  const auto b = random_values<T>((s.trans_b ? s.n : s.k) * s.ldb, 2);
  const auto bias = random_values<T>(s.n, 3);
  auto c = random_values<T>(s.m * s.ldc, 4);
  const auto before = c;
  const T* shift = with_bias ? bias.data() : nullptr;
  const auto want =
      naive(s, a.data(), b.data(), c.data(), static_cast<double>(alpha), static_cast<double>(beta), shift);
  if (beta == T(0))
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j)
        if constexpr (std::is_floating_point_v<T>) c[static_cast<std::size_t>(i * s.ldc + j)] = std::nan("");

  gemm<T>(s, a.data(), b.data(), c.data(), alpha, beta, shift);

  double worst = 0;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      const double error = std::abs(static_cast<double>(c[static_cast<std::size_t>(i * s.ldc + j)]) -
                                    want[static_cast<std::size_t>(i * s.n + j)]);
      worst = error <= worst ? worst : error;  // NaN gets through
    }
    for (std::int64_t j = s.n; j < s.ldc; ++j)
      if (c[static_cast<std::size_t>(i * s.ldc + j)] != before[static_cast<std::size_t>(i * s.ldc + j)]) return 1e30;
  }
  return worst;
}

struct Size {
  std::int64_t m, n, k;
};

}  // namespace

TEMPLATE_TEST_CASE("gemm equals three loops for every transpose, size, factor and bias", "", float, double) {
  const double unit = std::numeric_limits<TestType>::epsilon();
  for (const Size z :
       {Size{1, 1, 1}, {1, 10, 128}, {4, 17, 257},  {6, 70, 300},   {20, 33, 520}, {31, 100, 784}, {1, 128, 10},
        {1, 300, 33},  {2, 3, 4},    {5, 17, 9},    {7, 16, 32},    {8, 33, 1},    {9, 10, 84},    {13, 31, 15},
        {16, 10, 128}, {33, 65, 40}, {64, 10, 784}, {70, 130, 300}, {300, 2, 5},   {120, 1, 30}})
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        for (bool bias : {false, true}) {
          CAPTURE(z.m, z.n, z.k, ta, tb, bias);
          // Each sum of k products of numbers below 1 loses at most k roundings of a value below k.
          const double tolerance = unit * static_cast<double>(z.k + 4) * 4;
          CHECK(worst_error<TestType>({ta, tb, z.m, z.n, z.k}, 1, 0, bias) <= tolerance);
          CHECK(worst_error<TestType>({ta, tb, z.m, z.n, z.k}, TestType(-0.5), TestType(0.25), bias) <= tolerance);
          CHECK(worst_error<TestType>({ta, tb, z.m, z.n, z.k}, 2, 1, bias) <= tolerance);
        }
}

TEMPLATE_TEST_CASE("integer gemm is exact", "", std::int32_t, std::int64_t, std::uint8_t) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (bool bias : {false, true}) {
        CHECK(worst_error<TestType>({ta, tb, 3, 5, 4}, 1, 0, bias) == 0);
        CHECK(worst_error<TestType>({ta, tb, 4, 2, 1}, 1, 1, bias) == 0);
      }
}

TEST_CASE("integer gemm wraps around") {
  const std::uint8_t a[2] = {200, 100}, b[2] = {2, 3};
  std::uint8_t c = 9;
  gemm<std::uint8_t>(dense_gemm(false, false, 1, 1, 2), a, b, &c);
  CHECK(c == (200 * 2 + 100 * 3) % 256);
  const std::int64_t big = std::numeric_limits<std::int64_t>::max(), two = 2;
  std::int64_t d = 0;
  gemm<std::int64_t>(dense_gemm(false, false, 1, 1, 1), &big, &two, &d);
  CHECK(d == -2);
}

TEST_CASE("gemm without terms gives zeros, beta C or the bias; without elements it does nothing") {
  float c[4] = {NAN, 1, 2, 3};
  const float bias[2] = {5, 6};
  gemm<float>(dense_gemm(false, false, 2, 2, 0), nullptr, nullptr, c);
  CHECK((c[0] == 0 && c[3] == 0));
  c[0] = 1, c[3] = 4;
  gemm<float>(dense_gemm(false, false, 2, 2, 0), nullptr, nullptr, c, 1, 0.5f, bias);
  CHECK((c[0] == 5.5f && c[1] == 6 && c[3] == 8));
  gemm<float>(dense_gemm(false, false, 0, 2, 3), nullptr, nullptr, nullptr);
  gemm<float>(dense_gemm(true, true, 2, 0, 3), nullptr, nullptr, nullptr);
}

TEST_CASE("gemm carries NaN and infinity as the sums do") {
  for (std::int64_t n : {3, 40}) {
    std::vector<float> a(static_cast<std::size_t>(n * n), 1), b(a), c(a);
    a[1] = INFINITY, b[static_cast<std::size_t>(n)] = 0;  // infinity times zero in the first element
    for (bool tb : {false, true}) {
      gemm<float>(dense_gemm(false, tb, n, n, n), a.data(), b.data(), c.data());
      CHECK(std::isinf(c[2]));
      CHECK(c.back() == static_cast<float>(n));
    }
    gemm<float>(dense_gemm(false, false, n, n, n), a.data(), b.data(), c.data());
    CHECK(std::isnan(c[0]));
  }
}

TEMPLATE_TEST_CASE("gemm gives the same bits twice, and our own kernels for any thread count", "", float, double) {
  for (const Size z : {Size{1, 5000, 600}, {3000, 10, 128}, {40, 40, 40}, {300, 260, 200}, {32, 300, 600}})
    for (bool tb : {false, true}) {
      const auto a = random_values<TestType>(z.m * z.k, 5), b = random_values<TestType>(z.n * z.k, 6);
      const GemmShape s = dense_gemm(false, tb, z.m, z.n, z.k);
      std::vector<TestType> c1(static_cast<std::size_t>(z.m * z.n)), c2(c1), c3(c1);
      {
        const ThreadCount guard(1);
        gemm<TestType>(s, a.data(), b.data(), c1.data());
      }
      const ThreadCount guard(3);
      gemm<TestType>(s, a.data(), b.data(), c2.data());
      gemm<TestType>(s, a.data(), b.data(), c3.data());
      CHECK(std::memcmp(c2.data(), c3.data(), c2.size() * sizeof(TestType)) == 0);
      const bool library_may_cut_differently = std::is_same_v<TestType, float> && z.n > 64 && z.m > 32;
      if (!library_may_cut_differently) CHECK(std::memcmp(c1.data(), c2.data(), c1.size() * sizeof(TestType)) == 0);
    }
}

TEST_CASE("gemm_batch equals one gemm per matrix, also with a shared operand") {
  for (std::int64_t batch : {0, 1, 5, 40})
    for (const Size z : {Size{3, 4, 5}, {30, 40, 50}}) {
      const auto a = random_values<float>(batch * z.m * z.k, 7), b = random_values<float>(z.k * z.n, 8);
      const auto bias = random_values<float>(z.n, 9);
      const GemmShape s = dense_gemm(false, false, z.m, z.n, z.k);
      std::vector<float> got(static_cast<std::size_t>(batch * z.m * z.n)), want(got);
      gemm_batch<float>(s, batch, {.a = z.m * z.k, .b = 0, .c = z.m * z.n}, a.data(), b.data(), got.data(), 1, 0,
                        bias.data());
      for (std::int64_t i = 0; i < batch; ++i)
        gemm<float>(s, a.data() + i * z.m * z.k, b.data(), want.data() + i * z.m * z.n, 1, 0, bias.data());
      CHECK(got == want);
    }
}
