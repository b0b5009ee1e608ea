#include "cpu/batch_norm.h"

#include <limits>
#include <vector>

#include "support/catch.h"
#include "thread_count.h"
#include "values.h"

using namespace taper::cpu_kernels;

namespace {

template <class T>
struct Result {
  std::vector<T> y, mean, invstd, running_mean, running_var, dx, dweight, dbias;
};

template <class T>
Result<T> run(const BatchNormShape& s, const std::vector<T>& x, const std::vector<T>& dy, const std::vector<T>& weight,
              const std::vector<T>& bias, bool training) {
  const auto c = static_cast<std::size_t>(s.c);
  const T nan = static_cast<T>(NAN);
  Result<T> r{std::vector<T>(x.size(), nan), std::vector<T>(c, nan),  std::vector<T>(c, nan),
              std::vector<T>(c, T(0.5)),     std::vector<T>(c, T(2)), std::vector<T>(x.size(), nan),
              std::vector<T>(c, nan),        std::vector<T>(c, nan)};
  if (training) {
    batch_norm_statistics<T>(s, x.data(), 1e-5, 0.1, r.mean.data(), r.invstd.data(), r.running_mean.data(),
                             r.running_var.data());
  } else {
    r.mean = r.running_mean;
    batch_norm_invstd<T>(s.c, r.running_var.data(), 1e-5, r.invstd.data());
  }
  const T* w = weight.empty() ? nullptr : weight.data();
  batch_norm_apply<T>(s, x.data(), r.mean.data(), r.invstd.data(), w, bias.empty() ? nullptr : bias.data(), r.y.data());
  batch_norm_backward<T>(s, dy.data(), x.data(), r.mean.data(), r.invstd.data(), w, training, r.dx.data(),
                         r.dweight.data(), r.dbias.data());
  return r;
}

/// The same by the formulas of the paper, in double and in [n, c, l] order.
template <class T>
Result<double> expected(const BatchNormShape& s, const std::vector<T>& x, const std::vector<T>& dy,
                        const std::vector<T>& weight, const std::vector<T>& bias, bool training) {
  const auto c = static_cast<std::size_t>(s.c), l = static_cast<std::size_t>(s.l);
  Result<double> r{std::vector<double>(x.size()), std::vector<double>(c),    std::vector<double>(c),
                   std::vector<double>(c, 0.5),   std::vector<double>(c, 2), std::vector<double>(x.size()),
                   std::vector<double>(c),        std::vector<double>(c)};
  const double count = static_cast<double>(s.n * s.l);
  for (std::size_t k = 0; k < c; ++k) {
    const auto each = [&](const auto& f) {
      for (std::size_t n = 0; n < static_cast<std::size_t>(s.n); ++n)
        for (std::size_t i = 0; i < l; ++i) f((n * c + k) * l + i);
    };
    double mean = 0, var = 0;
    each([&](std::size_t i) { mean += static_cast<double>(x[i]) / count; });
    each([&](std::size_t i) { var += std::pow(static_cast<double>(x[i]) - mean, 2) / count; });
    if (training) {
      r.running_mean[k] = 0.9 * 0.5 + 0.1 * mean, r.running_var[k] = 0.9 * 2 + 0.1 * var * count / (count - 1);
    } else {
      mean = 0.5, var = 2;
    }
    const double inv = 1 / std::sqrt(var + 1e-5), w = weight.empty() ? 1 : static_cast<double>(weight[k]);
    r.mean[k] = mean, r.invstd[k] = inv;
    each([&](std::size_t i) {
      const double hat = (static_cast<double>(x[i]) - mean) * inv, g = static_cast<double>(dy[i]);
      r.y[i] = hat * w + (bias.empty() ? 0 : static_cast<double>(bias[k]));
      r.dbias[k] += g, r.dweight[k] += g * hat;
    });
    each([&](std::size_t i) {
      const double hat = (static_cast<double>(x[i]) - mean) * inv, g = static_cast<double>(dy[i]);
      r.dx[i] = training ? w * inv * (g - r.dbias[k] / count - hat * r.dweight[k] / count) : w * inv * g;
    });
  }
  return r;
}

}  // namespace

