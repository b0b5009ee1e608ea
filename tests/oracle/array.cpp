#include "array.h"

#include <taper/factory.h>
#include <taper/operator.h>

#include <cmath>
#include <cstdio>

namespace oracle {
namespace {

/// Calls f(linear index, element index in the storage) for each element in row-major order.
template <class F>
void for_each_element(const Tensor& t, F f) {
  const IntVec sizes = t.sizes().vec(), strides = t.strides().vec();
  IntVec at(sizes.size(), 0);
  std::int64_t place = t.storage_offset();
  for (std::int64_t n = 0, count = t.numel(); n < count; ++n) {
    f(std::size_t(n), place);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      place += strides[d];
      if (++at[d] < sizes[d]) break;
      place -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
}

std::string to_text(double v) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.12g", v);
  return buffer;
}

bool is_close(double got, double want, Tolerance tol) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::abs(got - want) <= tol.atol + tol.rtol * std::abs(want);
}

IntVec position(std::size_t n, const IntVec& shape) {
  IntVec at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    at[d] = std::int64_t(n % std::size_t(shape[d]));
    n /= std::size_t(shape[d]);
  }
  return at;
}

}  // namespace

std::string to_text(taper::IntSpan v) {
  std::string s;
  taper::append_to(s, v);
  return s;
}

DType dtype_named(const std::string& name) {
  for (DType d : taper::kAllDTypes)
    if (name == taper::name_of(d)) return d;
  throw Skip{"dtype " + name};
}

Tensor make_tensor(const Array& a) {
  Tensor t = taper::zeros(a.shape, dtype_named(a.dtype), taper::cpu);
  // Written behind the version counter's back: a new tensor has version 0.
  taper::dispatch_all(t.dtype(), [&]<class T>(taper::Type<T>) {
    T* out = static_cast<T*>(t.storage()->data());
    if (a.floating)
      for (std::size_t i = 0; i < a.reals.size(); ++i) out[i] = static_cast<T>(a.reals[i]);
    else
      for (std::size_t i = 0; i < a.integers.size(); ++i) out[i] = static_cast<T>(a.integers[i]);
  });
  return t.to(taper::default_device());
}

Array read(const Tensor& where_it_is) {
  const Tensor t = where_it_is.detach().to(taper::cpu);
  Array a{.dtype = taper::name_of(t.dtype()), .shape = t.sizes().vec(), .floating = t.is_floating_point()};
  a.reals.resize(a.floating ? std::size_t(t.numel()) : 0);
  a.integers.resize(a.floating ? 0 : std::size_t(t.numel()));
  taper::dispatch_all(t.dtype(), [&]<class T>(taper::Type<T>) {
    const T* in = static_cast<const T*>(t.storage()->data());
    for_each_element(t, [&](std::size_t n, std::int64_t place) {
      if (a.floating)
        a.reals[n] = static_cast<double>(in[place]);
      else
        a.integers[n] = static_cast<std::int64_t>(in[place]);
    });
  });
  return a;
}

std::string difference(const Array& got, const Array& want, Tolerance tol) {
  if (got.dtype != want.dtype) return "dtype " + got.dtype + ", expected " + want.dtype;
  if (got.shape != want.shape) return "shape " + to_text(got.shape) + ", expected " + to_text(want.shape);
  const std::size_t count = want.floating ? want.reals.size() : want.integers.size();
  std::size_t bad = 0, first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool ok = want.floating ? is_close(got.reals[i], want.reals[i], tol) : got.integers[i] == want.integers[i];
    if (!ok && bad++ == 0) first = i;
  }
  if (bad == 0) return {};
  return "element " + to_text(position(first, want.shape)) + " is " +
         (want.floating ? to_text(got.reals[first]) : std::to_string(got.integers[first])) + ", expected " +
         (want.floating ? to_text(want.reals[first]) : std::to_string(want.integers[first])) + " (" +
         std::to_string(bad) + " of " + std::to_string(count) + " differ)";
}

std::string difference(const Tensor& got, const Array& want, Tolerance tol) {
  if (!got.defined()) return "undefined, expected " + want.dtype + to_text(want.shape);
  if (got.device().is_meta()) {  // has no elements to compare
    const Array shape{.dtype = taper::name_of(got.dtype()), .shape = got.sizes().vec()};
    return difference(shape, {.dtype = want.dtype, .shape = want.shape}, tol);
  }
  return difference(read(got), want, tol);
}

namespace {
/// All bytes of the tensor's memory.
std::string memory_of(const Tensor& t) {
  if (t.device().is_meta()) return {};
  const taper::Storage& storage = t.storage();
  const auto bytes = std::int64_t(storage->bytes());
  const Tensor all(
      taper::make_intrusive<taper::TensorImpl>(storage, taper::uint8, taper::SizesAndStrides::contiguous({bytes})));
  const Tensor here = all.to(taper::cpu);
  return std::string(static_cast<const char*>(here.storage()->data()), std::size_t(bytes));
}
}  // namespace

Snapshot::Snapshot(const Tensor& t)
    : t_(t),
      sizes_(t.sizes().vec()),
      strides_(t.strides().vec()),
      offset_(t.storage_offset()),
      version_(t.version()),
      storage_(t.storage()->id()),
      bytes_(memory_of(t)) {}

std::string Snapshot::change(bool may_be_written) const {
  if (t_.sizes().vec() != sizes_) return "shape is now " + to_text(t_.sizes()) + ", was " + to_text(sizes_);
  if (t_.strides().vec() != strides_) return "strides are now " + to_text(t_.strides()) + ", were " + to_text(strides_);
  if (t_.storage_offset() != offset_ || t_.storage()->id() != storage_) return "shows other memory now";
  if (bytes_ != memory_of(t_)) return "elements were written";
  if (t_.version() != version_ && !may_be_written) return "version was counted up without a write";
  return {};
}

}  // namespace oracle
