#include <taper/operator.h>
#include <taper/ops/resample_dim.h>

namespace taper {

ResampleTaps ResampleTaps::transposed() const {
  ResampleTaps t;
  t.in = out();
  t.begins.assign(std::size_t(in) + 1, 0);
  for (const std::int64_t p : places) ++t.begins[std::size_t(p) + 1];
  for (std::size_t p = 1; p < t.begins.size(); ++p) t.begins[p] += t.begins[p - 1];
  std::vector<std::int64_t> next(t.begins.begin(), t.begins.end() - 1);
  t.places.resize(places.size());
  t.weights.resize(places.size());
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    for (std::int64_t k = begins[i]; k < begins[i + 1]; ++k) {
      const std::size_t at = std::size_t(next[std::size_t(places[std::size_t(k)])]++);
      t.places[at] = std::int64_t(i);
      t.weights[at] = weights[std::size_t(k)];
    }
  return t;
}

namespace ops {
namespace {

TensorSpec infer_resample(const Tensor& x, const Resampling& r) {
  check<DTypeError>(x.is_floating_point(), "resample: needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
  check<ShapeError>(0 <= r.dim && r.dim < x.dim() && x.size(r.dim) == r.taps->in, "resample: dim ", r.dim, " of x ",
                    x.spec(), " must have size ", r.taps->in);
  IntVec sizes = x.sizes().vec();
  sizes[std::size_t(r.dim)] = r.taps->out();
  return TensorSpec::contiguous(sizes, x.dtype(), x.device());
}

}  // namespace

constinit StructuredOp<Tensor(Tensor, Resampling)> resample{"resample", "x", infer_resample};

}  // namespace ops
}  // namespace taper
