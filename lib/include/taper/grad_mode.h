#pragma once
#include <taper/device.h>

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

/// While it lives, nothing on this thread is recorded and autograd is not even asked. Tensors made meanwhile are
/// inference tensors for good: outside they can be read, but not be written in place, required to have a gradient or
/// kept for a backward pass; clone() gives an ordinary tensor. Nests; InferenceMode(false) is an island of the usual.
class InferenceMode {
 public:
  explicit InferenceMode(bool on = true) : grad_mode_(!on), excluded_before_(ExcludedKeys::get()), before_(enabled_) {
    ExcludedKeys::set(on ? excluded_before_ | DispatchKey::Autograd : excluded_before_ - DispatchKey::Autograd);
    enabled_ = on;
  }
  ~InferenceMode() {
    ExcludedKeys::set(excluded_before_);
    enabled_ = before_;
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

  static bool is_enabled() noexcept { return enabled_; }

 private:
  GradModeGuard grad_mode_;
  DispatchKeySet excluded_before_;
  bool before_;
  static inline constinit thread_local bool enabled_ = false;
};

}  // namespace taper
