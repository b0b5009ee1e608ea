#pragma once
#include <taper/dtype.h>
#include <taper/sizes_and_strides.h>
#include <taper/storage.h>

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace taper {

/// What lib knows of gradients: that something may hang here.
struct AutogradMetaBase {
  virtual ~AutogradMetaBase() = default;
};

class TensorImpl;

/// Rare facts about a tensor, allocated when the first of them is set.
struct ExtraMeta {
  std::vector<std::string> names;  // one per dimension; "" where a dimension has none
  WeakPtr<TensorImpl> lender;      // whose memory set_() or set_data() made this tensor's
};

/// How a view came to be: decides whether the base's history is consulted and whether it may be written in place.
enum class ViewOrigin : std::uint8_t {
  none,         // not a view
  grad_mode,    // ordinary view, made while recording was on
  no_grad,      // made under NoGradGuard or InferenceMode: untracked, refused by in-place writes in grad mode
  multi_output  // one of several results of split, unbind, ...: refused by in-place writes in grad mode
};

namespace detail {
/// Told of every write on a thread that is watched; set by the autograd layer before any thread is.
extern void (*write_hook)(const TensorImpl& written, const char* writer) noexcept;
}  // namespace detail

/// Everything about one tensor except its memory. Several impls can share a storage: views, detached copies.
///
/// A subclass adds state of its own and overrides both shallow copies, or its state would be lost on detach();
/// make_tensor<T>() refuses to compile otherwise.
class TensorImpl : public RefCounted, public Pooled<TensorImpl>, private live::Counted<live::Kind::tensor> {
 public:
  TensorImpl(Storage storage, DType dtype, SizesAndStrides geometry, std::int64_t offset = 0);
  /// A view: same storage; remembers the tensor whose memory it shows, which is never itself a view.
  TensorImpl(IntrusivePtr<TensorImpl> base, ViewOrigin origin, SizesAndStrides geometry, std::int64_t offset,
             const ViewPath* path);
  ~TensorImpl() override;

  const Storage& storage() const noexcept { return storage_; }
  DType dtype() const noexcept { return dtype_; }
  Device device() const noexcept { return storage_->device(); }
  const SizesAndStrides& geometry() const noexcept { return geometry_; }
  /// First element, counted in elements from the start of the storage.
  std::int64_t offset() const noexcept { return offset_; }
  std::int64_t numel() const noexcept { return numel_; }
  bool is_contiguous() const noexcept { return contiguous_; }

  /// Address of the first element, for kernels; null on meta. Writing through it does not count as a write.
  void* data() const noexcept {
    auto* p = static_cast<std::byte*>(storage_->data());
    return p ? p + std::size_t(offset_) * itemsize(dtype_) : nullptr;
  }

  /// The backend, plus Autograd when this tensor or the tensor it views has metadata.
  DispatchKeySet keys() const noexcept {
    DispatchKeySet k = backend_of(storage_->device());
    if (has_autograd_meta() || (base_ && base_->has_autograd_meta())) k = k | DispatchKey::Autograd;
    return k;
  }

  // Views
  /// The tensor this one views; null if it is not a view, or if the base has since taken other memory by set_data().
  const IntrusivePtr<TensorImpl>& base() const noexcept {
    static constinit const IntrusivePtr<TensorImpl> none;
    return base_ && base_->memory_number_ == memory_number_ ? base_ : none;
  }
  ViewOrigin view_origin() const noexcept { return origin_; }
  /// Storage version when the view was made.
  std::uint32_t view_version() const noexcept { return view_version_; }
  /// How this tensor came from the one that owns the memory, views and detached copies alike; null for that one.
  const ViewPath* view_path() const noexcept { return view_path_; }
  void set_view_path(const ViewPath* path) noexcept { view_path_ = path; }
  /// Makes a view an ordinary tensor again: detach_().
  void forget_base() noexcept {
    base_ = nullptr;
    origin_ = ViewOrigin::none;
  }

  /// Counts a write through this tensor, before it happens; `writer` is a literal.
  void count_write(const char* writer) noexcept;

  AutogradMetaBase* autograd_meta() const noexcept { return autograd_meta_.load(std::memory_order_acquire); }
  /// Keeps `fresh`, unless another thread was first: asking a view for its history may make some. Returns what is kept.
  AutogradMetaBase& add_autograd_meta(std::unique_ptr<AutogradMetaBase> fresh) noexcept {
    AutogradMetaBase* there = nullptr;
    return autograd_meta_.compare_exchange_strong(there, fresh.get(), std::memory_order_acq_rel) ? *fresh.release()
                                                                                                 : *there;
  }

  ExtraMeta* extra_meta() const noexcept { return extra_meta_.get(); }
  ExtraMeta& ensure_extra_meta() {
    if (!extra_meta_) extra_meta_ = std::make_unique<ExtraMeta>();
    return *extra_meta_;
  }

  /// A 0-dim tensor that stands for a number in a call: it takes part in promotion by its kind only.
  bool is_wrapped_number() const noexcept { return wrapped_number_; }
  void set_wrapped_number() noexcept { wrapped_number_ = true; }

  /// New shape and place in the same storage. Throws if this tensor's metadata is frozen.
  void set_geometry(SizesAndStrides geometry, std::int64_t offset);
  /// False: set_geometry and resize_ throw.
  void allow_metadata_change(bool allow) noexcept { metadata_change_allowed_ = allow; }
  bool metadata_change_allowed() const noexcept { return metadata_change_allowed_; }

  /// Same type, state and storage; no autograd identity of its own and no base.
  virtual IntrusivePtr<TensorImpl> shallow_copy_and_detach(bool allow_metadata_change) const;
  /// Takes src's storage, shape and dtype and keeps its own autograd identity. Throws if src is of another type.
  virtual void shallow_copy_from(const TensorImpl& src);

 protected:
  /// What a subclass calls from its overrides.
  void copy_metadata_from(const TensorImpl& src);
  void copy_names_from(const TensorImpl& src);

 private:
  void release_resources() noexcept override;
  void refresh() noexcept;
  bool has_autograd_meta() const noexcept { return autograd_meta_.load(std::memory_order_relaxed) != nullptr; }

  Storage storage_;
  std::atomic<AutogradMetaBase*> autograd_meta_{nullptr};  // owned; null until gradients are asked for
  IntrusivePtr<TensorImpl> base_;                          // null unless a view
  std::unique_ptr<ExtraMeta> extra_meta_;
  const ViewPath* view_path_ = nullptr;
  SizesAndStrides geometry_;
  std::int64_t offset_ = 0, numel_ = 1;
  std::uint32_t view_version_ = 0;
  std::uint32_t memory_number_ = 0;  // counts the memories taken by set_data(); of a view: its base's when it was made
  DType dtype_;
  ViewOrigin origin_ = ViewOrigin::none;
  bool contiguous_ = true;
  bool wrapped_number_ = false;
  bool metadata_change_allowed_ = true;
};
static_assert(sizeof(TensorImpl) <= 192, "TensorImpl grew: every tensor pays for this");

}  // namespace taper
