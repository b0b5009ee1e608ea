#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/new_tensor_hook.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/constant_on.h"

namespace taper {
namespace {

/// Elements from the first to the last, both included. Throws on negative sizes and on overflow.
std::int64_t checked_extent(const char* op, const SizesAndStrides& geometry, DType dtype) {
  const IntSpan sizes = geometry.sizes(), strides = geometry.strides();
  std::int64_t extent = 1;
  bool is_empty = false, overflow = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    check<ValueError>(sizes[d] >= 0, op, ": sizes ", sizes, " have a negative entry");
    check<ValueError>(strides[d] >= 0, op, ": strides ", strides, " have a negative entry; flip() copies instead");
    is_empty |= sizes[d] == 0;
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach);
    overflow |= __builtin_add_overflow(extent, std::max<std::int64_t>(reach, 0), &extent);
  }
  if (is_empty) return 0;
  std::int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(extent, std::int64_t(itemsize(dtype)), &bytes);
  check<ValueError>(!overflow, op, ": a ", dtype, " tensor of sizes ", sizes, " needs more bytes than an int64 counts");
  return extent;
}

/// The same for a dense tensor, where the number of elements is what can overflow.
SizesAndStrides checked_contiguous(const char* op, IntSpan sizes) {
  std::int64_t n = 1;
  bool overflow = false, is_empty = false;
  for (std::int64_t s : sizes) {
    check<ValueError>(s >= 0, op, ": sizes ", sizes, " have a negative entry");
    is_empty |= s == 0;
    overflow |= __builtin_mul_overflow(n, std::max<std::int64_t>(s, 1), &n);
  }
  check<ValueError>(!overflow || is_empty, op, ": sizes ", sizes, " have more elements than an int64 counts");
  return SizesAndStrides::contiguous(sizes);
}

Tensor allocate(const char* op, SizesAndStrides geometry, DType dtype, Device device) {
  const std::int64_t extent = checked_extent(op, geometry, dtype);
  auto storage = make_intrusive<StorageImpl>(std::size_t(extent) * itemsize(dtype), device);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), dtype, std::move(geometry)));
}

Tensor finish(const char* factory, Tensor t, const TensorOptions& options) {
  check<NotImplementedError>(options.layout == Layout::strided, factory,
                             ": there are strided tensors only, sparse ones are not supported");
  if (ExcludedKeys::watching()) [[unlikely]]
    detail::new_tensor_hook(t, factory);
  options.requires_grad.fulfil(t);
  return t;
}

Tensor filled(Tensor t, Scalar value) {
  if (t.device().is_meta()) return t;
  if (value.is_zero() && t.device().is_cpu() && t.is_contiguous()) {
    if (t.numel()) std::memset(t.impl()->data(), 0, t.nbytes());
    return t;
  }
  ops::fill.compute(t, t, value);
  return t;
}

DType dtype_or(const TensorOptions& options, DType otherwise) { return options.dtype.value_or(otherwise); }
DType default_dtype_of(Scalar v) { return v.is_floating() ? float32 : v.dtype(); }

/// Values made on the cpu and moved to the device they are asked for.
template <class F>
Tensor computed(const char* factory, IntSpan sizes, DType dtype, const TensorOptions& options, F&& fill) {
  Tensor t = empty(sizes, TensorOptions{dtype, options.device.is_meta() ? meta : cpu});
  if (!t.device().is_meta()) fill(t);
  if (t.device() != options.device) t = constant_on(options.device, t);
  return finish(factory, t, options);
}

}  // namespace

Tensor empty(const TensorSpec& spec) {
  // Sizes of a spec were checked when it was inferred, except for the product that only now becomes bytes.
  return allocate("empty", spec.geometry, spec.dtype, spec.device);
}
Tensor empty(IntSpan sizes, const TensorOptions& o) {
  return finish("empty", allocate("empty", checked_contiguous("empty", sizes), dtype_or(o, float32), o.device), o);
}
Tensor empty_strided(IntSpan sizes, IntSpan strides, const TensorOptions& o) {
  check<ShapeError>(sizes.size() == strides.size(), "empty_strided: ", sizes.size(), " sizes but ", strides.size(),
                    " strides");
  return finish("empty_strided",
                allocate("empty_strided", SizesAndStrides(sizes, strides), dtype_or(o, float32), o.device), o);
}
Tensor zeros(IntSpan sizes, const TensorOptions& o) {
  return finish("zeros",
                filled(allocate("zeros", checked_contiguous("zeros", sizes), dtype_or(o, float32), o.device), 0), o);
}
Tensor ones(IntSpan sizes, const TensorOptions& o) {
  return finish("ones", filled(allocate("ones", checked_contiguous("ones", sizes), dtype_or(o, float32), o.device), 1),
                o);
}
Tensor full(IntSpan sizes, Scalar value, const TensorOptions& o) {
  const DType dtype = dtype_or(o, default_dtype_of(value));
  check_fits("full", value, dtype);
  return finish("full", filled(allocate("full", checked_contiguous("full", sizes), dtype, o.device), value), o);
}

