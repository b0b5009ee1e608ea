#include <taper/promotion.h>

#include <algorithm>

namespace taper {
namespace {

/// The operands' dtypes by group; the enumeration is in the order of promotion, and kNone is below all of it.
struct Groups {
  static constexpr int kNone = -1;
  int dims = kNone, zero_dims = kNone, numbers = kNone;

  void add(const Tensor& t) {
    if (t.impl()->is_wrapped_number())
      add_number(t.dtype());
    else if (t.dim() == 0)
      zero_dims = promote(zero_dims, t.dtype());
    else
      dims = promote(dims, t.dtype());
  }
  /// A floating number asks for the default floating dtype, not for double.
  void add_number(DType kind) { numbers = promote(numbers, is_floating(kind) ? float32 : kind); }

  static int promote(int group, DType d) { return group == kNone ? int(d) : int(promote_types(DType(group), d)); }
  static int join(int important, int other) {
    const auto floating = [](int d) { return d >= int(float16); };
    if (floating(important)) return important;
    if (important <= int(bool_) || floating(other)) return std::max(important, other);
    return important;
  }
  DType result() const { return DType(join(dims, join(zero_dims, numbers))); }
};

}  // namespace

void detail::raise_no_16_bit(const char* op, DType d) {
  raise<DTypeError>(op, ": has no kernel for ", d, "; convert with x.to(taper::float32) first");
}

DType result_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && !a.impl()->is_wrapped_number() && !b.impl()->is_wrapped_number()) return a.dtype();
  Groups g;
  g.add(a), g.add(b);
  return g.result();
}

DType result_type(const Tensor& a, Scalar b) {
  Groups g;
  g.add(a), g.add_number(b.dtype());
  return g.result();
}

DType result_type(Scalar a, Scalar b) {
  Groups g;
  g.add_number(a.dtype()), g.add_number(b.dtype());
  return g.result();
}

DType result_type(const TensorList& operands) {
  check<ValueError>(!operands.empty(), "result_type: needs at least one operand, got an empty list");
  Groups g;
  for (const Tensor& t : operands) g.add(t);
  return g.result();
}

IntVec broadcast_sizes(const char* op, IntSpan a, IntSpan b) {
  const IntSpan& longer = a.size() >= b.size() ? a : b;
  const IntSpan& shorter = a.size() >= b.size() ? b : a;
  IntVec out = longer.vec();
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    std::int64_t& n = out[lead + d];
    if (n == 1)
      n = shorter[d];
    else
      check<ShapeError>(shorter[d] == 1 || shorter[d] == n, op, ": shapes ", a, " and ", b,
                        " do not broadcast: dimension ", lead + d, " of the result would be both ",
                        a[a.size() - shorter.size() + d], " and ", b[b.size() - shorter.size() + d],
                        "; sizes must be equal or 1, counted from the right");
  }
  return out;
}

Device common_device(const Tensor& a, const Tensor& b) {
  const bool a_is_number = a.device().is_cpu() && a.dim() == 0;
  return a_is_number ? b.device() : a.device();
}

void check_fits(const char* op, const Scalar& value, DType dtype) {
  const bool fits = dispatch_all(dtype, [&]<class T>(Type<T>) { return value.fits<T>(); });
  check<ValueError>(fits, op, ": ", value, " cannot be stored in ", dtype,
                    "; choose a dtype that holds it, such as taper::", value.is_floating() ? "float64" : "int64");
}

}  // namespace taper
