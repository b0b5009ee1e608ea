#include "conv2d_onednn.h"

#if TAPER_ONEDNN

#include <taper/error.h>

#include <array>
#include <cstring>
#include <optional>

#include "onednn.h"
#include "parallel.h"

namespace taper::cpu_kernels {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::Plan;

enum class Pass : std::int64_t { forward, input_grad, weight_grad };

/// Everything a plan depends on.
class Key {
 public:
  Key(Pass pass, const Conv2dShape& s, bool has_bias, int threads)
      : numbers_{static_cast<std::int64_t>(pass),
                 s.n,
                 s.c,
                 s.h,
                 s.w,
                 s.out_c,
                 s.out_h,
                 s.out_w,
                 s.kh,
                 s.kw,
                 s.stride_h,
                 s.stride_w,
                 s.pad_h,
                 s.pad_w,
                 s.dilation_h,
                 s.dilation_w,
                 s.groups,
                 s.channels_last,
                 has_bias,
                 threads} {}

  friend bool operator==(const Key& a, const Key& b) {
    return std::memcmp(a.numbers_.data(), b.numbers_.data(), sizeof a.numbers_) == 0;
  }
  std::size_t hash() const {
    std::uint64_t h = 0;
    for (const std::int64_t v : numbers_) h = (h ^ static_cast<std::uint64_t>(v)) * 0x9E3779B97F4A7C15u, h ^= h >> 32;
    return h;
  }

 private:
  std::array<std::int64_t, 20> numbers_;
};

/// A convolution as oneDNN describes it. `ours` is the caller's memory, `any` leaves the layout to oneDNN;
/// activations in channels-last order are as fast as any, so they stay as they are.
struct Description {
  Desc ours_x, ours_weight, ours_bias, ours_y, any_x, any_weight, any_y;
  Dims stride, dilation, padding;

  explicit Description(const Conv2dShape& s) {
    using Tag = dnnl::memory::format_tag;
    const auto f32 = dnnl::memory::data_type::f32;
    const Dims x{s.n, s.c, s.h, s.w}, y{s.n, s.out_c, s.out_h, s.out_w};
    const Dims weight =
        s.groups == 1 ? Dims{s.out_c, s.c, s.kh, s.kw} : Dims{s.groups, s.group_out_c(), s.group_c(), s.kh, s.kw};
    const Tag order = s.channels_last ? Tag::nhwc : Tag::nchw;
    ours_x = Desc(x, f32, order), ours_y = Desc(y, f32, order), ours_bias = Desc({s.out_c}, f32, Tag::x);
    ours_weight = Desc(weight, f32, s.groups == 1 ? Tag::oihw : Tag::goihw);
    any_x = s.channels_last ? ours_x : Desc(x, f32, Tag::any),
    any_y = s.channels_last ? ours_y : Desc(y, f32, Tag::any);
    any_weight = Desc(weight, f32, Tag::any);
    stride = {s.stride_h, s.stride_w}, padding = {s.pad_h, s.pad_w};
    dilation = {s.dilation_h - 1, s.dilation_w - 1};  // oneDNN counts the gaps
  }

