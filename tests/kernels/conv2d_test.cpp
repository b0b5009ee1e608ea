#include "cpu/conv2d.h"

#include <cstring>
#include <limits>
#include <vector>

#include "cpu/conv2d_direct.h"
#include "support/catch.h"
#include "thread_count.h"
#include "values.h"

using namespace taper::cpu_kernels;

namespace {

Conv2dShape with_output(Conv2dShape s) {
  s.out_h = (s.h + 2 * s.pad_h - s.dilation_h * (s.kh - 1) - 1) / s.stride_h + 1;
  s.out_w = (s.w + 2 * s.pad_w - s.dilation_w * (s.kw - 1) - 1) / s.stride_w + 1;
  return s;
}

/// Calls f(x index, weight index, y index) for every product of a convolution in [n, c, h, w] order.
template <class F>
void for_products(const Conv2dShape& s, const F& f) {
  const std::int64_t gc = s.group_c(), go = s.group_out_c();
  for (std::int64_t n = 0; n < s.n; ++n)
    for (std::int64_t o = 0; o < s.out_c; ++o)
      for (std::int64_t i = 0; i < s.out_h; ++i)
        for (std::int64_t j = 0; j < s.out_w; ++j)
          for (std::int64_t c = 0; c < gc; ++c)
            for (std::int64_t ky = 0; ky < s.kh; ++ky)
              for (std::int64_t kx = 0; kx < s.kw; ++kx) {
                const std::int64_t y = i * s.stride_h - s.pad_h + ky * s.dilation_h;
                const std::int64_t x = j * s.stride_w - s.pad_w + kx * s.dilation_w;
                if (y < 0 || y >= s.h || x < 0 || x >= s.w) continue;
                f(static_cast<std::size_t>(((n * s.c + o / go * gc + c) * s.h + y) * s.w + x),
                  static_cast<std::size_t>(((o * gc + c) * s.kh + ky) * s.kw + kx),
                  static_cast<std::size_t>(((n * s.out_c + o) * s.out_h + i) * s.out_w + j));
              }
}

/// One way to compute a convolution and its gradients; a null function is left out.
template <class T>
struct Kernels {
  void (*forward)(const Conv2dShape&, const T*, const T*, const T*, T*) = conv2d_forward<T>;
  void (*input_grad)(const Conv2dShape&, const T*, const T*, T*) = conv2d_input_grad<T>;
  void (*weight_grad)(const Conv2dShape&, const T*, const T*, T*, T*) = conv2d_weight_grad<T>;
};

/// The largest error of forward, input gradient, weight gradient and bias gradient against loops in double.
template <class T>
double worst_error(Conv2dShape s, const Kernels<T>& k = {}) {
  s = with_output(s);
  const auto x = random_values<T>(s.n * s.c * s.h * s.w, 1), weight = random_values<T>(s.weight_count(), 2);
  const auto bias = random_values<T>(s.out_c, 3), dy = random_values<T>(s.n * s.out_c * s.positions(), 4);
  std::vector<double> want_y(dy.size()), want_dx(x.size()), want_dw(weight.size()), want_db(bias.size());
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const std::size_t o = i / static_cast<std::size_t>(s.positions()) % bias.size();
    want_y[i] = static_cast<double>(bias[o]);
    want_db[o] += static_cast<double>(dy[i]);
  }
  for_products(s, [&](std::size_t xi, std::size_t wi, std::size_t yi) {
    want_y[yi] += static_cast<double>(x[xi]) * static_cast<double>(weight[wi]);
    want_dx[xi] += static_cast<double>(dy[yi]) * static_cast<double>(weight[wi]);
    want_dw[wi] += static_cast<double>(dy[yi]) * static_cast<double>(x[xi]);
  });