Tensor empty_like(const Tensor& t, std::optional<DType> dtype) {
  const SizesAndStrides& g = t.impl()->geometry();
  const DType d = dtype.value_or(t.dtype());
  if (t.is_contiguous()) return empty(TensorSpec{SizesAndStrides::contiguous(g.sizes()), d, t.device()});
  // Dense in another order of dimensions: the strides say how far the last element is.
  std::int64_t last = 0;
  for (int i = 0; i < g.rank(); ++i) last += (g.sizes()[std::size_t(i)] - 1) * g.strides()[std::size_t(i)];
  const bool dense = last + 1 == t.numel() && !overlaps_itself(t);
  return empty(TensorSpec{dense ? g : SizesAndStrides::contiguous(g.sizes()), d, t.device()});
}
Tensor full_like(const Tensor& t, Scalar value, std::optional<DType> dtype) {
  return filled(empty_like(t, dtype), value);
}
Tensor zeros_like(const Tensor& t, std::optional<DType> dtype) { return full_like(t, 0, dtype); }
Tensor ones_like(const Tensor& t, std::optional<DType> dtype) { return full_like(t, 1, dtype); }

Tensor arange(Scalar start, Scalar end, Scalar step, const TensorOptions& o) {
  const bool floating = start.is_floating() || end.is_floating() || step.is_floating();
  const DType dtype = dtype_or(o, floating ? float32 : int64);
  check<DTypeError>(dtype != DType::bool_, "arange: is not defined for bool");
  const double a = start.to<double>(), b = end.to<double>(), s = step.to<double>();
  check<ValueError>(s != 0, "arange: step must not be 0");
  check<ValueError>(std::isfinite(a) && std::isfinite(b) && !std::isnan(s), "arange: range ", start, " to ", end,
                    " by ", step, " is not finite");
  check<ValueError>(s > 0 ? a <= b : a >= b, "arange: from ", start, " to ", end, " leads away from a step of ", step);
  std::int64_t n = 0;
  if (floating) {
    const double count = std::ceil((b - a) / s);
    check<ValueError>(count < 9e18, "arange: from ", start, " to ", end, " by ", step, " has too many elements");
    n = std::int64_t(count);
  } else {
    const std::int64_t ia = start.to<std::int64_t>(), ib = end.to<std::int64_t>(), is = step.to<std::int64_t>();
    // In unsigned arithmetic the distance always fits.
    const auto distance = is > 0 ? std::uint64_t(ib) - std::uint64_t(ia) : std::uint64_t(ia) - std::uint64_t(ib);
    const auto by = is > 0 ? std::uint64_t(is) : 0 - std::uint64_t(is);
    const std::uint64_t count = distance / by + (distance % by != 0);
    check<ValueError>(count <= std::uint64_t(std::numeric_limits<std::int64_t>::max()), "arange: from ", start, " to ",
                      end, " by ", step, " has too many elements");
    n = std::int64_t(count);
  }
  return computed("arange", {n}, dtype, o, [&](Tensor& t) {
    dispatch_all(dtype, [&]<class T>(Type<T>) {
      T* p = static_cast<T*>(t.impl()->data());
      if constexpr (!std::is_integral_v<T>) {
        for (std::int64_t i = 0; i < n; ++i) p[i] = T(a + double(i) * s);
      } else {
        const auto first = start.to<std::int64_t>(), by = step.to<std::int64_t>();
        if (floating)  // the values are truncated one by one, as torch does
          for (std::int64_t i = 0; i < n; ++i) p[i] = T(std::int64_t(first + i * by));
        else
          for (std::int64_t i = 0; i < n; ++i) p[i] = T(first + i * by);
      }
    });
  });
}
Tensor arange(Scalar end, const TensorOptions& o) {
  return end.is_floating() ? arange(0.0, end, 1, o) : arange(0, end, 1, o);
}

Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const TensorOptions& o) {
  check<ValueError>(steps >= 0, "linspace: steps must not be negative, got ", steps);
  const DType dtype = dtype_or(o, float32);
  check<DTypeError>(dtype != DType::bool_, "linspace: is not defined for bool");
  return computed("linspace", {steps}, dtype, o, [&](Tensor& t) {
    dispatch_all(dtype, [&]<class T>(Type<T>) {
      // Both halves count from their own end, so that the ends are exact and the values symmetric.
      T* p = static_cast<T*>(t.impl()->data());
      const double a = start.to<double>(), b = end.to<double>();
      const double step = steps > 1 ? (b - a) / double(steps - 1) : 0;
      for (std::int64_t i = 0; i < steps; ++i)
        p[i] = T(i < (steps + 1) / 2 || steps == 1 ? a + step * double(i) : b - step * double(steps - 1 - i));
    });
  });
}

Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base, const TensorOptions& o) {
  check<ValueError>(steps >= 0, "logspace: steps must not be negative, got ", steps);
  const DType dtype = dtype_or(o, float32);
  check<DTypeError>(dtype != DType::bool_, "logspace: is not defined for bool");
  return computed("logspace", {steps}, dtype, o, [&](Tensor& t) {
    dispatch_all(dtype, [&]<class T>(Type<T>) {
      T* p = static_cast<T*>(t.impl()->data());
      const double a = start.to<double>(), b = end.to<double>();
      const double step = steps > 1 ? (b - a) / double(steps - 1) : 0;
      for (std::int64_t i = 0; i < steps; ++i) {
        const double exponent =
            i < (steps + 1) / 2 || steps == 1 ? a + step * double(i) : b - step * double(steps - 1 - i);
        p[i] = T(std::pow(base, exponent));
      }
    });
  });
}

