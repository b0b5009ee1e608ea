#pragma once
#include <taper/tensor.h>

#include <span>
#include <utility>

namespace taper {

/// Whether a new tensor is to require grad. The program that says yes brings the way to do so along: lib, which makes
/// the tensor, knows of no autograd, and a program that asks for gradients and does not link it fails to link, for want
/// of Tensor::requires_grad_.
class GradRequest {
 public:
  constexpr GradRequest() = default;
  GradRequest(bool on) : fulfil_(on ? require_grad : nullptr) {}
  operator bool() const { return fulfil_ != nullptr; }
  /// Makes t require grad if that was asked for.
  void fulfil(Tensor& t) const {
    if (fulfil_) fulfil_(t);
  }

 private:
  static void require_grad(Tensor& t) { t.requires_grad_(); }
  void (*fulfil_)(Tensor&) = nullptr;
};

/// What a new tensor is, where it differs from the usual: `zeros({2, 3}, {.dtype = float64, .requires_grad = true})`.
struct TensorOptions {
  std::optional<DType> dtype = {};  ///< absent: float32, or what the values suggest
  Device device = default_device();
  GradRequest requires_grad = {};
  Layout layout = Layout::strided;  ///< nothing else is supported
};

/// Uninitialized. Throws ValueError on negative sizes and on sizes whose bytes overflow.
Tensor empty(IntSpan sizes, const TensorOptions& options = {});
Tensor empty(const TensorSpec& spec);
/// Uninitialized, with these strides: the storage reaches just to the last element.
Tensor empty_strided(IntSpan sizes, IntSpan strides, const TensorOptions& options = {});
Tensor zeros(IntSpan sizes, const TensorOptions& options = {});
Tensor ones(IntSpan sizes, const TensorOptions& options = {});
/// Without a dtype: bool, int64 or float32 after the kind of `value`.
Tensor full(IntSpan sizes, Scalar value, const TensorOptions& options = {});

inline Tensor empty(IntSpan sizes, DType dtype, Device device = default_device()) {
  return empty(sizes, TensorOptions{dtype, device});
}
inline Tensor zeros(IntSpan sizes, DType dtype, Device device = default_device()) {
  return zeros(sizes, TensorOptions{dtype, device});
}
inline Tensor ones(IntSpan sizes, DType dtype, Device device = default_device()) {
  return ones(sizes, TensorOptions{dtype, device});
}
inline Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device = default_device()) {
  return full(sizes, value, TensorOptions{dtype, device});
}

/// Same shape, dtype and device as t; dense, and in t's order of dimensions where t is dense.
Tensor empty_like(const Tensor& t, std::optional<DType> dtype = {});
Tensor zeros_like(const Tensor& t, std::optional<DType> dtype = {});
Tensor ones_like(const Tensor& t, std::optional<DType> dtype = {});
Tensor full_like(const Tensor& t, Scalar value, std::optional<DType> dtype = {});

/// start, start + step, ... below end (above it for a negative step): ceil((end - start) / step) values.
/// Without a dtype: int64 if all three are integers, else float32.
Tensor arange(Scalar start, Scalar end, Scalar step = 1, const TensorOptions& options = {});
Tensor arange(Scalar end, const TensorOptions& options = {});
/// `steps` values from start to end, both included.
Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const TensorOptions& options = {});
/// `steps` powers of base, from base^start to base^end, whose exponents are evenly spaced.
Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base = 10, const TensorOptions& options = {});
/// Ones on the diagonal of an [n, m] matrix of zeros; m defaults to n.
Tensor eye(std::int64_t n, std::optional<std::int64_t> m = {}, const TensorOptions& options = {});

// Forms that write into `out`, of its dtype and resized if it has no elements.
Tensor& zeros_out(Tensor& out, IntSpan sizes);
Tensor& ones_out(Tensor& out, IntSpan sizes);
Tensor& full_out(Tensor& out, IntSpan sizes, Scalar value);
Tensor& arange_out(Tensor& out, Scalar start, Scalar end, Scalar step = 1);
Tensor& arange_out(Tensor& out, Scalar end);
Tensor& linspace_out(Tensor& out, Scalar start, Scalar end, std::int64_t steps);
Tensor& logspace_out(Tensor& out, Scalar start, Scalar end, std::int64_t steps, double base = 10);
Tensor& eye_out(Tensor& out, std::int64_t n, std::optional<std::int64_t> m = {});

