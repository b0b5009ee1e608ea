#include "cpu/pool2d.h"

#include <limits>
#include <vector>

#include "support/catch.h"
#include "thread_count.h"
#include "values.h"

using namespace taper::cpu_kernels;

namespace {

Pool2dShape with_output(Pool2dShape s, bool ceil_mode = false) {
  const auto size = [&](std::int64_t in, std::int64_t k, std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
    const std::int64_t span = in + 2 * pad - dilation * (k - 1) - 1;
    std::int64_t out = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    if (ceil_mode && (out - 1) * stride >= in + pad) --out;
    return out;
  };
  s.out_h = size(s.h, s.kh, s.stride_h, s.pad_h, s.dilation_h);
  s.out_w = size(s.w, s.kw, s.stride_w, s.pad_w, s.dilation_w);
  return s;
}

const std::vector<Pool2dShape>& shapes() {
  static const std::vector<Pool2dShape> list = {
      with_output({.n = 2, .c = 6, .h = 28, .w = 28, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2}),
      with_output({.n = 3, .c = 5, .h = 10, .w = 10, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2}),
      with_output({.n = 1, .c = 17, .h = 7, .w = 69, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2}),
      with_output({.n = 1, .c = 3, .h = 7, .w = 7, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2}, true),
      with_output(
          {.n = 2, .c = 33, .h = 9, .w = 8, .kh = 3, .kw = 3, .stride_h = 2, .stride_w = 2, .pad_h = 1, .pad_w = 1}),
      with_output({.n = 2, .c = 2, .h = 9, .w = 8, .kh = 3, .kw = 2, .stride_h = 1, .stride_w = 3, .pad_w = 1}, true),
      with_output({.n = 2, .c = 4, .h = 9, .w = 11, .kh = 3, .kw = 3, .pad_h = 1, .dilation_h = 2, .dilation_w = 3}),
      with_output({.n = 0, .c = 4, .h = 4, .w = 4, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2}),
      with_output({.n = 40, .c = 8, .h = 20, .w = 20, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2}),
  };
  return list;
}

/// Values with many ties.
template <class T>
std::vector<T> coarse_values(std::int64_t count, unsigned seed) {
  auto v = random_values<T>(count, seed);
  for (T& x : v) x = std::floor(x * 4);
  return v;
}

}  // namespace

TEMPLATE_TEST_CASE("max_pool2d takes the first of equal maxima and its gradient goes back there", "", float, double) {
  for (Pool2dShape s : shapes()) {
    const std::int64_t in = s.h * s.w, out = s.out_h * s.out_w;
    const auto x = coarse_values<TestType>(s.n * s.c * in, 1), dy = random_values<TestType>(s.n * s.c * out, 2);
    std::vector<TestType> want(dy.size()), want_dx(x.size());
    std::vector<std::int64_t> want_index(dy.size());
    for (std::int64_t p = 0; p < s.n * s.c; ++p)
      for (std::int64_t i = 0; i < s.out_h; ++i)
        for (std::int64_t j = 0; j < s.out_w; ++j) {
          std::int64_t best = -1;
          for (std::int64_t ky = 0; ky < s.kh; ++ky)
            for (std::int64_t kx = 0; kx < s.kw; ++kx) {
              const std::int64_t row = i * s.stride_h - s.pad_h + ky * s.dilation_h;
              const std::int64_t col = j * s.stride_w - s.pad_w + kx * s.dilation_w;
              if (row < 0 || row >= s.h || col < 0 || col >= s.w) continue;
              const std::int64_t at = row * s.w + col;
              if (best < 0 || x[static_cast<std::size_t>(p * in + at)] > x[static_cast<std::size_t>(p * in + best)])
                best = at;
            }
          const auto to = static_cast<std::size_t>((p * s.out_h + i) * s.out_w + j);
          const auto from = static_cast<std::size_t>(p * in + best);
          want[to] = x[from], want_index[to] = best, want_dx[from] += dy[to];
        }
    for (bool channels_last : {false, true}) {
      s.channels_last = channels_last;
      CAPTURE(s.h, s.w, s.kh, s.kw, channels_last);
      const auto order = [&](auto v, std::int64_t l) { return channels_last ? swap_inner(v, s.n, s.c, l) : v; };
      const auto in_x = order(x, in), in_dy = order(dy, out);
      std::vector<TestType> y(dy.size(), 99), dx(x.size(), 99);
      std::vector<std::int64_t> index(dy.size(), -7);
      max_pool2d_forward<TestType>(s, in_x.data(), y.data(), index.data());
      max_pool2d_backward<TestType>(s, in_dy.data(), index.data(), dx.data());
      CHECK(y == order(want, out));
      CHECK(index == order(want_index, out));
      CHECK(worst_distance(dx, order(want_dx, in)) < 1e-6);

      std::vector<std::uint8_t> small(dy.size(), 77);
      std::vector<TestType> y2(dy.size(), 99), dx2(x.size(), 99);
      max_pool2d_forward<TestType>(s, in_x.data(), y2.data(), small.data());
      max_pool2d_backward<TestType>(s, in_dy.data(), small.data(), dx2.data());
      CHECK(y2 == y);
      CHECK(worst_distance(dx2, dx) < 1e-6);
    }
  }
}

