#pragma once
#include <taper/int_span.h>

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>

namespace taper {

/// The caller passed something the operation cannot accept.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
  /// Adds to the message: what only the caller of the place that found the fault knows.
  void append(const std::string& more) { std::runtime_error::operator=(std::runtime_error(what() + more)); }
};
struct ShapeError : Error {
  using Error::Error;
};
/// An index, dimension or range outside what exists.
struct IndexError : Error {
  using Error::Error;
};
struct DTypeError : Error {
  using Error::Error;
};
struct DeviceError : Error {
  using Error::Error;
};
/// A numeric argument or option outside its domain.
struct ValueError : Error {
  using Error::Error;
};
/// A file or other outside source that cannot be read, or does not hold what it claims.
struct IOError : Error {
  using Error::Error;
};
struct AutogradError : Error {
  using Error::Error;
};
/// No kernel is registered for this operator on this device.
struct NotImplementedError : Error {
  using Error::Error;
};

// How the parts of a message become text. A type of ours prints when an append_to(std::string&, T) stands beside it.
inline void append_to(std::string& s, std::string_view v) { s.append(v); }
inline void append_to(std::string& s, const char* v) { s.append(v ? v : "(null)"); }
inline void append_to(std::string& s, bool v) { s.append(v ? "true" : "false"); }
inline void append_to(std::string& s, char v) { s.push_back(v); }
void append_to(std::string& s, double v);
template <std::integral T>
void append_to(std::string& s, T v) {
  s.append(std::to_string(v));
}

/// Throws E with the parts joined to one message.
template <class E = Error, class... A>
[[noreturn, gnu::cold, gnu::noinline]] void raise(const A&... parts) {
  std::string message;
  (append_to(message, parts), ...);
  throw E(message);
}

/// check<ShapeError>(a.dim() == 2, "matmul: ...", a.sizes()): the parts are formatted only on failure.
template <class E = Error, class... A>
inline void check(bool ok, const A&... parts) {
  if (!ok) [[unlikely]]
    raise<E>(parts...);
}

}  // namespace taper
