#include <taper/operator.h>
#include <taper/ops/join.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/view.h>

#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

TensorSpec infer_flip(const Tensor& self, const IntSpan& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t d = wrap_dim("flip", dims[i], self);
    for (std::size_t k = 0; k < i; ++k)
      check<ShapeError>(wrap_dim("flip", dims[k], self) != d, "flip: dims ", dims, " names dim ", d, " twice");
  }
  return TensorSpec::contiguous(self.sizes(), self.dtype(), self.device());
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, IntSpan)> flip{"flip", "self, dims", infer_flip};
}  // namespace ops

Tensor repeat(const Tensor& self, IntSpan repeats) {
  const std::size_t rank = repeats.size(), lead = rank - std::size_t(self.dim());
  check<ShapeError>(rank >= std::size_t(self.dim()), "repeat: repeats ", repeats, " has fewer entries than ", self,
                    " has dims; tile() takes a shorter list");
  // Each dim becomes a pair (times, size), of which the first is shown `times` times.
  IntVec paired, shown, sizes;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t size = d < lead ? 1 : self.sizes()[d - lead];
    std::int64_t whole = 0;
    check<ValueError>(repeats[d] >= 0, "repeat: repeats ", repeats, " has a negative entry");
    check<ShapeError>(!__builtin_mul_overflow(repeats[d], size, &whole), "repeat: dim ", d, " would be too large");
    paired.insert(paired.end(), {1, size});
    shown.insert(shown.end(), {repeats[d], size});
    sizes.push_back(whole);
  }
  return ops::reshape_copy(reshape(self, paired).expand(shown), sizes);
}
Tensor& repeat_out(Tensor& out, const Tensor& self, IntSpan repeats) {
  return write_out("repeat", out, repeat(self, repeats));
}

Tensor tile(const Tensor& self, IntSpan repeats) {
  IntVec all(std::size_t(self.dim()) > repeats.size() ? std::size_t(self.dim()) - repeats.size() : 0, 1);
  all.insert(all.end(), repeats.begin(), repeats.end());
  return repeat(self, all);
}

Tensor flip(const Tensor& self, IntSpan dims) { return ops::flip(self, dims); }
Tensor& flip_out(Tensor& out, const Tensor& self, IntSpan dims) { return ops::flip.out(out, self, dims); }
Tensor fliplr(const Tensor& self) {
  check<ShapeError>(self.dim() >= 2, "fliplr: ", self, " has ", self.dim(), " dims, expected 2 or more");
  return ops::flip(self, 1);
}
Tensor flipud(const Tensor& self) {
  check<ShapeError>(self.dim() >= 1, "flipud: a 0-dim tensor has no rows");
  return ops::flip(self, 0);
}

Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims) {
  if (dims.empty()) {
    check<ShapeError>(shifts.size() == 1, "roll: shifts ", shifts, " has ", shifts.size(),
                      " entries, expected one where no dims are given");
    return self.dim() == 0 ? self.clone() : roll(self.flatten(), shifts, 0).view(self.sizes());
  }
  check<ShapeError>(shifts.size() == dims.size(), "roll: shifts ", shifts, " and dims ", dims,
                    " differ in length; give one shift for each dim");
  for (const std::int64_t d : dims) wrap_dim("roll", d, self);
  Tensor out = self;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t n = self.size(dims[i]);
    if (n == 0) continue;
    const std::int64_t front = (shifts[i] % n + n) % n;  // entries that come in at the front
    out = cat({out.narrow(dims[i], n - front, front), out.narrow(dims[i], 0, n - front)}, dims[i]);
  }
  return out.is_same(self) ? self.clone() : out;
}
Tensor& roll_out(Tensor& out, const Tensor& self, IntSpan shifts, IntSpan dims) {
  return write_out("roll", out, roll(self, shifts, dims));
}

Tensor Tensor::repeat(IntSpan repeats) const { return taper::repeat(*this, repeats); }
Tensor Tensor::tile(IntSpan repeats) const { return taper::tile(*this, repeats); }
Tensor Tensor::flip(IntSpan dims) const { return taper::flip(*this, dims); }
Tensor Tensor::fliplr() const { return taper::fliplr(*this); }
Tensor Tensor::flipud() const { return taper::flipud(*this); }
Tensor Tensor::roll(IntSpan shifts, IntSpan dims) const { return taper::roll(*this, shifts, dims); }

}  // namespace taper
