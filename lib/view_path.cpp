#include <taper/view_path.h>

#include <mutex>
#include <new>

namespace taper {

constinit ViewPath ViewPath::root_;

const ViewPath* ViewPath::extend(const ViewPath* before, const char* op) noexcept {
  if (before && before->length_ > kMaxLength) return before;
  // Growing a path does not change what it says, so it is const to everybody else.
  ViewPath* from = before ? const_cast<ViewPath*>(before) : &root_;
  std::atomic<ViewPath*>& branch = from->branches_[(reinterpret_cast<std::uintptr_t>(op) >> 3) % kBranches];
  for (ViewPath* p = branch.load(std::memory_order_acquire); p; p = p->sibling_)
    if (p->op_ == op) return p;
  return from->grow(branch, op);
}

ViewPath* ViewPath::grow(std::atomic<ViewPath*>& branch, const char* op) noexcept {
  const bool is_last = length_ == kMaxLength;
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  ViewPath* const first = branch.load(std::memory_order_relaxed);
  for (ViewPath* p = first; p; p = p->sibling_)
    if (p->op_ == op || is_last) return p;
  auto* longer = new (std::nothrow) ViewPath(this == &root_ ? nullptr : this, is_last ? "..." : op, length_ + 1, first);
  if (!longer) return this == &root_ ? nullptr : this;  // a message will say less
  branch.store(longer, std::memory_order_release);
  return longer;
}

void append_to(std::string& s, const ViewPath* path) {
  if (!path) return;
  append_to(s, path->before());
  if (path->before()) s += " -> ";
  s += path->op();
}

}  // namespace taper
