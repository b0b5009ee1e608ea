#include "call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#if TAPER_LIBBACKTRACE
#include <backtrace.h>
#endif

namespace taper {
namespace {

/// Whether a function, by its name in the object file, is Taper's or the standard library's. What is declared inside
/// a function ("Z") belongs to whoever has the function.
bool is_library(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return false;
  mangled.remove_prefix(2);
  while (mangled.starts_with('Z')) mangled.remove_prefix(1);
  if (mangled.starts_with("Th") || mangled.starts_with("Tv")) {  // a virtual call's detour
    const std::size_t end = mangled.find('_');
    mangled.remove_prefix(end == mangled.npos ? mangled.size() : end + 1);
  }
  if (mangled.starts_with('N')) {
    mangled.remove_prefix(1);
    while (!mangled.empty() && std::string_view("rVKRO").find(mangled[0]) != mangled.npos) mangled.remove_prefix(1);
  }
  return mangled.starts_with("5taper") || mangled.starts_with("St") || mangled.starts_with("9__gnu_cxx");
}

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return name ? name.get() : mangled;
}

/// What is known of one address.
struct Place {
  std::string symbol;  // the function in the object file, mangled
  std::string line;    // file:line of the innermost inlined call that is not a library's
  std::string function;
};

#if TAPER_LIBBACKTRACE

void ignore_error(void*, const char*, int) {}

Place look_up(std::uintptr_t address) {
  static backtrace_state* const state = backtrace_create_state(nullptr, /*threaded=*/1, ignore_error, nullptr);
  Place place;
  if (!state) return place;
  const auto symbol = [](void* to, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
    if (name) static_cast<Place*>(to)->symbol = name;
  };
  const auto line = [](void* to, std::uintptr_t, const char* file, int number, const char* function) -> int {
    auto& found = *static_cast<Place*>(to);
    if (function && is_library(function)) return 0;  // inlined: the caller comes next
    if (function) found.function = function;
    if (file && number > 0) found.line = std::string(file) + ':' + std::to_string(number);
    return 1;
  };
  backtrace_syminfo(state, address, symbol, ignore_error, &place);
  if (!is_library(place.symbol)) backtrace_pcinfo(state, address, line, ignore_error, &place);
  return place;
}

#else

Place look_up(std::uintptr_t address) {
  Place place;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) && info.dli_sname) place.symbol = info.dli_sname;
  return place;
}

#endif

}  // namespace

CallSite CallSite::here() noexcept {
  CallSite site;
  site.depth_ = ::backtrace(site.frames_.data(), int(site.frames_.size()));
  return site;
}

std::string CallSite::str() const {
  bool inside = false;  // the first frames are of whoever takes the stack: a sanitizer's, if there is one
  for (int i = 0; i < depth_; ++i) {
    // A frame holds where the call returns to: the instruction after it, which can belong to the next line.
    const Place place = look_up(reinterpret_cast<std::uintptr_t>(frames_[std::size_t(i)]) - 1);
    inside |= is_library(place.symbol);
    if (!inside || is_library(place.symbol)) continue;
    if (!place.line.empty()) return place.line;
    const std::string& name = place.function.empty() ? place.symbol : place.function;
    if (!name.empty()) return readable(name.c_str());
  }
  return {};
}

}  // namespace taper
