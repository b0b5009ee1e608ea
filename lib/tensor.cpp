#include <fmt/format.h>
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/new_tensor_hook.h>
#include <taper/operator.h>
#include <taper/tensor.h>

#include <cstring>

namespace taper {

Tensor::Tensor(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {
  check<ValueError>(bool(impl_), "Tensor: the impl is null; an undefined tensor is Tensor()");
}

void Tensor::raise_undefined() {
  raise<ValueError>(
      "this tensor is undefined: it was made without a value; assign one first, for example x = "
      "taper::zeros({2, 3})");
}

void Tensor::raise_out_of_range(const Scalar& value) {
  raise<ValueError>("item: the type asked for cannot hold ", value, "; ask for item<double>() or item<std::int64_t>()");
}

void Tensor::operator=(const Tensor& src) && {
  check_seen_by_others();
  copy_(src);
}

void Tensor::operator=(Scalar value) && {
  check_seen_by_others();
  fill_(value);
}

void Tensor::check_seen_by_others() const {
  check<ValueError>(get().use_count() > 1 || get().base() || get().storage()->use_count() > 1,
                    "assignment to a temporary, ", spec(),
                    ", which nothing else sees: the values would be lost; write through x.index_put_({index}, value)");
}

std::size_t Tensor::wrapped_dim(std::int64_t d) const {
  // A 0-dim tensor takes 0 and -1, as torch does; the caller finds no size there.
  const std::int64_t rank = dim();
  check<IndexError>(d >= -rank && d < rank, "dimension ", d, " is out of range for ", spec(), ", which has ", rank,
                    rank == 1 ? " dimension" : " dimensions");
  return std::size_t(d < 0 ? d + rank : d);
}

TensorOptions Tensor::options() const { return {.dtype = dtype(), .device = device()}; }

namespace {
void check_host(const Tensor& t, const char* what) {
  check<DeviceError>(!t.device().is_meta(), what, ": a tensor on meta (", t.spec(), ") has no data; make it on cpu");
  check<DeviceError>(t.device().is_cpu(), what, ": the tensor is on ", t.device(),
                     "; copy it with x.to(taper::cpu) first");
}
void check_readable(const Tensor& t, const char* what) {
  check_host(t, what);
  if (ExcludedKeys::watching()) [[unlikely]]
    detail::read_hook(t, what);
}
}  // namespace

const void* Tensor::readable(DType d) const {
  check<DTypeError>(d == dtype(), "data: asked for ", d, " but the tensor is ", spec(),
                    "; convert with x.to(taper::", d, ")");
  check_readable(*this, "data");
  return impl_->data();
}

void* Tensor::writable(DType d) {
  check<DTypeError>(d == dtype(), "mutable_data: asked for ", d, " but the tensor is ", spec());
  check_host(*this, "mutable_data");
  impl_->count_write("mutable_data");
  return impl_->data();
}

Scalar Tensor::scalar() const {
  check<ShapeError>(numel() == 1, "item: only a tensor of one element has one value, this one is ", spec(),
                    "; pick one with x[i] or reduce with x.sum()");
  if (device().is_cuda()) {
    const cuda::detail::SyncCause cause("item");
    return detach().to(taper::cpu).scalar();
  }
  check_readable(*this, "item");
  const void* p = impl_->data();
  return dispatch_all(dtype(), [&]<class T>(Type<T>) { return Scalar(*static_cast<const T*>(p)); });
}

Tensor Tensor::dense_copy(DType d) const {
  check<DTypeError>(d == dtype(), "to_vector: asked for ", d, " but the tensor is ", spec(),
                    "; convert with x.to(taper::", d, ")");
  if (device().is_cuda()) return detach().to(taper::cpu).contiguous();
  check_readable(*this, "to_vector");
  return detach().contiguous();
}

Tensor Tensor::detach() const {
  auto copy = get().shallow_copy_and_detach(false);
  copy->set_view_path(ViewPath::extend(impl_->view_path(), "detach"));
  Tensor detached(std::move(copy));
  if (ExcludedKeys::watching()) [[unlikely]]
    detail::new_tensor_hook(detached, "detach");
  return detached;
}

void Tensor::set_names(std::vector<std::string> names) {
  check<ShapeError>(names.empty() || int(names.size()) == dim(), "set_names: ", names.size(), " names for ", spec());
  if (!names.empty() || get().extra_meta()) get().ensure_extra_meta().names = std::move(names);
}

std::vector<std::string> Tensor::names() const {
  const ExtraMeta* extra = get().extra_meta();
  return extra && int(extra->names.size()) == dim() ? extra->names : std::vector<std::string>(std::size_t(dim()));
}

void append_to(std::string& s, const TensorSpec& t) {
  append_to(s, t.dtype);
  append_to(s, t.sizes());
  s += " on ";
  append_to(s, t.device);
}

void append_to(std::string& s, const Tensor& t) {
  if (!t.defined()) return append_to(s, "undefined");
  const ExtraMeta* extra = t.impl()->extra_meta();
  if (!extra || int(extra->names.size()) != t.dim()) return append_to(s, t.spec());
  append_to(s, t.dtype());
  s += '[';
  for (std::size_t d = 0; d < t.sizes().size(); ++d) {
    if (d) s += ", ";
    if (!extra->names[d].empty()) s += extra->names[d] + ": ";
    append_to(s, t.sizes()[d]);
  }
  s += "] on ";
  append_to(s, t.device());
}

std::string describe(const Tensor& t) {
  if (!t.defined()) return "undefined";
  std::string s;
  append_to(s, t);
  append_to(s, ", strides ");
  append_to(s, t.strides());
  s += fmt::format(", offset {}, numel {}, {}, data {}, storage {} ({} bytes, id {}), version {}", t.storage_offset(),
                   t.numel(), t.is_contiguous() ? "contiguous" : "not contiguous", t.data_ptr(), t.storage()->data(),
                   t.storage()->bytes(), t.storage()->id(), t.version());
  if (const char* writer = t.storage()->last_writer()) s += fmt::format(" (last written by {})", writer);
  append_to(s, ", keys ");
  append_to(s, t.key_set());
  s += fmt::format(", autograd meta {}, extra meta {}", t.impl()->autograd_meta() ? "yes" : "none",
                   t.impl()->extra_meta() ? "yes" : "none");
  if (t.is_view()) append_to(s, ", a view");
  return s;
}

}  // namespace taper
