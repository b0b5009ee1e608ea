#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace taper {

template <class Signature>
class Callback;

/// A function of one signature that is kept: std::function without its header. Copies share the function, so one that
/// is taken off its list while it runs lives on until it returns.
///
/// Where a value is expected, a function that returns nothing stands for one that returns an empty R. A function that
/// is declared copyable must be.
template <class R, class... A>
class Callback<R(A...)> {
 public:
  Callback() = default;
  template <class F>
  requires(!std::is_same_v<F, Callback> &&
           (std::is_invocable_r_v<R, F&, A...> || std::is_void_v<std::invoke_result_t<F&, A...>>)) Callback(F f)
      : function_(std::make_shared<F>(std::move(f))), call_([](void* p, A... a) -> R {
          F& function = *static_cast<F*>(p);
          if constexpr (std::is_invocable_r_v<R, F&, A...>)
            return function(std::forward<A>(a)...);
          else
            return function(std::forward<A>(a)...), R();
        }) {
    if constexpr (std::is_copy_constructible_v<F>)
      copy_ = [](const void* p) -> std::shared_ptr<void> { return std::make_shared<F>(*static_cast<const F*>(p)); };
  }

  R operator()(A... a) const { return call_(function_.get(), std::forward<A>(a)...); }
  explicit operator bool() const { return bool(function_); }
  /// A copy of the function itself, with copies of all that it captured; null if it cannot be copied.
  std::shared_ptr<void> copy_of_function() const { return copy_ ? copy_(function_.get()) : nullptr; }
  /// Whether other Callbacks have the same function.
  bool is_shared() const { return function_.use_count() > 1; }

 private:
  std::shared_ptr<void> function_;
  R (*call_)(void*, A...) = nullptr;
  std::shared_ptr<void> (*copy_)(const void*) = nullptr;
};

}  // namespace taper
