#pragma once

namespace taper {

/// While it lives, this thread's index() and index_put() are what index_select, index_add or index_copy are made of: a
/// kernel that looks at positions itself refuses negative ones, in the name of `op`, a literal. Where positions are
/// looked at before, those three have done it.
class IndexAlong {
 public:
  explicit IndexAlong(const char* op) noexcept : before_(op_) { op_ = op; }
  ~IndexAlong() { op_ = before_; }
  IndexAlong(const IndexAlong&) = delete;
  IndexAlong& operator=(const IndexAlong&) = delete;

  /// Null: negative positions count from the end.
  static const char* op() noexcept { return op_; }

 private:
  static inline constinit thread_local const char* op_ = nullptr;
  const char* before_;
};

}  // namespace taper