TEMPLATE_TEST_CASE("batch_norm and its gradients follow the paper, in both orders", "", float, double) {
  for (const BatchNormShape& shape : {BatchNormShape{8, 3, 49}, {9, 20, 1}, {300, 5, 1}, {3, 17, 2500}, {2, 1, 7}})
    for (bool training : {true, false})
      for (bool affine : {true, false}) {
        BatchNormShape s = shape;
        const auto x = random_values<TestType>(s.n * s.c * s.l, 1), dy = random_values<TestType>(s.n * s.c * s.l, 2);
        const auto weight = random_values<TestType>(affine ? s.c : 0, 3),
                   bias = random_values<TestType>(affine ? s.c : 0, 4);
        const auto want = expected(s, x, dy, weight, bias, training);
        for (bool channels_last : {false, true}) {
          s.channels_last = channels_last;
          CAPTURE(s.n, s.c, s.l, training, affine, channels_last);
          const auto order = [&](auto v) { return channels_last ? swap_inner(v, s.n, s.c, s.l) : v; };
          const auto got = run(s, order(x), order(dy), weight, bias, training);
          // The plain sums in double lose up to count / 2 roundings of their own.
          const bool is_double = sizeof(TestType) == 8;
          const double unit =
              std::numeric_limits<TestType>::epsilon() * (is_double ? static_cast<double>(s.n * s.l) : 1);
          CHECK(worst_distance(got.mean, want.mean) < 4 * unit);
          CHECK(worst_distance(got.invstd, want.invstd) < 16 * unit);
          CHECK(worst_distance(got.running_mean, want.running_mean) < 4 * unit);
          CHECK(worst_distance(got.running_var, want.running_var) < 8 * unit);
          CHECK(worst_distance(got.y, order(want.y)) < 32 * unit);
          CHECK(worst_distance(got.dx, order(want.dx)) < 64 * unit);
          CHECK(worst_distance(got.dbias, want.dbias) < 400 * unit);
          CHECK(worst_distance(got.dweight, want.dweight) < 400 * unit);
        }
      }
}

TEST_CASE("batch_norm keeps its precision far from zero and gives the same bits for any thread count") {
  for (bool channels_last : {false, true}) {
    const BatchNormShape s{40, 6, 900, channels_last};
    auto x = random_values<float>(s.n * s.c * s.l, 1);
    const auto dy = random_values<float>(s.n * s.c * s.l, 2);
    for (float& v : x) v = 1000 + v;
    const auto want = expected(s, channels_last ? swap_inner(x, s.n, s.l, s.c) : x, dy, {}, {}, true);
    std::vector<Result<float>> results;
    for (int threads : {1, 2, 3}) {
      const ThreadCount guard(threads);
      results.push_back(run<float>(s, x, dy, {}, {}, true));
    }
    CHECK(worst_distance(results[0].invstd, want.invstd) < 1e-3);  // one ulp of 1000 is 6e-5 of the deviation
    CHECK(results[0].dx == results[1].dx);
    CHECK(results[0].dx == results[2].dx);
    CHECK(results[0].invstd == results[2].invstd);
    CHECK(results[0].dweight == results[2].dweight);
  }
}

TEST_CASE("batch_norm_backward computes only what is asked for") {
  const BatchNormShape s{2, 2, 2, false};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 9}, dy = {1, 0, 0, 0, 0, 2, 0, 0}, mean = {3.5f, 5.75f},
                           inv = {1, 2};
  std::vector<float> dbias(2);
  batch_norm_backward<float>(s, dy.data(), x.data(), mean.data(), inv.data(), nullptr, true, nullptr, nullptr,
                             dbias.data());
  CHECK(dbias == std::vector<float>{3, 0});
}