TEST_CASE("max_pool2d lets NaN win, minus infinity count and padding never win") {
  const float inf = std::numeric_limits<float>::infinity();
  for (bool channels_last : {false, true}) {
    Pool2dShape s = with_output({.n = 1, .c = 1, .h = 2, .w = 4, .kh = 2, .kw = 2, .stride_h = 2, .stride_w = 2});
    s.channels_last = channels_last;
    const std::vector<float> x = {1, NAN, -inf, -inf, 5, 2, -inf, -inf};
    float y[2];
    std::int64_t index[2];
    max_pool2d_forward<float>(s, x.data(), y, index);
    CHECK(std::isnan(y[0]));
    CHECK(index[0] == 1);
    CHECK(y[1] == -inf);
    CHECK(index[1] == 2);

    Pool2dShape padded = with_output({.n = 1, .c = 1, .h = 1, .w = 1, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1});
    padded.channels_last = channels_last;
    const float low = -3;
    max_pool2d_forward<float>(padded, &low, y, index);
    CHECK(y[0] == -3);
    CHECK(index[0] == 0);
  }
}

TEMPLATE_TEST_CASE("avg_pool2d divides as asked, forward and backward", "", float, double) {
  for (Pool2dShape s : shapes()) {
    if (s.dilation_h > 1) continue;
    for (const AvgPool2dDivisor d : {AvgPool2dDivisor{true, 0}, {false, 0}, {true, 3}}) {
      const std::int64_t in = s.h * s.w, out = s.out_h * s.out_w;
      const auto x = random_values<TestType>(s.n * s.c * in, 1), dy = random_values<TestType>(s.n * s.c * out, 2);
      std::vector<double> want(dy.size()), want_dx(x.size());
      for (std::int64_t p = 0; p < s.n * s.c; ++p)
        for (std::int64_t i = 0; i < s.out_h; ++i)
          for (std::int64_t j = 0; j < s.out_w; ++j) {
            std::int64_t inside = 0, total = 0;
            const auto to = static_cast<std::size_t>((p * s.out_h + i) * s.out_w + j);
            for (int pass = 0; pass < 2; ++pass)
              for (std::int64_t row = i * s.stride_h - s.pad_h; row < i * s.stride_h - s.pad_h + s.kh; ++row)
                for (std::int64_t col = j * s.stride_w - s.pad_w; col < j * s.stride_w - s.pad_w + s.kw; ++col) {
                  const bool is_inside = row >= 0 && row < s.h && col >= 0 && col < s.w;
                  if (pass == 0) {
                    total += row < s.h + s.pad_h && col < s.w + s.pad_w, inside += is_inside;
                  } else if (is_inside) {
                    const double by = static_cast<double>(d.divisor_override    ? d.divisor_override
                                                          : d.count_include_pad ? total
                                                                                : inside);
                    const auto from = static_cast<std::size_t>(p * in + row * s.w + col);
                    want[to] += static_cast<double>(x[from]) / by, want_dx[from] += static_cast<double>(dy[to]) / by;
                  }
                }
          }
      for (bool channels_last : {false, true}) {
        s.channels_last = channels_last;
        CAPTURE(s.h, s.w, s.kh, s.kw, channels_last, d.count_include_pad, d.divisor_override);
        const auto order = [&](auto v, std::int64_t l) { return channels_last ? swap_inner(v, s.n, s.c, l) : v; };
        std::vector<TestType> y(dy.size(), 99), dx(x.size(), 99);
        avg_pool2d_forward<TestType>(s, d, order(x, in).data(), y.data());
        avg_pool2d_backward<TestType>(s, d, order(dy, out).data(), dx.data());
        const double tolerance = 16 * std::numeric_limits<TestType>::epsilon();
        CHECK(worst_distance(y, order(want, out)) < tolerance);
        CHECK(worst_distance(dx, order(want_dx, in)) < tolerance);
      }
    }
  }
}