  double worst = 0;
  for (bool channels_last : {false, true}) {
    s.channels_last = channels_last;
    const auto order = [&](std::vector<T> v, std::int64_t c, std::int64_t l) {
      return channels_last ? swap_inner(v, s.n, c, l) : v;
    };
    const auto back = [&](std::vector<T> v, std::int64_t c, std::int64_t l) {
      return channels_last ? swap_inner(v, s.n, l, c) : v;
    };
    const auto in = order(x, s.c, s.h * s.w), g = order(dy, s.out_c, s.positions());
    const T nan = static_cast<T>(NAN);
    std::vector<T> y(dy.size(), nan), dx(x.size(), nan), dw(weight.size(), nan), db(bias.size(), nan);
    k.forward(s, in.data(), weight.data(), bias.data(), y.data());
    if (k.input_grad)
      k.input_grad(s, g.data(), weight.data(), dx.data());
    else
      dx = order(std::vector<T>(want_dx.begin(), want_dx.end()), s.c, s.h * s.w);
    k.weight_grad(s, in.data(), g.data(), dw.data(), db.data());
    worst = std::max({worst, worst_distance(back(y, s.out_c, s.positions()), want_y),
                      worst_distance(back(dx, s.c, s.h * s.w), want_dx), worst_distance(dw, want_dw),
                      worst_distance(db, want_db)});

    std::vector<T> no_bias(y.size(), nan), again(weight.size(), nan);
    k.forward(s, in.data(), weight.data(), nullptr, no_bias.data());
    k.weight_grad(s, in.data(), g.data(), again.data(), nullptr);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t o = channels_last ? i % bias.size() : i / static_cast<std::size_t>(s.positions()) % bias.size();
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - static_cast<double>(no_bias[i] + bias[o])));
    }
    if (!dw.empty() && std::memcmp(dw.data(), again.data(), dw.size() * sizeof(T)) != 0) worst = INFINITY;
  }
  return worst;
}

struct Sample {
  const char* name;
  Conv2dShape shape;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> list = {
      {"one by one", {.n = 2, .c = 3, .h = 4, .w = 5, .out_c = 4}},
      {"whole image", {.n = 2, .c = 2, .h = 3, .w = 4, .out_c = 3, .kh = 3, .kw = 4}},
      {"LeNet 1", {.n = 3, .c = 1, .h = 28, .w = 28, .out_c = 6, .kh = 5, .kw = 5, .pad_h = 2, .pad_w = 2}},
      {"LeNet 2", {.n = 3, .c = 6, .h = 14, .w = 14, .out_c = 16, .kh = 5, .kw = 5}},
      {"first of VGG", {.n = 2, .c = 3, .h = 32, .w = 32, .out_c = 32, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1}},
      {"32 channels", {.n = 2, .c = 32, .h = 8, .w = 8, .out_c = 32, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1}},
      {"32 to 48", {.n = 1, .c = 32, .h = 9, .w = 7, .out_c = 48, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1}},
      {"33 channels", {.n = 2, .c = 33, .h = 6, .w = 5, .out_c = 35, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1}},
      {"stride 2",
       {.n = 2,
        .c = 3,
        .h = 11,
        .w = 9,
        .out_c = 5,
        .kh = 3,
        .kw = 3,
        .stride_h = 2,
        .stride_w = 2,
        .pad_h = 1,
        .pad_w = 1}},
      {"stride 3 by 1", {.n = 2, .c = 2, .h = 11, .w = 9, .out_c = 17, .kh = 2, .kw = 3, .stride_h = 3}},
      {"stride beyond window",
       {.n = 1, .c = 2, .h = 9, .w = 9, .out_c = 3, .kh = 2, .kw = 2, .stride_h = 3, .stride_w = 4}},
      {"dilation 2 by 3",
       {.n = 2,
        .c = 3,
        .h = 12,
        .w = 13,
        .out_c = 4,
        .kh = 3,
        .kw = 3,
        .pad_h = 2,
        .pad_w = 1,
        .dilation_h = 2,
        .dilation_w = 3}},
      {"padding beyond window", {.n = 2, .c = 2, .h = 4, .w = 3, .out_c = 3, .kh = 2, .kw = 3, .pad_h = 3, .pad_w = 4}},
      {"two groups", {.n = 2, .c = 6, .h = 7, .w = 8, .out_c = 4, .kh = 3, .kw = 2, .pad_h = 1, .groups = 2}},
      {"two groups of 32",
       {.n = 2, .c = 64, .h = 5, .w = 6, .out_c = 64, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1, .groups = 2}},
      {"depthwise",
       {.n = 2, .c = 5, .h = 9, .w = 20, .out_c = 10, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1, .groups = 5}},
      {"depthwise with stride",
       {.n = 1,
        .c = 32,
        .h = 9,
        .w = 8,
        .out_c = 32,
        .kh = 3,
        .kw = 3,
        .stride_h = 2,
        .stride_w = 2,
        .pad_h = 1,
        .pad_w = 1,
        .groups = 32}},
      {"wide rows", {.n = 1, .c = 2, .h = 3, .w = 75, .out_c = 7, .kh = 2, .kw = 4, .pad_w = 1}},
      {"one row", {.n = 4, .c = 3, .h = 1, .w = 40, .out_c = 4, .kw = 7, .pad_w = 3}},
      {"many images", {.n = 70, .c = 2, .h = 12, .w = 12, .out_c = 9, .kh = 3, .kw = 3}},
      {"no image", {.n = 0, .c = 3, .h = 5, .w = 5, .out_c = 4, .kh = 3, .kw = 3}},
  };
  return list;
}

}  // namespace

