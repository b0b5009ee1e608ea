#include <fmt/format.h>
#include <taper/error.h>
#include <taper/scalar.h>

namespace taper {

void append_to(std::string& s, double v) { fmt::format_to(std::back_inserter(s), "{:g}", v); }

void append_to(std::string& s, IntSpan v) { fmt::format_to(std::back_inserter(s), "[{}]", fmt::join(v, ", ")); }

void append_to(std::string& s, const Scalar& v) {
  switch (v.dtype()) {
    case DType::bool_:
      return append_to(s, v.to<bool>());
    case DType::int64:
      return append_to(s, v.to<std::int64_t>());
    default:
      return append_to(s, v.to<double>());
  }
}

}  // namespace taper