Tensor Tensor::new_empty(IntSpan sizes, std::optional<DType> d) const {
  return empty(sizes, d.value_or(dtype()), device());
}
Tensor Tensor::new_zeros(IntSpan sizes, std::optional<DType> d) const {
  return zeros(sizes, d.value_or(dtype()), device());
}
Tensor Tensor::new_ones(IntSpan sizes, std::optional<DType> d) const {
  return ones(sizes, d.value_or(dtype()), device());
}
Tensor Tensor::new_full(IntSpan sizes, Scalar value, std::optional<DType> d) const {
  return full(sizes, value, d.value_or(dtype()), device());
}

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, const TensorOptions& o) {
  const std::int64_t columns = m.value_or(n);
  check<ValueError>(n >= 0 && columns >= 0, "eye: sizes must not be negative, got ", n, " and ", columns);
  const DType dtype = dtype_or(o, float32);
  return computed("eye", {n, columns}, dtype, o, [&](Tensor& t) {
    filled(t, 0);
    dispatch_all(dtype, [&]<class T>(Type<T>) {
      T* p = static_cast<T*>(t.impl()->data());
      for (std::int64_t i = 0; i < std::min(n, columns); ++i) p[i * (columns + 1)] = T(1);
    });
  });
}

void TensorData::measure(IntVec& sizes, DType& kind, std::size_t depth) const {
  if (is_value_) {
    check<ShapeError>(depth == sizes.size(), "tensor: a number stands beside a list at depth ", std::int64_t(depth));
    kind = promote_types(kind, value_.dtype());
    return;
  }
  const std::int64_t n = std::int64_t(items_.size());
  if (depth == sizes.size()) sizes.push_back(n);
  check<ShapeError>(sizes[depth] == n, "tensor: lists at depth ", std::int64_t(depth), " have ", sizes[depth], " and ",
                    n, " entries; all lists of one depth must have the same length");
  for (const TensorData& item : items_) item.measure(sizes, kind, depth + 1);
}
void TensorData::flatten(std::vector<Scalar>& out) const {
  if (is_value_) return out.push_back(value_);
  for (const TensorData& item : items_) item.flatten(out);
}

Tensor tensor(const TensorData& data, const TensorOptions& o) {
  IntVec sizes;
  // The first path down to a number fixes the depth; measure() compares every other with it.
  for (const TensorData* d = &data; !d->is_value_; d = &d->items_.front()) {
    sizes.push_back(std::int64_t(d->items_.size()));
    if (d->items_.empty()) break;
  }
  DType kind = DType::bool_;
  data.measure(sizes, kind, 0);
  std::vector<Scalar> values;
  data.flatten(values);
  if (values.empty() || kind == DType::float64) kind = float32;
  const DType dtype = dtype_or(o, kind);
  for (const Scalar& value : values) check_fits("tensor", value, dtype);
  return computed("tensor", sizes, dtype, o, [&](Tensor& t) {
    dispatch_all(dtype, [&]<class T>(Type<T>) {
      T* p = static_cast<T*>(t.impl()->data());
      for (std::size_t i = 0; i < values.size(); ++i) p[i] = values[i].to<T>();
    });
  });
}

Tensor from_blob(DataPtr block, IntSpan sizes, IntSpan strides, const TensorOptions& o) {
  check<ShapeError>(sizes.size() == strides.size(), "from_blob: ", sizes.size(), " sizes but ", strides.size(),
                    " strides");
  const DType dtype = dtype_or(o, float32);
  SizesAndStrides geometry(sizes, strides);
  const std::int64_t extent = checked_extent("from_blob", geometry, dtype);
  check<ValueError>(block.get() != nullptr || extent == 0, "from_blob: data is null but sizes ", sizes, " need ",
                    extent * std::int64_t(itemsize(dtype)), " bytes");
  // A device that nobody named is where the memory is.
  const bool on_host =
      o.device.is_cuda() && o.device == default_device() && !cuda::detail::is_device_memory(block.get());
  auto storage =
      make_intrusive<StorageImpl>(std::move(block), std::size_t(extent) * itemsize(dtype), on_host ? cpu : o.device);
  return finish("from_blob", Tensor(make_intrusive<TensorImpl>(std::move(storage), dtype, std::move(geometry))), o);
}
Tensor from_blob(void* data, IntSpan sizes, IntSpan strides, const TensorOptions& o) {
  return from_blob(DataPtr(data, nullptr, 0, nullptr), sizes, strides, o);
}
Tensor from_blob(void* data, IntSpan sizes, const TensorOptions& o) {
  return from_blob(data, sizes, checked_contiguous("from_blob", sizes).strides(), o);
}

}  // namespace taper