inline Tensor arange(Scalar start, Scalar end, Scalar step, DType dtype) {
  return arange(start, end, step, TensorOptions{.dtype = dtype});
}
inline Tensor arange(Scalar end, DType dtype) { return arange(end, TensorOptions{.dtype = dtype}); }
inline Tensor linspace(Scalar start, Scalar end, std::int64_t steps, DType dtype) {
  return linspace(start, end, steps, TensorOptions{.dtype = dtype});
}
inline Tensor eye(std::int64_t n, DType dtype) { return eye(n, {}, TensorOptions{.dtype = dtype}); }

/// Nested lists of numbers: what `tensor({{1, 2}, {3, 4}})` is made from.
class TensorData {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> TensorData(T value) : value_(value), is_value_(true) {}
  TensorData(std::initializer_list<TensorData> items) : items_(items) {}

 private:
  friend Tensor tensor(const TensorData& data, const TensorOptions& options);
  void measure(IntVec& sizes, DType& kind, std::size_t depth) const;
  void flatten(std::vector<Scalar>& out) const;

  Scalar value_;
  std::vector<TensorData> items_;
  bool is_value_ = false;
};
/// A tensor of the values. Without a dtype: bool, int64 or float32, after the widest kind among them.
/// Throws ShapeError if lists of one level differ in length.
Tensor tensor(const TensorData& data, const TensorOptions& options = {});
inline Tensor tensor(const TensorData& data, DType dtype) { return tensor(data, TensorOptions{.dtype = dtype}); }
inline Tensor tensor(std::initializer_list<TensorData> items, const TensorOptions& options = {}) {
  return tensor(TensorData(items), options);
}
inline Tensor tensor(std::initializer_list<TensorData> items, DType dtype) {
  return tensor(TensorData(items), TensorOptions{.dtype = dtype});
}

/// Shows memory that stays the caller's: it must outlive every tensor that shows it. Contiguous unless strides (in
/// elements) are given. The storage is not resizable. Memory of the host is on the cpu whatever the default device.
Tensor from_blob(void* data, IntSpan sizes, const TensorOptions& options = {});
Tensor from_blob(void* data, IntSpan sizes, IntSpan strides, const TensorOptions& options = {});
/// As above; `block` is given back when the last tensor lets go of it.
Tensor from_blob(DataPtr block, IntSpan sizes, IntSpan strides, const TensorOptions& options = {});
/// As above; deleter(data) runs once, when the last tensor lets go of the memory.
template <class D>
requires std::is_invocable_v<D&, void*> Tensor from_blob(void* data, IntSpan sizes, D deleter,
                                                         const TensorOptions& options = {}) {
  DataPtr block(data, new D(std::move(deleter)), 0, [](void* p, void* context, std::size_t) noexcept {
    D* d = static_cast<D*>(context);
    (*d)(p);
    delete d;
  });
  return from_blob(std::move(block), sizes, SizesAndStrides::contiguous(sizes).strides(), options);
}

/// Takes over the vector's memory without copying. Without sizes: one dimension. Throws ShapeError if they do not
/// hold exactly values.size() elements.
template <class T>
Tensor from_vector(std::vector<T>&& values, std::optional<IntVec> sizes = {}) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no bytes to take over; use uint8_t");
  const std::int64_t n = std::int64_t(values.size());
  const IntVec shape = sizes ? *sizes : IntVec{n};
  check<ShapeError>(SizesAndStrides::contiguous(shape).numel() == n, "from_vector: ", n,
                    " values do not fill a tensor of shape ", IntSpan(shape));
  auto* keep = new std::vector<T>(std::move(values));
  DataPtr block(keep->data(), keep, keep->size() * sizeof(T),
                [](void*, void* context, std::size_t) noexcept { delete static_cast<std::vector<T>*>(context); });
  return from_blob(std::move(block), shape, SizesAndStrides::contiguous(shape).strides(),
                   {.dtype = dtype_of<T>, .device = cpu});
}
/// Shows the span's elements; they stay the caller's.
template <class T>
Tensor from_span(std::span<T> values) {
  return from_blob(const_cast<void*>(static_cast<const void*>(values.data())), {std::int64_t(values.size())},
                   {.dtype = dtype_of<std::remove_const_t<T>>, .device = cpu});
}

}  // namespace taper
