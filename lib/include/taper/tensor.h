#pragma once
#include <taper/grad_mode.h>
#include <taper/memory_format.h>
#include <taper/scalar.h>
#include <taper/tensor_impl.h>

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace taper {

class HookHandle;
class Node;
class Tensor;
class TensorIndex;
struct TensorOptions;
using TensorList = std::vector<Tensor>;

/// Shape, strides, dtype and device of a tensor that need not exist (yet).
struct TensorSpec {
  SizesAndStrides geometry;
  DType dtype = float32;
  Device device = cpu;

  static TensorSpec contiguous(IntSpan sizes, DType dtype, Device device) {
    return {SizesAndStrides::contiguous(sizes), dtype, device};
  }
  IntSpan sizes() const { return geometry.sizes(); }
  IntSpan strides() const { return geometry.strides(); }
  int dim() const { return geometry.rank(); }
};
/// Appends "float32[2, 3] on cpu".
void append_to(std::string& s, const TensorSpec& t);

/// A counted handle to a tensor: copying it shares the tensor. A default-made handle is "undefined": it holds none.
///
/// Elementwise operations, reductions, ... exist as methods here and as functions of the same name in
/// <taper/ops/...>, where they are documented. A method whose name ends in _ writes into this tensor and returns it.
class Tensor {
 public:
  Tensor() = default;
  /// Throws if impl is null; an undefined tensor is `Tensor()`.
  explicit Tensor(IntrusivePtr<TensorImpl> impl);
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// x[0] = y writes into what the view on the left shows, as copy_() does; x[0] = 2.0 fills it. Throws ValueError if
  /// the left is a copy that nothing else sees, as x.index({mask}) is: that takes index_put_().
  void operator=(const Tensor& src) &&;
  void operator=(Scalar value) &&;

  bool defined() const noexcept { return bool(impl_); }
  TensorImpl* impl() const noexcept { return impl_.get(); }
  const IntrusivePtr<TensorImpl>& impl_ptr() const noexcept { return impl_; }
  /// Whether both handles hold the same tensor (or none).
  bool is_same(const Tensor& o) const noexcept { return impl_ == o.impl_; }
  std::uint32_t use_count() const noexcept { return impl_ ? impl_->use_count() : 0; }

  // Shape and place. All throw on an undefined tensor.
  IntSpan sizes() const { return get().geometry().sizes(); }
  IntSpan strides() const { return get().geometry().strides(); }
  /// Negative d counts from the end. Throws IndexError.
  std::int64_t size(std::int64_t d) const { return sizes()[wrapped_dim(d)]; }
  std::int64_t stride(std::int64_t d) const { return strides()[wrapped_dim(d)]; }
  int dim() const { return get().geometry().rank(); }
  std::int64_t numel() const { return get().numel(); }
  DType dtype() const { return get().dtype(); }
  Device device() const { return get().device(); }
  std::int64_t storage_offset() const { return get().offset(); }
  const Storage& storage() const { return get().storage(); }
  bool is_contiguous() const { return get().is_contiguous(); }
  /// Whether the elements lie densely in this order.
  bool is_contiguous(MemoryFormat format) const;
  bool is_floating_point() const { return is_floating(dtype()); }
  std::size_t element_size() const { return itemsize(dtype()); }
  /// numel() * element_size(): the bytes of the elements, not of the storage.
  std::size_t nbytes() const { return std::size_t(numel()) * element_size(); }
  /// Whether dim d (any sign) exists; its index.
  std::size_t wrapped_dim(std::int64_t d) const;
  TensorSpec spec() const { return {get().geometry(), dtype(), device()}; }
  TensorOptions options() const;
  DispatchKeySet key_set() const { return get().keys(); }
  /// True if both show the same storage.
  bool is_alias_of(const Tensor& o) const { return storage() == o.storage(); }
  /// Writes to the storage so far; shared by every alias.
  std::uint32_t version() const { return storage()->version(); }
  std::uint32_t _version() const { return version(); }
  /// Whether its memory was made in InferenceMode.
  bool is_inference() const { return storage()->is_inference(); }
  /// Whether this is a view that remembers its base.
  bool is_view() const { return bool(get().base()); }

  // Memory
  /// Elements for reading. T must match dtype(); the device must be cpu. Element i is at strides, not at i.
  template <class T>
  const T* data() const {
    return static_cast<const T*>(readable(dtype_of<T>));
  }
  /// Elements for writing; counts as a write by "mutable_data".
  template <class T>
  T* mutable_data() {
    return static_cast<T*>(writable(dtype_of<T>));
  }
  const void* data_ptr() const { return get().data(); }
  /// The value of a one-element tensor. Throws ShapeError otherwise, ValueError if a T cannot hold it.
  template <class T>
  T item() const {
    const Scalar value = scalar();
    if (!value.fits<T>()) [[unlikely]]
      raise_out_of_range(value);
    return value.to<T>();
  }
  /// The value of a one-element tensor with its kind. Throws ShapeError otherwise.
  Scalar scalar() const;
  Scalar item() const { return scalar(); }
  /// The elements in row-major order.
  template <class T>
  std::vector<T> to_vector() const {
    const Tensor t = dense_copy(dtype_of<T>);
    const T* p = t.data<T>();
    return std::vector<T>(p, p + t.numel());
  }

  // Dimension names: rare, so kept in a block of their own.
  void set_names(std::vector<std::string> names);
  std::vector<std::string> names() const;

  // Autograd. Defined by the autograd layer: lib only declares them, so lib compiles and tests without autograd,
  // and a program that calls one of them must link it.
  bool requires_grad() const;
  Tensor& requires_grad_(bool on = true);
  bool is_leaf() const;
  /// The gradient accumulated so far; undefined if none.
  Tensor grad() const;
  /// Replaces the gradient; same shape, dtype and device, or undefined to drop it.
  void set_grad(const Tensor& g);
  /// Drops the gradient (set_to_none) or fills it with zeros.
  void zero_grad(bool set_to_none = true);
  IntrusivePtr<Node> grad_fn() const;
  std::uint32_t output_nr() const;
  /// Accumulates d self / d leaf into every leaf's grad(). `gradient` weights a self of several elements.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {}, bool create_graph = false,
                const TensorList& inputs = {}) const;
  /// Keeps the gradient of a tensor that is not a leaf in grad().
  void retain_grad() const;
  bool retains_grad() const;
  /// Calls the function with this tensor's gradient, or, for a leaf, when its grad() has been updated:
  /// <taper/autograd/hooks.h>.
  template <class F>
  HookHandle register_hook(F hook) const;
  template <class F>
  HookHandle register_post_accumulate_grad_hook(F hook) const;
  /// Takes the memory, shape and dtype of `src`, keeping this tensor's identity, requires_grad and grad.
  void set_data(const Tensor& src);
  /// Cuts this tensor off its history. Throws on views.
  Tensor& detach_();
  /// Same memory, no history.
  Tensor detach() const;

  // Copies and conversions
  Tensor clone() const;
  Tensor contiguous() const;
  /// This tensor if its elements lie densely in this order, else a copy that does. Differentiable.
  Tensor contiguous(MemoryFormat format) const;
  Tensor to(DType dtype, bool copy = false) const;
  Tensor to(Device device, bool copy = false) const;
  Tensor to(Device device, DType dtype, bool copy = false) const;
  Tensor& copy_(const Tensor& src);
  Tensor& fill_(Scalar value);
  Tensor& fill_(const Tensor& value);
  Tensor& zero_();
  Tensor& resize_(IntSpan sizes);
  /// Uniform in [from, to), normal, ... : see <taper/random.h>.
  Tensor& uniform_(double from = 0, double to = 1);
  Tensor& normal_(double mean = 0, double std = 1);
  Tensor& bernoulli_(double p = 0.5);
  Tensor& random_(std::int64_t from, std::int64_t to);

  // Views: <taper/ops/view.h>
  Tensor view(IntSpan sizes) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape(IntSpan sizes) const;
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  Tensor permute(IntSpan dims) const;
  Tensor t() const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor expand(IntSpan sizes) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  Tensor select(std::int64_t dim, std::int64_t index) const;
  Tensor slice(std::int64_t dim = 0, std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {},
               std::int64_t step = 1) const;
  Tensor as_strided(IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset = {}) const;
  Tensor unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const;
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1) const;
  TensorList split(std::int64_t split_size, std::int64_t dim = 0) const;
  TensorList split(IntSpan split_sizes, std::int64_t dim = 0) const = delete;  // use split_with_sizes
  TensorList split_with_sizes(IntSpan split_sizes, std::int64_t dim = 0) const;
  TensorList chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  TensorList unbind(std::int64_t dim = 0) const;
  Tensor& t_();
  Tensor& transpose_(std::int64_t dim0, std::int64_t dim1);
  Tensor& squeeze_();
  Tensor& squeeze_(std::int64_t dim);
  Tensor& unsqueeze_(std::int64_t dim);

  // The elements in other places: <taper/ops/rearrange.h>
  Tensor repeat(IntSpan repeats) const;
  Tensor tile(IntSpan repeats) const;
  Tensor flip(IntSpan dims) const;
  Tensor fliplr() const;
  Tensor flipud() const;
  Tensor roll(IntSpan shifts, IntSpan dims = {}) const;

  // Indexing: <taper/ops/index.h>
  Tensor index(std::initializer_list<TensorIndex> indices) const;
  Tensor index(const std::vector<TensorIndex>& indices) const;
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value);
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, Scalar value);
  Tensor& index_put_(const std::vector<TensorIndex>& indices, const Tensor& value);
  Tensor& index_put_(const std::vector<TensorIndex>& indices, Scalar value);
  Tensor operator[](std::int64_t i) const { return select(0, i); }
  Tensor index_select(std::int64_t dim, const Tensor& index) const;
  Tensor gather(std::int64_t dim, const Tensor& index) const;
  Tensor masked_fill(const Tensor& mask, Scalar value) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;
  Tensor& masked_fill_(const Tensor& mask, Scalar value);
  Tensor& masked_fill_(const Tensor& mask, const Tensor& value);
  Tensor masked_select(const Tensor& mask) const;
  Tensor nonzero() const;

  // Pointwise: <taper/ops/pointwise.h>
  Tensor add(const Tensor& other, Scalar alpha = 1) const;
  Tensor add(Scalar other, Scalar alpha = 1) const;
  Tensor& add_(const Tensor& other, Scalar alpha = 1);
  Tensor& add_(Scalar other, Scalar alpha = 1);
  Tensor sub(const Tensor& other, Scalar alpha = 1) const;
  Tensor sub(Scalar other, Scalar alpha = 1) const;
  Tensor& sub_(const Tensor& other, Scalar alpha = 1);
  Tensor& sub_(Scalar other, Scalar alpha = 1);
  Tensor mul(const Tensor& other) const;
  Tensor mul(Scalar other) const;
  Tensor& mul_(const Tensor& other);
  Tensor& mul_(Scalar other);
  Tensor div(const Tensor& other) const;
  Tensor div(Scalar other) const;
  Tensor& div_(const Tensor& other);
  Tensor& div_(Scalar other);
  Tensor pow(const Tensor& exponent) const;
  Tensor pow(Scalar exponent) const;
  Tensor& pow_(const Tensor& exponent);
  Tensor& pow_(Scalar exponent);
  Tensor maximum(const Tensor& other) const;
  Tensor minimum(const Tensor& other) const;
  Tensor clamp(std::optional<Scalar> min = {}, std::optional<Scalar> max = {}) const;
  Tensor& clamp_(std::optional<Scalar> min = {}, std::optional<Scalar> max = {});
  Tensor clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max = {}) const;
  Tensor& clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max = {});
  Tensor clamp_min(Scalar min) const;
  Tensor clamp_min(const Tensor& min) const;
  Tensor& clamp_min_(const Tensor& min);
  Tensor clamp_max(const Tensor& max) const;
  Tensor& clamp_max_(const Tensor& max);
  Tensor& clamp_min_(Scalar min);
  Tensor clamp_max(Scalar max) const;
  Tensor& clamp_max_(Scalar max);
  Tensor eq(const Tensor& other) const;
  Tensor eq(Scalar other) const;
  Tensor& eq_(const Tensor& other);
  Tensor& eq_(Scalar other);
  Tensor ne(const Tensor& other) const;
  Tensor ne(Scalar other) const;
  Tensor& ne_(const Tensor& other);
  Tensor& ne_(Scalar other);
  Tensor lt(const Tensor& other) const;
  Tensor lt(Scalar other) const;
  Tensor& lt_(const Tensor& other);
  Tensor& lt_(Scalar other);
  Tensor le(const Tensor& other) const;
  Tensor le(Scalar other) const;
  Tensor& le_(const Tensor& other);
  Tensor& le_(Scalar other);
  Tensor gt(const Tensor& other) const;
  Tensor gt(Scalar other) const;
  Tensor& gt_(const Tensor& other);
  Tensor& gt_(Scalar other);
  Tensor ge(const Tensor& other) const;
  Tensor ge(Scalar other) const;
  Tensor& ge_(const Tensor& other);
  Tensor& ge_(Scalar other);
  Tensor logical_and(const Tensor& other) const;
  Tensor& logical_and_(const Tensor& other);
  Tensor logical_or(const Tensor& other) const;
  Tensor& logical_or_(const Tensor& other);
  Tensor logical_xor(const Tensor& other) const;
  Tensor& logical_xor_(const Tensor& other);
  Tensor logical_not() const;
  Tensor& logical_not_();
  Tensor abs() const;
  Tensor& abs_();
  Tensor neg() const;
  Tensor& neg_();
  Tensor exp() const;
  Tensor& exp_();
  Tensor log() const;
  Tensor& log_();
  Tensor sqrt() const;
  Tensor& sqrt_();
  Tensor rsqrt() const;
  Tensor& rsqrt_();
  Tensor square() const;
  Tensor& square_();
  Tensor reciprocal() const;
  Tensor& reciprocal_();
  Tensor tanh() const;
  Tensor& tanh_();
  Tensor sigmoid() const;
  Tensor& sigmoid_();
  Tensor relu() const;
  Tensor& relu_();
  Tensor sin() const;
  Tensor& sin_();
  Tensor cos() const;
  Tensor& cos_();
  Tensor sign() const;
  Tensor& sign_();
  Tensor isnan() const;
  Tensor isfinite() const;
  Tensor isinf() const;

  // More functions: <taper/ops/math.h>
  Tensor expm1() const;
  Tensor& expm1_();
  Tensor exp2() const;
  Tensor& exp2_();
  Tensor log1p() const;
  Tensor& log1p_();
  Tensor log2() const;
  Tensor& log2_();
  Tensor log10() const;
  Tensor& log10_();
  Tensor tan() const;
  Tensor& tan_();
  Tensor asin() const;
  Tensor& asin_();
  Tensor acos() const;
  Tensor& acos_();
  Tensor atan() const;
  Tensor& atan_();
  Tensor sinh() const;
  Tensor& sinh_();
  Tensor cosh() const;
  Tensor& cosh_();
  Tensor asinh() const;
  Tensor& asinh_();
  Tensor acosh() const;
  Tensor& acosh_();
  Tensor atanh() const;
  Tensor& atanh_();
  Tensor erf() const;
  Tensor& erf_();
  Tensor erfc() const;
  Tensor& erfc_();
  Tensor floor() const;
  Tensor& floor_();
  Tensor ceil() const;
  Tensor& ceil_();
  Tensor trunc() const;
  Tensor& trunc_();
  Tensor round() const;
  Tensor& round_();

  // Reductions: <taper/ops/reduce.h>
  Tensor sum(std::optional<DType> dtype = {}) const;
  Tensor sum(IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor mean(std::optional<DType> dtype = {}) const;
  Tensor mean(IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor var(std::int64_t correction = 1) const;
  Tensor var(IntSpan dims, std::int64_t correction = 1, bool keepdim = false) const;
  Tensor max() const;
  Tensor min() const;
  std::tuple<Tensor, Tensor> max(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(std::int64_t dim, bool keepdim = false) const;
  Tensor amax(IntSpan dims = {}, bool keepdim = false) const;
  Tensor amin(IntSpan dims = {}, bool keepdim = false) const;
  Tensor argmax(std::optional<std::int64_t> dim = {}, bool keepdim = false) const;
  Tensor argmin(std::optional<std::int64_t> dim = {}, bool keepdim = false) const;
  Tensor all() const;
  Tensor all(std::int64_t dim, bool keepdim = false) const;
  Tensor any() const;
  Tensor any(std::int64_t dim, bool keepdim = false) const;
  Tensor softmax(std::int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor log_softmax(std::int64_t dim, std::optional<DType> dtype = {}) const;

  // Products: <taper/ops/matmul.h>
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor mv(const Tensor& vec) const;
  Tensor dot(const Tensor& other) const;

  // Comparison of whole tensors: <taper/ops/compare.h>
  bool equal(const Tensor& other) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;

  Tensor& operator+=(const Tensor& o) { return add_(o); }
  Tensor& operator-=(const Tensor& o) { return sub_(o); }
  Tensor& operator*=(const Tensor& o) { return mul_(o); }
  Tensor& operator/=(const Tensor& o) { return div_(o); }
  Tensor& operator+=(Scalar o) { return add_(o); }
  Tensor& operator-=(Scalar o) { return sub_(o); }
  Tensor& operator*=(Scalar o) { return mul_(o); }
  Tensor& operator/=(Scalar o) { return div_(o); }
  Tensor operator-() const { return neg(); }

 private:
  TensorImpl& get() const {
    if (!impl_) [[unlikely]]
      raise_undefined();
    return *impl_;
  }
  [[noreturn]] static void raise_undefined();
  void check_seen_by_others() const;
  [[noreturn]] static void raise_out_of_range(const Scalar& value);
  const void* readable(DType d) const;
  void* writable(DType d);
  Tensor dense_copy(DType d) const;

  IntrusivePtr<TensorImpl> impl_;
};
static_assert(sizeof(Tensor) == sizeof(void*));

/// Makes a tensor whose impl is a T (a subclass of TensorImpl with state of its own).
template <class T = TensorImpl, class... A>
Tensor make_tensor(A&&... a) {
  static_assert(std::is_same_v<decltype(&T::shallow_copy_and_detach), IntrusivePtr<TensorImpl> (T::*)(bool) const> &&
                    std::is_same_v<decltype(&T::shallow_copy_from), void (T::*)(const TensorImpl&)>,
                "a TensorImpl subclass must override shallow_copy_and_detach and shallow_copy_from, or detach() would "
                "lose its state");
  return Tensor(make_intrusive<T>(std::forward<A>(a)...));
}

/// The tensor as text, as PyTorch prints it: values in aligned columns, then what differs from the defaults.
std::string to_string(const Tensor& t);
std::ostream& operator<<(std::ostream& os, const Tensor& t);
/// "float32[2, 3] on cpu", or "undefined".
void append_to(std::string& s, const Tensor& t);
/// One line with everything a tensor is: shape, strides, offset, dtype, device, pointers, contiguity, version, keys.
std::string describe(const Tensor& t);

}  // namespace taper
