#pragma once
#include <taper/grad_mode.h>
#include <taper/memory_format.h>
#include <taper/scalar.h>
#include <taper/tensor_impl.h>

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace taper {

class HookHandle;
class Node;
class Tensor;
class TensorIndex;
struct TensorOptions;
using TensorList = std::vector<Tensor>;

/// How to(device, options) copies.
struct CopyOptions {
  bool copy = false;  ///< copies also where the tensor is there already
  /// Does not wait for a copy between a CUDA device and pinned memory: the host writes to the source, or reads the
  /// result, only after waiting for the stream. A result on the cpu is then pinned.
  bool non_blocking = false;
};

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
  /// How the elements are kept, which is by strides.
  Layout layout() const { return get(), Layout::strided; }
  /// Throws NotImplementedError.
  Tensor to_sparse() const;
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
  /// Takes the memory, shape and dtype of `src`, keeping this tensor's identity, requires_grad and grad. Throws
  /// AutogradError on the result of an operation if src has another shape or dtype.
  void set_data(const Tensor& src);
  /// Takes the memory, shape and strides of `source`, of the same dtype, as a write in place. Throws AutogradError on a
  /// leaf that requires grad (unless gradients are off), and if this tensor or the source has a history.
  Tensor& set_(const Tensor& source);
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
  /// to("cuda:1"), to("cpu"): as to(Device(name)).
  Tensor to(const char* device, bool copy = false) const { return to(Device(device), copy); }
  Tensor to(const char* device, DType dtype, bool copy = false) const { return to(Device(device), dtype, copy); }
  Tensor to(Device device, CopyOptions options) const;
  Tensor cpu() const { return to(Device()); }
  Tensor cuda(int index = 0) const { return to(Device(DeviceType::CUDA, index)); }
  /// `non_blocking`: see CopyOptions.
  Tensor& copy_(const Tensor& src, bool non_blocking = false);
  /// This cpu tensor, in memory that a CUDA device can read and write by itself; a copy unless it is already.
  Tensor pin_memory() const;
  bool is_pinned() const;
  Tensor& fill_(Scalar value);
  Tensor& fill_(const Tensor& value);
  Tensor& zero_();
  /// New tensors of this one's device and, unless another is given, dtype.
  Tensor new_empty(IntSpan sizes, std::optional<DType> dtype = {}) const;
  Tensor new_zeros(IntSpan sizes, std::optional<DType> dtype = {}) const;
  Tensor new_ones(IntSpan sizes, std::optional<DType> dtype = {}) const;
  Tensor new_full(IntSpan sizes, Scalar value, std::optional<DType> dtype = {}) const;
  Tensor& resize_(IntSpan sizes);
  /// Uniform in [from, to), normal, ... : see <taper/random.h>.
  Tensor& uniform_(double from = 0, double to = 1);
  Tensor& normal_(double mean = 0, double std = 1);
  Tensor& bernoulli_(double p = 0.5);
  Tensor& random_(std::int64_t from, std::int64_t to);
  Tensor& exponential_(double lambd = 1);
  Tensor& log_normal_(double mean = 1, double std = 2);
  Tensor& cauchy_(double median = 0, double sigma = 1);
  Tensor& geometric_(double p);
  Tensor bernoulli() const;
  Tensor multinomial(std::int64_t num_samples, bool replacement = false) const;
  Tensor new_empty_strided(IntSpan sizes, IntSpan strides, std::optional<DType> dtype = {}) const;
  /// resize_() to other's shape.
  Tensor& resize_as_(const Tensor& other) { return resize_(other.sizes()); }
  /// Overwrites the main diagonal of a matrix, or of a tensor whose dims all have one size. With `wrap`, a matrix of
  /// more rows than columns has another diagonal below each, after a row that it leaves out.
  Tensor& fill_diagonal_(Scalar value, bool wrap = false);
  Tensor type_as(const Tensor& other) const { return to(other.device(), other.dtype()); }
  bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }

  // Views: <taper/ops/view.h>
  Tensor view(IntSpan sizes) const;
  Tensor view(DType dtype) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape(IntSpan sizes) const;
  Tensor flatten(std::int64_t start_dim = 0, std::int64_t end_dim = -1) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  Tensor permute(IntSpan dims) const;
  Tensor t() const;
  Tensor mT() const;
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
  TensorList tensor_split(std::int64_t sections, std::int64_t dim = 0) const;
  TensorList tensor_split(IntSpan indices, std::int64_t dim = 0) const;
  TensorList hsplit(std::int64_t sections) const;
  TensorList hsplit(IntSpan indices) const;
  TensorList vsplit(std::int64_t sections) const;
  TensorList vsplit(IntSpan indices) const;
  TensorList dsplit(std::int64_t sections) const;
  TensorList dsplit(IntSpan indices) const;
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor unflatten(std::int64_t dim, IntSpan sizes) const;
  Tensor ravel() const;
  Tensor broadcast_to(IntSpan sizes) const { return expand(sizes); }
  Tensor swapaxes(std::int64_t dim0, std::int64_t dim1) const { return transpose(dim0, dim1); }
  Tensor swapdims(std::int64_t dim0, std::int64_t dim1) const { return transpose(dim0, dim1); }
  Tensor movedim(IntSpan source, IntSpan destination) const;
  Tensor moveaxis(IntSpan source, IntSpan destination) const { return movedim(source, destination); }
  Tensor numpy_T() const;
  Tensor adjoint() const { return mT(); }
  Tensor& t_();
  Tensor& transpose_(std::int64_t dim0, std::int64_t dim1);
  Tensor& squeeze_();
  Tensor& squeeze_(std::int64_t dim);
  Tensor& unsqueeze_(std::int64_t dim);
  Tensor& as_strided_(IntSpan sizes, IntSpan strides, std::optional<std::int64_t> storage_offset = {});
  Tensor& swapaxes_(std::int64_t dim0, std::int64_t dim1) { return transpose_(dim0, dim1); }
  Tensor& swapdims_(std::int64_t dim0, std::int64_t dim1) { return transpose_(dim0, dim1); }

  // The elements in other places: <taper/ops/rearrange.h>
  Tensor repeat(IntSpan repeats) const;
  Tensor tile(IntSpan repeats) const;
  Tensor flip(IntSpan dims) const;
  Tensor fliplr() const;
  Tensor flipud() const;
  Tensor roll(IntSpan shifts, IntSpan dims = {}) const;
  Tensor rot90(std::int64_t k = 1, IntSpan dims = {0, 1}) const;
  Tensor select_scatter(const Tensor& src, std::int64_t dim, std::int64_t index) const;
  Tensor slice_scatter(const Tensor& src, std::int64_t dim = 0, std::optional<std::int64_t> start = {},
                       std::optional<std::int64_t> end = {}, std::int64_t step = 1) const;
  Tensor diagonal_scatter(const Tensor& src, std::int64_t offset = 0, std::int64_t dim1 = 0,
                          std::int64_t dim2 = 1) const;
  Tensor repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim = {}) const;
  Tensor repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim = {}) const;

  // Triangles and diagonals: <taper/ops/diagonals.h>
  Tensor tril(std::int64_t diagonal = 0) const;
  Tensor& tril_(std::int64_t diagonal = 0);
  Tensor triu(std::int64_t diagonal = 0) const;
  Tensor& triu_(std::int64_t diagonal = 0);
  Tensor diag(std::int64_t diagonal = 0) const;
  Tensor diag_embed(std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1) const;
  Tensor diagflat(std::int64_t offset = 0) const;
  Tensor trace() const;

  // Linear algebra: <taper/ops/linalg.h>
  Tensor inverse() const;
  Tensor det() const;
  Tensor logdet() const;
  Tensor matrix_power(std::int64_t n) const;
  std::tuple<Tensor, Tensor> slogdet() const;
  Tensor cross(const Tensor& other, std::optional<std::int64_t> dim = {}) const;
  Tensor dist(const Tensor& other, double p = 2) const;

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
  Tensor argwhere() const { return nonzero(); }
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha = 1) const;
  Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha = 1);
  Tensor index_copy(std::int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor& index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source);
  Tensor index_fill(std::int64_t dim, const Tensor& index, Scalar value) const;
  Tensor index_fill(std::int64_t dim, const Tensor& index, const Tensor& value) const;
  Tensor& index_fill_(std::int64_t dim, const Tensor& index, Scalar value);
  Tensor& index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value);
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, Scalar value) const;
  Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& src);
  Tensor& scatter_(std::int64_t dim, const Tensor& index, Scalar value);
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src);
  Tensor scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                        bool include_self = true) const;
  Tensor& scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                          bool include_self = true);
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const;
  Tensor& masked_scatter_(const Tensor& mask, const Tensor& source);
  Tensor take(const Tensor& index) const;
  Tensor take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim = {}) const;
  Tensor put(const Tensor& index, const Tensor& source, bool accumulate = false) const;
  Tensor& put_(const Tensor& index, const Tensor& source, bool accumulate = false);

  // Order: <taper/ops/sort.h>
  std::tuple<Tensor, Tensor> sort(std::int64_t dim = -1, bool descending = false) const;
  Tensor argsort(std::int64_t dim = -1, bool descending = false) const;
  std::tuple<Tensor, Tensor> topk(std::int64_t k, std::int64_t dim = -1, bool largest = true, bool sorted = true) const;
  std::tuple<Tensor, Tensor> kthvalue(std::int64_t k, std::int64_t dim = -1, bool keepdim = false) const;
  Tensor median() const;
  std::tuple<Tensor, Tensor> median(std::int64_t dim, bool keepdim = false) const;
  Tensor msort() const { return std::get<0>(sort(0)); }
  Tensor bincount(const Tensor& weights = {}, std::int64_t minlength = 0) const;

  // What the values are like: <taper/ops/statistics.h>
  std::tuple<Tensor, Tensor> mode(std::int64_t dim = -1, bool keepdim = false) const;
  Tensor nanmedian() const;
  std::tuple<Tensor, Tensor> nanmedian(std::int64_t dim, bool keepdim = false) const;
  Tensor quantile(double q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                  std::string_view interpolation = "linear") const;
  Tensor quantile(const Tensor& q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                  std::string_view interpolation = "linear") const;
  Tensor nanquantile(double q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                     std::string_view interpolation = "linear") const;
  Tensor nanquantile(const Tensor& q, std::optional<std::int64_t> dim = {}, bool keepdim = false,
                     std::string_view interpolation = "linear") const;
  Tensor histc(std::int64_t bins = 100, double min = 0, double max = 0) const;
  Tensor cov(std::int64_t correction = 1) const;
  Tensor corrcoef() const;

  // Running results along a dim: <taper/ops/scan.h>
  Tensor cumsum(std::int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor& cumsum_(std::int64_t dim, std::optional<DType> dtype = {});
  Tensor cumprod(std::int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor& cumprod_(std::int64_t dim, std::optional<DType> dtype = {});
  Tensor logcumsumexp(std::int64_t dim) const;
  std::tuple<Tensor, Tensor> cummax(std::int64_t dim) const;
  std::tuple<Tensor, Tensor> cummin(std::int64_t dim) const;
  Tensor renorm(double p, std::int64_t dim, double maxnorm) const;
  Tensor& renorm_(double p, std::int64_t dim, double maxnorm);
  Tensor diff(std::int64_t n = 1, std::int64_t dim = -1, const Tensor& prepend = {}, const Tensor& append = {}) const;

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
  Tensor clip(std::optional<Scalar> min = {}, std::optional<Scalar> max = {}) const { return clamp(min, max); }
  Tensor& clip_(std::optional<Scalar> min = {}, std::optional<Scalar> max = {}) { return clamp_(min, max); }
  /// This tensor's elements where condition is true, other's elsewhere.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, Scalar other) const;
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
  Tensor sgn() const { return sign(); }
  Tensor& sgn_() { return sign_(); }
  Tensor absolute() const { return abs(); }
  Tensor& absolute_() { return abs_(); }
  Tensor negative() const { return neg(); }
  Tensor& negative_() { return neg_(); }
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
  Tensor round(std::int64_t decimals) const;
  Tensor& round_(std::int64_t decimals);

  // More functions of two and three: <taper/ops/math_binary.h>, <taper/ops/blend.h>
  Tensor remainder(const Tensor& other) const;
  Tensor remainder(Scalar other) const;
  Tensor& remainder_(const Tensor& other);
  Tensor& remainder_(Scalar other);
  Tensor fmod(const Tensor& other) const;
  Tensor fmod(Scalar other) const;
  Tensor& fmod_(const Tensor& other);
  Tensor& fmod_(Scalar other);
  Tensor floor_divide(const Tensor& other) const;
  Tensor floor_divide(Scalar other) const;
  Tensor& floor_divide_(const Tensor& other);
  Tensor& floor_divide_(Scalar other);
  Tensor xlogy(const Tensor& other) const;
  Tensor xlogy(Scalar other) const;
  Tensor& xlogy_(const Tensor& other);
  Tensor& xlogy_(Scalar other);
  Tensor copysign(const Tensor& other) const;
  Tensor copysign(Scalar other) const;
  Tensor& copysign_(const Tensor& other);
  Tensor& copysign_(Scalar other);
  /// rounding_mode is "trunc" or "floor".
  Tensor div(const Tensor& other, std::string_view rounding_mode) const;
  Tensor div(Scalar other, std::string_view rounding_mode) const;
  Tensor& div_(const Tensor& other, std::string_view rounding_mode);
  Tensor& div_(Scalar other, std::string_view rounding_mode);
  Tensor atan2(const Tensor& other) const;
  Tensor& atan2_(const Tensor& other);
  Tensor hypot(const Tensor& other) const;
  Tensor& hypot_(const Tensor& other);
  Tensor fmax(const Tensor& other) const;
  Tensor fmin(const Tensor& other) const;
  Tensor logaddexp(const Tensor& other) const;
  Tensor logaddexp2(const Tensor& other) const;
  Tensor lerp(const Tensor& end, const Tensor& weight) const;
  Tensor lerp(const Tensor& end, Scalar weight) const;
  Tensor& lerp_(const Tensor& end, const Tensor& weight);
  Tensor& lerp_(const Tensor& end, Scalar weight);
  Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1) const;
  Tensor& addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
  Tensor addcdiv(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1) const;
  Tensor& addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
  Tensor float_power(const Tensor& exponent) const;
  Tensor float_power(Scalar exponent) const;
  Tensor& float_power_(const Tensor& exponent);
  Tensor& float_power_(Scalar exponent);
  Tensor ldexp(const Tensor& other) const;
  Tensor& ldexp_(const Tensor& other);
  Tensor heaviside(const Tensor& values) const;

  // Bits of integers: <taper/ops/bitwise.h>
  Tensor bitwise_not() const;
  Tensor& bitwise_not_();
  Tensor bitwise_and(const Tensor& other) const;
  Tensor bitwise_and(Scalar other) const;
  Tensor& bitwise_and_(const Tensor& other);
  Tensor& bitwise_and_(Scalar other);
  Tensor bitwise_or(const Tensor& other) const;
  Tensor bitwise_or(Scalar other) const;
  Tensor& bitwise_or_(const Tensor& other);
  Tensor& bitwise_or_(Scalar other);
  Tensor bitwise_xor(const Tensor& other) const;
  Tensor bitwise_xor(Scalar other) const;
  Tensor& bitwise_xor_(const Tensor& other);
  Tensor& bitwise_xor_(Scalar other);
  Tensor bitwise_left_shift(const Tensor& other) const;
  Tensor bitwise_left_shift(Scalar other) const;
  Tensor& bitwise_left_shift_(const Tensor& other);
  Tensor& bitwise_left_shift_(Scalar other);
  Tensor bitwise_right_shift(const Tensor& other) const;
  Tensor bitwise_right_shift(Scalar other) const;
  Tensor& bitwise_right_shift_(const Tensor& other);
  Tensor& bitwise_right_shift_(Scalar other);

  // Special functions: <taper/ops/special.h>
  Tensor sinc() const;
  Tensor& sinc_();
  Tensor erfinv() const;
  Tensor& erfinv_();
  Tensor lgamma() const;
  Tensor& lgamma_();
  Tensor digamma() const;
  Tensor& digamma_();
  Tensor frac() const;
  Tensor& frac_();
  Tensor deg2rad() const;
  Tensor& deg2rad_();
  Tensor rad2deg() const;
  Tensor& rad2deg_();
  Tensor polygamma(std::int64_t n) const;
  Tensor& polygamma_(std::int64_t n);
  Tensor logit(std::optional<double> eps = {}) const;
  Tensor& logit_(std::optional<double> eps = {});
  Tensor nan_to_num(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {}) const;
  Tensor& nan_to_num_(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {});
  Tensor positive() const;
  Tensor signbit() const;
  Tensor isposinf() const;
  Tensor isneginf() const;

  // Reductions: <taper/ops/reduce.h>
  Tensor sum(std::optional<DType> dtype = {}) const;
  Tensor sum(IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor mean(std::optional<DType> dtype = {}) const;
  Tensor mean(IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor var(std::int64_t correction = 1) const;
  Tensor var(IntSpan dims, std::int64_t correction = 1, bool keepdim = false) const;
  Tensor std(std::int64_t correction = 1) const;
  Tensor std(IntSpan dims, std::int64_t correction = 1, bool keepdim = false) const;
  Tensor sum_to_size(IntSpan sizes) const;
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
  Tensor prod(std::optional<DType> dtype = {}) const;
  Tensor prod(std::int64_t dim, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor norm(double p = 2) const;
  Tensor norm(double p, IntSpan dims, bool keepdim = false) const;
  Tensor logsumexp(IntSpan dims, bool keepdim = false) const;
  Tensor count_nonzero(IntSpan dims = {}) const;
  Tensor nansum(IntSpan dims = {}, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor nanmean(IntSpan dims = {}, bool keepdim = false, std::optional<DType> dtype = {}) const;
  std::tuple<Tensor, Tensor> aminmax(std::optional<std::int64_t> dim = {}, bool keepdim = false) const;
  Tensor softmax(std::int64_t dim, std::optional<DType> dtype = {}) const;
  Tensor log_softmax(std::int64_t dim, std::optional<DType> dtype = {}) const;

  // Products: <taper/ops/matmul.h>
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor mv(const Tensor& vec) const;
  Tensor dot(const Tensor& other) const;
  Tensor outer(const Tensor& vec2) const;
  Tensor inner(const Tensor& other) const;
  Tensor kron(const Tensor& other) const;
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor& addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1);
  Tensor baddbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor& baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1);
  Tensor addbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor& addbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1, Scalar alpha = 1);
  Tensor addmv(const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor& addmv_(const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1);
  Tensor addr(const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor& addr_(const Tensor& vec1, const Tensor& vec2, Scalar beta = 1, Scalar alpha = 1);

  // Comparison of whole tensors: <taper/ops/compare.h>
  bool equal(const Tensor& other) const;
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
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
