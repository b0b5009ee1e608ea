// Copies: on one device by a kernel; between a device and the host, or two devices, in one piece of memory, which the
// side with the kernels lays out and converts.
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/fn.h>

#include "cpu/strided.h"
#include "device.h"
#include "elementwise.h"
#include "errors.h"
#include "findings.h"
#include "install.h"
#include "pinned_allocator.h"

namespace taper::cuda_kernels {
namespace {

/// Moves elements of one size, whatever their type.
ElementLoop cast_loop(DType to, DType from) {
  if (to == from) {
    switch (itemsize(to)) {
      case 1:
        return element_loop<fn::Cast<std::uint8_t>, std::uint8_t, std::uint8_t>;
      case 2:
        return element_loop<fn::Cast<std::uint16_t>, std::uint16_t, std::uint16_t>;
      case 4:
        return element_loop<fn::Cast<std::int32_t>, std::int32_t, std::int32_t>;
      default:
        return element_loop<fn::Cast<std::int64_t>, std::int64_t, std::int64_t>;
    }
  }
  // 16 bits are made of float32 and become float32.
  if (to == float16) return element_loop<fn::Cast<Half>, Half, float>;
  if (to == bfloat16) return element_loop<fn::Cast<BFloat16>, BFloat16, float>;
  if (from == float16) return element_loop<fn::Cast<float>, float, Half>;
  if (from == bfloat16) return element_loop<fn::Cast<float>, float, BFloat16>;
  if (to == int8) return element_loop<fn::Cast<std::int8_t>, std::int8_t, std::int32_t>;
  if (to == int16) return element_loop<fn::Cast<std::int16_t>, std::int16_t, std::int32_t>;
  if (from == int8) return element_loop<fn::Cast<std::int32_t>, std::int32_t, std::int8_t>;
  if (from == int16) return element_loop<fn::Cast<std::int32_t>, std::int32_t, std::int16_t>;
  return dispatch_all(to, [&]<class To>(Type<To>) {
    return dispatch_all(from,
                        [&]<class From>(Type<From>) -> ElementLoop { return OnCuda::loop<fn::Cast<To>, To, From>; });
  });
}

/// The dtype that a conversion takes on its way, if it has no kernel of its own: float32 holds every 16-bit number and
/// is what one is rounded from; int32 does the same for int8 and int16, which are its low bits.
std::optional<DType> way_between(DType to, DType from) {
  const auto either = [&](DType d) { return to == d || from == d; };
  if (to == from) return {};
  if ((either(float16) || either(bfloat16)) && !either(float32)) return float32;
  if ((either(int8) || either(int16)) && !either(int32)) return int32;
  return {};
}

/// Whether the elements fill one piece of memory in the same order on both sides.
bool is_one_piece(const Tensor& dst, const Tensor& src) {
  if (dst.dtype() != src.dtype() || dst.numel() != src.numel()) return false;
  if (dst.is_contiguous() && src.is_contiguous()) return true;
  if (dst.impl()->geometry() != src.impl()->geometry()) return false;
  cpu_kernels::StridedNest nest(dst.sizes());
  nest.add(dst);
  nest.merge();
  return nest.dims().size() == 1 && nest.dims()[0].step[0] == std::int64_t(dst.element_size());
}

void wait_unless_asked_not_to(cudaStream_t stream, const char* cause) {
  if (!cuda::detail::NonBlocking::is_on()) wait_for(stream, cause);
}

/// A graph would keep the address of the host's memory, whose content it reads or writes at every replay.
void refuse_in_capture(const OnDevice& on, const char* from, const char* to) {
  check<NotImplementedError>(!is_capturing(on.stream()), "copy from ", from, " to ", to, ": cannot be captured into a ",
                             "graph; give the graph tensors on cuda, and copy from and to them between its replays");
}

bool is_page_locked(const void* memory) noexcept {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) return attributes.type == cudaMemoryTypeHost;
  (void)cudaGetLastError();
  return false;
}

/// Memory that a graph reads at every replay, and owns.
class KeptByGraph final : public cuda::detail::AtReplay {
 public:
  explicit KeptByGraph(Tensor kept) : kept_(std::move(kept)) {}
  void act() override {}
  void undo() noexcept override {}