  dnnl::convolution_forward::primitive_desc forward(bool has_bias) const {
    const auto kind = dnnl::prop_kind::forward_training;
    return has_bias ? onednn::describe<dnnl::convolution_forward>(kind, kAlgorithm, any_x, any_weight, ours_bias, any_y,
                                                                  stride, dilation, padding, padding)
                    : onednn::describe<dnnl::convolution_forward>(kind, kAlgorithm, any_x, any_weight, any_y, stride,
                                                                  dilation, padding, padding);
  }

  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};

Plan plan_forward(const Conv2dShape& s, bool has_bias) {
  const Description d(s);
  const auto chosen = d.forward(has_bias);
  Plan plan{dnnl::convolution_forward(chosen)};
  plan.add(DNNL_ARG_SRC, Plan::Use::input, d.ours_x, chosen.src_desc());
  plan.add(DNNL_ARG_WEIGHTS, Plan::Use::input, d.ours_weight, chosen.weights_desc());
  plan.add(DNNL_ARG_DST, Plan::Use::output, d.ours_y, chosen.dst_desc());
  if (has_bias) plan.add(DNNL_ARG_BIAS, Plan::Use::input, d.ours_bias, d.ours_bias);
  return plan;
}

Plan plan_input_grad(const Conv2dShape& s) {
  const Description d(s);
  const auto chosen = onednn::describe_gradient<dnnl::convolution_backward_data>(
      d.forward(false), d.kAlgorithm, d.any_x, d.any_weight, d.any_y, d.stride, d.dilation, d.padding, d.padding);
  Plan plan{dnnl::convolution_backward_data(chosen)};
  plan.add(DNNL_ARG_DIFF_DST, Plan::Use::input, d.ours_y, chosen.diff_dst_desc());
  plan.add(DNNL_ARG_WEIGHTS, Plan::Use::input, d.ours_weight, chosen.weights_desc());
  plan.add(DNNL_ARG_DIFF_SRC, Plan::Use::output, d.ours_x, chosen.diff_src_desc());
  return plan;
}

Plan plan_weight_grad(const Conv2dShape& s, bool has_bias) {
  const Description d(s);
  using Primitive = dnnl::convolution_backward_weights;
  const auto chosen =
      has_bias ? onednn::describe_gradient<Primitive>(d.forward(true), d.kAlgorithm, d.any_x, d.any_weight, d.ours_bias,
                                                      d.any_y, d.stride, d.dilation, d.padding, d.padding)
               : onednn::describe_gradient<Primitive>(d.forward(false), d.kAlgorithm, d.any_x, d.any_weight, d.any_y,
                                                      d.stride, d.dilation, d.padding, d.padding);
  Plan plan{Primitive(chosen)};
  plan.add(DNNL_ARG_SRC, Plan::Use::input, d.ours_x, chosen.src_desc());
  plan.add(DNNL_ARG_DIFF_DST, Plan::Use::input, d.ours_y, chosen.diff_dst_desc());
  plan.add(DNNL_ARG_DIFF_WEIGHTS, Plan::Use::output, d.ours_weight, chosen.diff_weights_desc());
  if (has_bias) plan.add(DNNL_ARG_DIFF_BIAS, Plan::Use::output, d.ours_bias, d.ours_bias);
  return plan;
}

/// Runs the plan for a shape, from this thread's cache if it is there. False if oneDNN has none.
///
/// A plan holds the addresses it works on, so it belongs to a thread. What is expensive, the generated code, is
/// shared between threads by oneDNN's own cache.
bool run(Pass pass, const Conv2dShape& s, bool has_bias, const void* const* data) {
  // Each plan holds some kilobytes. A net has three for each convolution and for each batch size in use.
  static thread_local onednn::RecentlyUsed<Key, std::optional<Plan>> plans(192);
  constexpr std::int64_t kParallelWork = std::int64_t{2} << 20;
  const int threads = s.n * s.image_work() < kParallelWork ? 1 : available_threads();
  const LibraryThreads limit(threads);  // a primitive is made for the number of threads it will run on
  try {
    std::optional<Plan>& plan = plans.get(Key(pass, s, has_bias, threads), [&]() -> std::optional<Plan> {
      try {
        switch (pass) {
          case Pass::forward:
            return plan_forward(s, has_bias);
          case Pass::input_grad:
            return plan_input_grad(s);
          default:
            return plan_weight_grad(s, has_bias);
        }
      } catch (const dnnl::error& e) {
        if (e.status != dnnl_unimplemented) throw;
        return std::nullopt;
      }
    });
    if (!plan) return false;
    plan->run(data);
  } catch (const dnnl::error& e) {
    raise<Error>("conv2d: oneDNN failed with status ", static_cast<int>(e.status), " (", e.what(), ")");
  }
  return true;
}

}  // namespace

bool conv2d_forward_onednn(const Conv2dShape& s, const float* x, const float* weight, const float* bias, float* y) {
  const void* const data[] = {x, weight, y, bias};
  return run(Pass::forward, s, bias != nullptr, data);
}

bool conv2d_input_grad_onednn(const Conv2dShape& s, const float* dy, const float* weight, float* dx) {
  const void* const data[] = {dy, weight, dx};
  return run(Pass::input_grad, s, false, data);
}

bool conv2d_weight_grad_onednn(const Conv2dShape& s, const float* x, const float* dy, float* dweight, float* dbias) {
  const void* const data[] = {x, dy, dweight, dbias};
  return run(Pass::weight_grad, s, dbias != nullptr, data);
}

}  // namespace taper::cpu_kernels

#else

namespace taper::cpu_kernels {

bool conv2d_forward_onednn(const Conv2dShape&, const float*, const float*, const float*, float*) { return false; }
bool conv2d_input_grad_onednn(const Conv2dShape&, const float*, const float*, float*) { return false; }
bool conv2d_weight_grad_onednn(const Conv2dShape&, const float*, const float*, float*, float*) { return false; }

}  // namespace taper::cpu_kernels

#endif
