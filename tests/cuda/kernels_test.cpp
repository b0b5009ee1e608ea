// Kernels that choose by the shape how they work: shapes for every choice, against the cpu.
#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/conv.h>
#include <taper/ops/copy.h>
#include <taper/ops/image.h>
#include <taper/ops/loss.h>
#include <taper/ops/norm.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>

#include <functional>

#include "tests/support/catch.h"

using namespace taper;

namespace {

const Device kCuda("cuda");

/// Numbers without a pattern, on the cpu.
Tensor wave(IntSpan sizes, DType dtype = float32, double phase = 0) {
  const std::int64_t n = SizesAndStrides::contiguous(sizes).numel();
  const Tensor i = arange(n, TensorOptions{.dtype = float64, .device = cpu});
  return i.mul(0.7).add(i.square().mul(1e-3)).add(phase).sin().to(dtype).view(sizes);
}
Tensor classes(std::int64_t count, std::int64_t classes) {
  return arange(count, TensorOptions{.dtype = int64, .device = cpu}).mul(7).remainder(classes);
}

/// f's result and the gradients of its arguments agree, from a gradient without a pattern.
void check_agrees(const std::string& name, const TensorList& args, const std::function<Tensor(const TensorList&)>& f) {
  INFO(name);
  const auto on = [&](Device device) {
    TensorList moved, wanted;
    for (const Tensor& t : args) {
      moved.push_back(t.to(device));
      if (t.is_floating_point()) wanted.push_back(moved.back().requires_grad_());
    }
    const Tensor result = f(moved);
    TensorList all = autograd::grad({result}, wanted, {wave(result.sizes(), result.dtype(), 1).to(device)});
    all.push_back(result.detach());
    return all;
  };
  const TensorList want = on(cpu), got = on(kCuda);
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO((i + 1 < want.size() ? "gradient " + std::to_string(i) : "result"));
    CHECK(got[i].sizes() == want[i].sizes());
    CHECK(got[i].device() == kCuda);
    const double size = want[i].numel() == 0 ? 0 : want[i].abs().max().item<double>();
    const double off = want[i].numel() == 0 ? 0 : got[i].cpu().sub(want[i]).abs().max().item<double>();
    CHECK(off <= 1e-5 * (1 + size));
  }
}

}  // namespace

TEST_CASE("softmax on cuda: lines for a thread, a warp and a block", "[cuda]") {
  for (const bool log : {false, true}) {
    const auto f = [&](std::int64_t dim) {
      return [=](const TensorList& t) { return log ? log_softmax(t[0], dim) : softmax(t[0], dim); };
    };
    check_agrees("short rows", {wave({9, 10})}, f(1));
    check_agrees("rows", {wave({3, 700})}, f(1));
    check_agrees("long rows", {wave({2, 3000})}, f(1));
    check_agrees("columns", {wave({2, 5, 40})}, f(1));
    check_agrees("few long columns", {wave({1500, 3})}, f(0));
  }
}

TEST_CASE("losses over classes on cuda: few and many targets and classes", "[cuda]") {
  struct Case {
    std::int64_t count, classes;
  };
  for (const Case c : {Case{16, 10}, Case{300, 5}, Case{20, 100}, Case{3, 1500}, Case{5000, 3}}) {
    const Tensor target = classes(c.count, c.classes), weight = wave({c.classes}).abs();
    for (const Reduction r : {Reduction::none, Reduction::mean}) {
      for (const double smoothing : {0.0, 0.1})
        check_agrees("cross_entropy", {wave({c.count, c.classes}), target}, [&](const TensorList& t) {
          return cross_entropy(
              t[0], t[1],
              {.weight = weight.to(t[0].device()), .ignore_index = 2, .reduction = r, .label_smoothing = smoothing});
        });
      check_agrees("nll_loss", {wave({c.count, c.classes}), target}, [&](const TensorList& t) {
        return nll_loss(t[0], t[1], {.weight = weight.to(t[0].device()), .ignore_index = 2, .reduction = r});
      });
    }
  }
  check_agrees("cross_entropy of images", {wave({2, 3, 30, 5}), classes(300, 3).view({2, 30, 5})},
               [](const TensorList& t) { return cross_entropy(t[0], t[1]); });
  check_agrees("mse_loss", {wave({70, 50}), wave({70, 50}).add(1)},
               [](const TensorList& t) { return mse_loss(t[0], t[1]); });
}