 private:
  const Tensor kept_;
};

void host_to_device(const Tensor& dst, const Tensor& src) {
  const OnDevice on(dst.device());
  if (cuda::detail::Constant::is_on() && is_capturing(on.stream()) && src.is_contiguous()) {
    const cuda::detail::Constant over(false);
    const Tensor kept = src.pin_memory();
    cuda::detail::at_replay(std::make_shared<KeptByGraph>(kept));
    return check_cuda(
        cudaMemcpyAsync(dst.impl()->data(), kept.impl()->data(), dst.nbytes(), cudaMemcpyHostToDevice, on.stream()),
        "copy from cpu to cuda");
  }
  refuse_in_capture(on, "cpu", "cuda");
  const void* from = src.impl()->data();
  check_cuda(cudaMemcpyAsync(dst.impl()->data(), from, dst.nbytes(), cudaMemcpyHostToDevice, on.stream()),
             "copy from cpu to cuda");
  // Pageable memory has been read when the call returns; pinned memory has not. Whoever pinned it himself may write to
  // it next.
  if (!src.is_pinned()) {
    if (is_page_locked(from)) wait_for(on.stream(), "copy from cpu");
    return;
  }
  PinnedAllocator::instance().record_stream(from, on.stream());
  wait_unless_asked_not_to(on.stream(), "copy from cpu");
}
void device_to_host(const Tensor& dst, const Tensor& src) {
  const OnDevice on(src.device());
  void* to = dst.impl()->data();
  const bool pinned = dst.is_pinned();
  if (!pinned || !cuda::detail::NonBlocking::is_on()) about_to_wait("copy to cpu", on.stream());
  refuse_in_capture(on, "cuda", "cpu");
  check_cuda(cudaMemcpyAsync(to, src.impl()->data(), dst.nbytes(), cudaMemcpyDeviceToHost, on.stream()),
             "copy from cuda to cpu");
  if (pinned) PinnedAllocator::instance().record_stream(to, on.stream());
  if (pinned && cuda::detail::NonBlocking::is_on()) return;
  check_cuda(cudaStreamSynchronize(on.stream()), "copy from cuda to cpu");
  throw_findings(on.state());
}
void device_to_device(const Tensor& dst, const Tensor& src) {
  const OnDevice on(dst.device());
  // The source's stream has to have written it, and must not reuse its memory before it is read.
  const cuda::Stream from = cuda::current_stream(src.device().index);
  cuda::Stream(cuda::current_stream(dst.device().index)).wait_stream(from);
  check_cuda(cudaMemcpyAsync(dst.impl()->data(), src.impl()->data(), dst.nbytes(), cudaMemcpyDefault, on.stream()),
             "copy between cuda devices");
  from.wait_stream(cuda::current_stream(dst.device().index));
}
void copy_one_piece(const Tensor& dst, const Tensor& src) {
  if (dst.device().is_cpu()) return device_to_host(dst, src);
  if (src.device().is_cpu()) return host_to_device(dst, src);
  device_to_device(dst, src);
}

/// A copy of x on its own device that is one piece of memory; x itself if it is.
Tensor in_one_piece(const Tensor& x) { return x.is_contiguous() ? x : ops::contiguous.below_autograd(x); }

void copy_across(const Tensor& dst, const Tensor& src) {
  if (is_one_piece(dst, src)) return copy_one_piece(dst, src);
  const Tensor there = in_one_piece(src);
  Tensor here = empty(TensorSpec::contiguous(src.sizes(), src.dtype(), dst.device()));
  {
    const cuda::detail::NonBlocking scope(cuda::detail::NonBlocking::is_on() && !dst.device().is_cpu());
    copy_one_piece(here, there);
  }
  Tensor to = dst;
  ops::copy.compute(to, dst, here);
}

void copy(Tensor& out, const Tensor&, const Tensor& src) { cuda::detail::copy(out, src); }
void copy_self(Tensor& out, const Tensor& self) { cuda::detail::copy(out, self); }
void to(Tensor& out, const Tensor& self, const Conversion&) { cuda::detail::copy(out, self); }
void fill(Tensor& out, const Tensor&, const Scalar& value) { fill_elements(out, value); }
void zero(Tensor& out, const Tensor&) { fill_elements(out, 0); }

}  // namespace

void copy_elements(const Tensor& dst, const Tensor& src) {
  const TensorImpl &d = *dst.impl(), &s = *src.impl();
  if (d.numel() == 0) return;
  if (d.data() == s.data() && d.dtype() == s.dtype() && d.geometry() == s.geometry()) return;
  const DType to = dst.dtype(), from = src.dtype();
  if (const std::optional<DType> way = way_between(to, from)) {
    const Tensor between = empty(TensorSpec::contiguous(src.sizes(), *way, src.device()));
    copy_elements(between, src);
    return copy_elements(dst, between);
  }
  move_elements(dst, src, cast_loop(to, from));
}

void fill_elements(const Tensor& dst, Scalar value) {
  if (dst.numel() == 0) return;
  if (value.is_zero() && dst.is_contiguous()) {
    const OnDevice on(dst.device());
    return check_cuda(cudaMemsetAsync(dst.impl()->data(), 0, dst.nbytes(), on.stream()), "zero_");
  }
  const DType d = compute_dtype(dst.dtype());
  const Number number(value, d);
  elementwise(dst, d, {number.operand()}, cast_loop(d, d), nullptr);
}

void install_copy() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::copy.set_kernel(key, copy);
  ops::clone.set_kernel(key, copy_self);
  ops::contiguous.set_kernel(key, copy_self);
  ops::to.set_kernel(key, to);
  ops::fill.set_kernel(key, fill);
  ops::zero.set_kernel(key, zero);
  ops::fill_tensor.set_kernel(key, copy);
}

}  // namespace taper::cuda_kernels

namespace taper::cuda::detail {

void copy(const Tensor& dst, const Tensor& src) {
  if (dst.numel() == 0) return;
  if (dst.device() == src.device()) return cuda_kernels::copy_elements(dst, src);
  // A number on the cpu is an operand like any other.
  if (src.device().is_cpu() && src.dim() == 0) return cuda_kernels::fill_elements(dst, src.scalar());
  cuda_kernels::copy_across(dst, src);
}

void copy_on_device(int device, void* dst, const void* src, std::size_t bytes) {
  const cuda_kernels::OnDevice on(device);
  cuda_kernels::check_cuda(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, on.stream()), "resize");
}

}  // namespace taper::cuda::detail
