#include <taper/new_tensor_hook.h>
#include <taper/tensor_impl.h>

#include <typeinfo>

namespace taper {

TensorImpl::TensorImpl(Storage storage, DType dtype, SizesAndStrides geometry, std::int64_t offset)
    : storage_(std::move(storage)), geometry_(std::move(geometry)), offset_(offset), dtype_(dtype) {
  refresh();
}

TensorImpl::TensorImpl(IntrusivePtr<TensorImpl> base, ViewOrigin origin, SizesAndStrides geometry, std::int64_t offset,
                       const ViewPath* path)
    : storage_(base->storage_),
      base_(std::move(base)),
      view_path_(path),
      geometry_(std::move(geometry)),
      offset_(offset),
      view_version_(storage_->version()),
      memory_number_(base_->memory_number_),
      dtype_(base_->dtype_),
      origin_(origin) {
  refresh();
}

TensorImpl::~TensorImpl() { delete autograd_meta_.load(std::memory_order_acquire); }

void TensorImpl::release_resources() noexcept {
  delete autograd_meta_.exchange(nullptr, std::memory_order_acq_rel);
  extra_meta_ = nullptr;
  base_ = nullptr;
  storage_ = nullptr;
}

void TensorImpl::refresh() noexcept {
  const IntSpan sizes = geometry_.sizes(), strides = geometry_.strides();
  std::int64_t n = 1;
  bool dense = true;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1) dense &= strides[d] == n;
    n = std::int64_t(std::uint64_t(n) * std::uint64_t(sizes[d]));  // wraps only beside a size of 0
  }
  numel_ = n;
  contiguous_ = dense || n == 0;
}

void TensorImpl::set_geometry(SizesAndStrides geometry, std::int64_t offset) {
  check<AutogradError>(metadata_change_allowed_, "set_geometry: the shape of this tensor is frozen: it shares memory ",
                       "with another by detach(); clone() it first");
  geometry_ = std::move(geometry);
  offset_ = offset;
  refresh();
}

void TensorImpl::copy_metadata_from(const TensorImpl& src) {
  storage_ = src.storage_;
  view_path_ = src.view_path_;
  geometry_ = src.geometry_;
  offset_ = src.offset_;
  dtype_ = src.dtype_;
  ++memory_number_;
  extra_meta_ = nullptr;
  copy_names_from(src);
  refresh();
}

void TensorImpl::copy_names_from(const TensorImpl& src) {
  if (src.extra_meta_ && !src.extra_meta_->names.empty()) ensure_extra_meta().names = src.extra_meta_->names;
}

namespace detail {
void (*write_hook)(const TensorImpl& written, const char* writer) noexcept = nullptr;
void (*new_tensor_hook)(const Tensor& t, const char* made_by) = nullptr;
void (*read_hook)(const Tensor& t, const char* by) = nullptr;
void (*draw_hook)(const RandomStream& drawn) noexcept = nullptr;
}  // namespace detail

void TensorImpl::count_write(const char* writer) noexcept {
  storage_->bump_version(writer, view_path_);
  if (ExcludedKeys::watching()) [[unlikely]]
    detail::write_hook(*this, writer);
}

IntrusivePtr<TensorImpl> TensorImpl::shallow_copy_and_detach(bool allow_change) const {
  check(typeid(*this) == typeid(TensorImpl), "detach: this kind of tensor (", typeid(*this).name(),
        ") does not override shallow_copy_and_detach(), and a copy without its state would be wrong");
  auto copy = make_intrusive<TensorImpl>(storage_, dtype_, geometry_, offset_);
  copy->view_path_ = view_path_;
  copy->copy_names_from(*this);
  copy->metadata_change_allowed_ = allow_change;
  return copy;
}

void TensorImpl::shallow_copy_from(const TensorImpl& src) {
  check(typeid(*this) == typeid(src), "set_data: the two tensors are of different kinds (", typeid(*this).name(),
        " and ", typeid(src).name(), ")");
  copy_metadata_from(src);
}

}  // namespace taper
