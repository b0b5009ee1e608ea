// interpolate along one dim.
#include "cuda/resample_dim.h"

#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/resample_dim.h>

#include "device.h"
#include "install.h"
#include "operand_order.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using kernels::place_of;
using kernels::values_of;

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // kernels count in 32 bits

void resample(Tensor& out, const Tensor& self, const Resampling& r) {
  if (out.numel() == 0) return;
  check<NotImplementedError>(out.numel() <= kMost, "interpolate: the result ", out.spec(), " has more than ", kMost,
                             " elements, which CUDA kernels do not count; use a smaller batch");
  const ResampleTaps& taps = *r.taps;
  const Device device = out.device();
  const Tensor x = kernels::operand_in_order("interpolate", self, MemoryFormat::contiguous);
  const auto moved = [&](const auto& values, DType d) {
    const Tensor taken = from_span(std::span(values)).to(cpu, d, true);  // the taps live as long as the call
    const cuda::detail::Constant constant(true);
    return taken.to(device);
  };
  const Tensor begins = moved(taps.begins, int64), places = moved(taps.places, int64);
  const Tensor weights = moved(taps.weights, x.dtype());
  std::int64_t inner = 1;
  for (std::int64_t d = r.dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const ResampleShape shape{.count = std::uint32_t(out.numel()),
                            .in = taps.in,
                            .out = FastDiv::by(std::uint32_t(taps.out())),
                            .inner = FastDiv::by(std::uint32_t(inner))};
  const OnDevice on(device);
  dispatch_floating(x.dtype(), "interpolate", [&]<class T>(Type<T>) {
    resample_dim<T>(on.queue(), shape, values_of<std::int64_t>(begins), values_of<std::int64_t>(places),
                    values_of<T>(weights), values_of<T>(x), place_of<T>(out));
  });
}

}  // namespace

void install_resample_dim() { ops::resample.set_kernel(DispatchKey::CUDA, kernels::widening<resample>); }

}  // namespace taper::cuda_kernels
