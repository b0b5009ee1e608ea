#pragma once

namespace taper {

/// While one exists, this thread computes something for the second time (activation checkpointing), and what a module
/// counts or averages over its calls must not change again: batch_norm leaves its running statistics alone.
class Recomputation {
 public:
  Recomputation() noexcept : before_(active_) { active_ = true; }
  ~Recomputation() { active_ = before_; }
  Recomputation(const Recomputation&) = delete;
  Recomputation& operator=(const Recomputation&) = delete;

  static bool is_active() noexcept { return active_; }

 private:
  static inline constinit thread_local bool active_ = false;
  bool before_;
};

}  // namespace taper
