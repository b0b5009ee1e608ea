#pragma once

namespace taper {

/// Whether operations are recorded for differentiation. Per thread; true at a thread's start.
class GradMode {
 public:
  static bool is_enabled() noexcept { return enabled_; }
  static void set_enabled(bool on) noexcept { enabled_ = on; }

 private:
  static inline constinit thread_local bool enabled_ = true;
};

/// Sets the mode of this thread while it lives; nests, and restores on exceptions.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool on) : before_(GradMode::is_enabled()) { GradMode::set_enabled(on); }
  ~GradModeGuard() { GradMode::set_enabled(before_); }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
};
struct NoGradGuard : GradModeGuard {
  NoGradGuard() : GradModeGuard(false) {}
};
struct EnableGradGuard : GradModeGuard {
  EnableGradGuard() : GradModeGuard(true) {}
};

}  // namespace taper