TEST_CASE("batch normalization on cuda: planes, columns, and channels cut into parts", "[cuda]") {
  const auto f = [](const TensorList& t) {
    const Tensor mean = zeros({t[1].size(0)}, {.device = t[0].device()}), var = ones_like(mean);
    return batch_norm(t[0], t[1], t[2], mean, var, true).add(mean.sum()).add(var.sum());
  };
  const auto given = [](const Tensor& x) { return TensorList{x.add(3), wave({x.size(1)}).add(2), wave({x.size(1)})}; };
  check_agrees("rows", given(wave({16, 40})), f);
  check_agrees("many rows", given(wave({5000, 3})), f);
  check_agrees("images", given(wave({4, 3, 5, 7})), f);
  check_agrees("large images", given(wave({2, 2, 90, 70})), f);
  check_agrees("channels last", given(wave({4, 35, 9, 7}).contiguous(MemoryFormat::channels_last)), f);
  check_agrees("evaluation", given(wave({4, 3, 5, 7})), [](const TensorList& t) {
    const Tensor mean = wave({3}).to(t[0].device()), var = wave({3}).abs().add(1).to(t[0].device());
    return batch_norm(t[0], t[1], t[2], mean, var, false);
  });
}

TEST_CASE("pools on cuda: both orders of memory, small and large windows", "[cuda]") {
  for (const MemoryFormat format : {MemoryFormat::contiguous, MemoryFormat::channels_last}) {
    const TensorList x = {wave({2, 3, 17, 19}).contiguous(format)};
    check_agrees("max", x, [](const TensorList& t) { return max_pool2d(t[0], 2); });
    check_agrees("max, overlapping", x, [](const TensorList& t) {
      return max_pool2d(t[0], {3, 2}, {.stride = {2, 1}, .padding = 1, .dilation = {2, 3}, .ceil_mode = true});
    });
    check_agrees("max, with places in the image", x,
                 [](const TensorList& t) { return max_pool2d_with_indices(t[0], 17, {.stride = 1}).first; });
    check_agrees("average", x, [](const TensorList& t) {
      return avg_pool2d(t[0], {3, 2}, {.stride = {2, 1}, .padding = 1, .count_include_pad = false});
    });
    check_agrees("average, large", x, [](const TensorList& t) { return avg_pool2d(t[0], {17, 19}); });
  }
}

TEST_CASE("convolutions on cuda: groups, images and orders of memory", "[cuda]") {
  for (const MemoryFormat format : {MemoryFormat::contiguous, MemoryFormat::channels_last}) {
    const auto check = [&](const std::string& name, IntSpan x, IntSpan w, const Conv2dOptions& o) {
      check_agrees(name, {wave(x).contiguous(format), wave(w), wave({w[0]})},
                   [&](const TensorList& t) { return conv2d(t[0], t[1], t[2], o); });
    };
    check("few channels", {2, 1, 9, 8}, {4, 1, 5, 5}, {.padding = 2});
    check("many channels", {2, 20, 6, 7}, {24, 20, 3, 3}, {.stride = {2, 1}, .padding = 1, .dilation = {1, 2}});
    check("pointwise", {3, 6, 5, 4}, {8, 6, 1, 1}, {});
    check("pointwise in groups", {3, 6, 5, 4}, {8, 3, 1, 1}, {.groups = 2});
    check("groups", {1, 12, 7, 7}, {8, 3, 3, 3}, {.padding = 1, .groups = 4});
    // Enough work for products of matrices.
    check("columns", {9, 16, 30, 32}, {32, 16, 3, 3}, {.padding = 1});
    check("columns in groups", {2, 64, 30, 31}, {64, 32, 3, 4}, {.stride = {1, 2}, .padding = {1, 2}, .groups = 2});
    check("pointwise columns in groups", {40, 64, 20, 22}, {64, 32, 1, 1}, {.groups = 2});
    check("a filter for each channel", {4, 6, 7, 7}, {12, 1, 3, 3}, {.stride = 2, .padding = 1, .groups = 6});
  }
}

TEST_CASE("pictures are normalized on cuda in as many channels as they have", "[cuda]") {
  const Tensor pictures = arange(2 * 40 * 6, TensorOptions{.dtype = int64, .device = cpu}).remainder(256).to(uint8);
  std::vector<double> mean(40), std(40);
  for (std::size_t c = 0; c < 40; ++c) mean[c] = 0.01 * double(c), std[c] = 1 + double(c);

  const Tensor images = pictures.view({2, 40, 2, 3});
  CHECK(normalize_images(images.to(kCuda), mean, std).cpu().allclose(normalize_images(images, mean, std)));
  CHECK(normalize_images(images.to(kCuda), {0.5}, {2}).cpu().allclose(normalize_images(images, {0.5}, {2})));
}
