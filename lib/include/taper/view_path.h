#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace taper {

/// Which view operators lead from a tensor that owns its memory to a view of it, for messages: "select -> transpose".
///
/// Paths are shared and never freed: there are as many objects as there are different paths in the program, and a view
/// pays for its own with one pointer. Null stands for the empty path.
class ViewPath {
 public:
  /// The path `before` with one more operator, whose name must be a literal. Long paths end in "...".
  static const ViewPath* extend(const ViewPath* before, const char* op) noexcept;

  const ViewPath* before() const noexcept { return before_; }
  /// The last operator.
  const char* op() const noexcept { return op_; }

 private:
  static constexpr int kMaxLength = 8;
  static constexpr std::size_t kBranches = 8;
  static ViewPath root_;

  constexpr ViewPath() = default;
  ViewPath(const ViewPath* before, const char* op, int length, ViewPath* sibling)
      : before_(before), op_(op), length_(length), sibling_(sibling) {}
  ViewPath* grow(std::atomic<ViewPath*>& branch, const char* op) noexcept;

  const ViewPath* before_ = nullptr;
  const char* op_ = nullptr;
  int length_ = 0;
  ViewPath* sibling_ = nullptr;
  std::array<std::atomic<ViewPath*>, kBranches> branches_{};  // paths one longer, by a hash of the name's address
};
/// Appends "select -> transpose", or nothing for the empty path.
void append_to(std::string& s, const ViewPath* path);

}  // namespace taper