TEMPLATE_TEST_CASE("conv2d and its gradients equal loops in double, in both orders", "", float, double) {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const Conv2dShape s = with_output(sample.shape);
    // Sums of `length` products below 1.
    const double length = static_cast<double>(std::max({s.taps(), s.n * s.positions(), s.out_c * s.kh * s.kw}));
    CHECK(worst_error<TestType>(sample.shape) <= 2 * std::numeric_limits<TestType>::epsilon() * (length + 4));
  }
}

TEST_CASE("the direct convolution kernels serve every shape, also those that are left to others") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const Conv2dShape s = with_output(sample.shape);
    const double length = static_cast<double>(std::max({s.taps(), s.n * s.positions(), s.out_c * s.kh * s.kw}));
    Kernels<float> direct{conv2d_forward_direct, nullptr,
                          [](const Conv2dShape& t, const float* x, const float* dy, float* dw, float* db) {
                            conv2d_weight_grad<float>(t, x, dy, dw, db);  // for the bias
                            conv2d_weight_grad_direct(t, x, dy, dw);
                          }};
    if (s.stride_h == 1 && s.stride_w == 1) direct.input_grad = conv2d_input_grad_direct;
    CHECK(worst_error<float>(sample.shape, direct) <= 2 * std::numeric_limits<float>::epsilon() * (length + 4));
  }
}

TEMPLATE_TEST_CASE("our convolution kernels give the same bits for any thread count", "", float, double) {
  for (const Sample& sample : samples()) {
    Conv2dShape s = with_output(sample.shape);
    s.n = s.n * 25;
    const auto x = random_values<TestType>(s.n * s.c * s.h * s.w, 1), w = random_values<TestType>(s.weight_count(), 2);
    const auto dy = random_values<TestType>(s.n * s.out_c * s.positions(), 3);
    for (bool channels_last : {false, true}) {
      s.channels_last = channels_last;
      std::vector<std::vector<TestType>> results;
      for (int threads : {1, 2, 5}) {
        const ThreadCount guard(threads);
        std::vector<TestType> y(dy.size()), dx(x.size()), dw(w.size()), db(static_cast<std::size_t>(s.out_c));
        if constexpr (std::is_same_v<TestType, float>) {
          if (s.n == 0) continue;
          conv2d_forward_direct(s, x.data(), w.data(), nullptr, y.data());
          if (s.stride_h == 1 && s.stride_w == 1) conv2d_input_grad_direct(s, dy.data(), w.data(), dx.data());
          conv2d_weight_grad_direct(s, x.data(), dy.data(), dw.data());
        } else {
          conv2d_forward<TestType>(s, x.data(), w.data(), nullptr, y.data());
          conv2d_input_grad<TestType>(s, dy.data(), w.data(), dx.data());
          conv2d_weight_grad<TestType>(s, x.data(), dy.data(), dw.data(), db.data());
        }
        for (const auto* part : {&dx, &dw, &db}) y.insert(y.end(), part->begin(), part->end());
        results.push_back(std::move(y));
      }
      CAPTURE(sample.name, channels_last);
      CHECK((results.empty() || (results[0] == results[1] && results[0] == results[2])));
    }
  }
}

TEST_CASE("an infinity reaches only the results whose window sees it") {
  for (bool channels_last : {false, true}) {
    Conv2dShape s =
        with_output({.n = 1, .c = 1, .h = 6, .w = 18, .out_c = 2, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1});
    s.channels_last = channels_last;
    std::vector<float> x(6 * 18, 1), w(18, 1), y(2 * 6 * 18), dw(18), dy(y.size(), 0);
    x[2 * 18 + 17] = INFINITY;
    conv2d_forward<float>(s, x.data(), w.data(), nullptr, y.data());
    CHECK(std::count_if(y.begin(), y.end(), [](float v) { return std::isinf(v); }) == 2 * 6);
    CHECK(std::count_if(y.begin(), y.end(), [](float v) { return std::isnan(v); }) == 0);
    // The taps of the first column never meet the last column of x.
    std::fill(dy.begin(), dy.end(), 1.f);
    conv2d_weight_grad<float>(s, x.data(), dy.data(), dw.data(), nullptr);
    for (std::size_t tap = 0; tap < dw.size(); ++tap) CHECK(std::isfinite(dw[tap]) == (tap % 3 == 0));
  }
}
