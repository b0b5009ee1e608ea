#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace taper {

enum class DeviceType : std::uint8_t { CPU, CUDA, Meta, Extension };

/// Where a tensor's memory is. "meta" has none: shapes and dtypes only.
struct Device {
  DeviceType type = DeviceType::CPU;
  std::int8_t index = 0;  // which CUDA device; 0 elsewhere

  constexpr Device() = default;
  constexpr Device(DeviceType t, int i = 0) : type(t), index(std::int8_t(i)) {}
  /// "cpu", "meta", "cuda", "cuda:1", "extension". Throws DeviceError on anything else.
  explicit Device(std::string_view text);

  constexpr bool is_cpu() const { return type == DeviceType::CPU; }
  constexpr bool is_meta() const { return type == DeviceType::Meta; }
  constexpr bool is_cuda() const { return type == DeviceType::CUDA; }
  std::string str() const;
  friend constexpr bool operator==(Device a, Device b) = default;
};
inline constexpr Device cpu{DeviceType::CPU};
inline constexpr Device meta{DeviceType::Meta};

namespace detail {
inline constinit thread_local Device default_device;
}
/// Where factories on this thread make tensors when they are not told: the cpu, until set_default_device().
inline Device default_device() noexcept { return detail::default_device; }
inline void set_default_device(Device d) noexcept { detail::default_device = d; }
void append_to(std::string& s, Device d);

/// What a call passes through, low priority first: the backends, then what wraps every backend. Every
/// operator passes Watch first, and every thread excludes it unless a scope such as DetectAnomaly follows the thread.
enum class DispatchKey : std::uint8_t { CPU, CUDA, Meta, Extension, Autocast, Autograd, Watch };
inline constexpr int kNumBackends = 4;
void append_to(std::string& s, DispatchKey k);

class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(DispatchKey k) : bits_(std::uint8_t(1u << unsigned(k))) {}
  constexpr bool has(DispatchKey k) const { return bits_ >> unsigned(k) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  /// The key that handles a call; the set must not be empty.
  constexpr DispatchKey highest() const { return DispatchKey(std::bit_width(bits_) - 1); }
  friend constexpr DispatchKeySet operator|(DispatchKeySet a, DispatchKeySet b) { return from_bits(a.bits_ | b.bits_); }
  friend constexpr DispatchKeySet operator-(DispatchKeySet a, DispatchKeySet b) {
    return from_bits(std::uint8_t(a.bits_ & ~b.bits_));
  }
  friend constexpr bool operator==(DispatchKeySet a, DispatchKeySet b) = default;

 private:
  static constexpr DispatchKeySet from_bits(unsigned b) {
    DispatchKeySet s;
    s.bits_ = std::uint8_t(b);
    return s;
  }
  std::uint8_t bits_ = 0;
};
/// Appends "{CPU, Autograd}".
void append_to(std::string& s, DispatchKeySet k);

/// The backend key of a device; the first four keys and the device types are in the same order.
constexpr DispatchKey backend_of(Device d) { return DispatchKey(d.type); }

/// Keys that calls on this thread skip; Watch from the start.
class ExcludedKeys {
 public:
  static DispatchKeySet get() noexcept { return excluded_; }
  static void set(DispatchKeySet k) noexcept { excluded_ = k; }
  /// Whether a scope follows what this thread does.
  static bool watching() noexcept { return !excluded_.has(DispatchKey::Watch); }

 private:
  static inline constinit thread_local DispatchKeySet excluded_{DispatchKey::Watch};
};
/// Excludes keys on this thread while it lives.
class ExcludeKeysGuard {
 public:
  explicit ExcludeKeysGuard(DispatchKeySet k) : before_(ExcludedKeys::get()) { ExcludedKeys::set(before_ | k); }
  ~ExcludeKeysGuard() { ExcludedKeys::set(before_); }
  ExcludeKeysGuard(const ExcludeKeysGuard&) = delete;
  ExcludeKeysGuard& operator=(const ExcludeKeysGuard&) = delete;

 private:
  DispatchKeySet before_;
};

}  // namespace taper
