// Tensors as text, in the layout of PyTorch's printer: numbers in columns as wide as the widest, 80 characters a line,
// and of large tensors the first and last three entries of each dimension.
#include <fmt/format.h>
#include <taper/factory.h>
#include <taper/operator.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace taper {
namespace {

constexpr std::size_t kLineWidth = 80;
constexpr std::int64_t kSummarizeAbove = 1000;  // elements
constexpr std::int64_t kEdgeItems = 3;

double number_at(const Tensor& t, std::int64_t offset) {
  return dispatch_all(t.dtype(),
                      [&]<class T>(Type<T>) { return double(static_cast<const T*>(t.impl()->data())[offset]); });
}

/// Writes the elements of one tensor, which is on the cpu and has some.
class Printer {
 public:
  explicit Printer(const Tensor& t) : t_(t), is_floating_(t.is_floating_point()) {
    summarize_ = t.numel() > kSummarizeAbove;
    if (is_floating_) choose_format();
    visit(0, 0, [&](std::int64_t offset) { measure(offset); });
  }

  std::string text(std::size_t indent) const {
    if (t_.dim() == 0) return format(0);
    std::string s;
    append(s, 0, 0, indent);
    return s;
  }

 private:
  bool is_cut(std::size_t d) const { return summarize_ && t_.sizes()[d] > 2 * kEdgeItems; }

  /// Calls f(offset) for every element that is shown.
  template <class F>
  void visit(std::size_t d, std::int64_t offset, const F& f) const {
    if (d == t_.sizes().size()) return f(offset);
    const std::int64_t n = t_.sizes()[d];
    for (std::int64_t i = 0; i < n; ++i) {
      if (is_cut(d) && i == kEdgeItems) i = n - kEdgeItems;
      visit(d + 1, offset + i * t_.strides()[d], f);
    }
  }

  /// Scientific notation if the numbers differ too much or are too large or small for fixed columns; whole numbers
  /// without digits after the point.
  void choose_format() {
    double least = INFINITY, most = 0;
    visit(0, 0, [&](std::int64_t offset) {
      const double v = number_at(t_, offset);
      if (!std::isfinite(v) || v == 0) return;
      least = std::min(least, std::abs(v));
      most = std::max(most, std::abs(v));
      all_whole_ &= v == std::ceil(v);
    });
    if (most == 0) return;  // nothing but zeros, infinities and NaN
    scientific_ = most / least > 1000 || most > 1e8 || (!all_whole_ && least < 1e-4);
  }

  std::string number(double v) const {
    if (std::isnan(v)) return "nan";  // whatever its sign
    if (scientific_) return fmt::format("{:.4e}", v);
    if (!all_whole_) return fmt::format("{:.4f}", v);
    return fmt::format("{:.0f}{}", v, std::isfinite(v) ? "." : "");
  }
  std::string plain(std::int64_t offset) const {
    return dispatch_all(t_.dtype(), [&]<class T>(Type<T>) -> std::string {
      const T v = static_cast<const T*>(t_.impl()->data())[offset];
      if constexpr (std::is_same_v<T, bool>)
        return v ? "True" : "False";
      else if constexpr (std::is_integral_v<T>)
        return fmt::format("{}", +v);
      else
        return number(double(v));
    });
  }
  void measure(std::int64_t offset) {
    // As in PyTorch, zeros, infinities and NaN do not widen the columns.
    if (is_floating_) {
      const double v = number_at(t_, offset);
      if (!std::isfinite(v) || v == 0) return;
    }
    width_ = std::max(width_, plain(offset).size());
  }
  std::string format(std::int64_t offset) const { return fmt::format("{:>{}}", plain(offset), width_); }

  void append(std::string& s, std::size_t d, std::int64_t offset, std::size_t indent) const {
    if (d + 1 == t_.sizes().size()) return append_row(s, offset, indent);
    const std::string gap = "," + std::string(t_.sizes().size() - d - 1, '\n') + std::string(indent + 1, ' ');
    const std::int64_t n = t_.sizes()[d];
    s += '[';
    for (std::int64_t i = 0; i < n; ++i) {
      if (i > 0) s += gap;
      if (is_cut(d) && i == kEdgeItems) {
        s += "..." + gap;
        i = n - kEdgeItems;
      }
      append(s, d + 1, offset + i * t_.strides()[d], indent + 1);
    }
    s += ']';
  }

  void append_row(std::string& s, std::int64_t offset, std::size_t indent) const {
    const std::size_t d = t_.sizes().size() - 1;
    const std::int64_t n = t_.sizes()[d], step = t_.strides()[d];
    const std::size_t per_line = std::max<std::size_t>(1, (kLineWidth - std::min(indent, kLineWidth)) / (width_ + 2));
    std::size_t shown = 0;
    const auto put = [&](const std::string& item) {
      if (shown > 0) s += shown % per_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
      s += item;
      ++shown;
    };
    s += '[';
    for (std::int64_t i = 0; i < n; ++i) {
      if (is_cut(d) && i == kEdgeItems) {
        put(" ...");
        i = n - kEdgeItems;
      }
      put(format(offset + i * step));
    }
    s += ']';
  }

  const Tensor& t_;
  bool is_floating_, summarize_ = false, all_whole_ = true, scientific_ = false;
  std::size_t width_ = 1;
};

/// Appends ", suffix", on a new line if it would make the last one too long.
class Suffixes {
 public:
  Suffixes(std::string& s, std::size_t indent) : s_(s), indent_(indent) {
    const std::size_t newline = s.rfind('\n');
    line_ = newline == std::string::npos ? s.size() + 2 : s.size() - newline + 1;  // counted as PyTorch does
  }
  void add(const std::string& suffix) {
    if (line_ + suffix.size() + 2 > kLineWidth) {
      s_ += ",\n" + std::string(indent_, ' ') + suffix;
      line_ = indent_ + suffix.size();
    } else {
      s_ += ", " + suffix;
      line_ += suffix.size() + 2;
    }
  }

 private:
  std::string& s_;
  std::size_t indent_, line_;
};

std::string size_text(const Tensor& t) {
  std::string s = "size=(";
  for (std::size_t d = 0; d < t.sizes().size(); ++d) s += fmt::format("{}{}", d ? ", " : "", t.sizes()[d]);
  return s + (t.dim() == 1 ? ",)" : ")");
}
std::string names_text(const Tensor& t) {
  std::string s = "names=(";
  const std::vector<std::string> names = t.names();
  for (std::size_t d = 0; d < names.size(); ++d)
    s += (d ? ", " : "") + (names[d].empty() ? std::string("None") : "'" + names[d] + "'");
  return s + (t.dim() == 1 ? ",)" : ")");
}
bool has_names(const Tensor& t) {
  const std::vector<std::string> names = t.names();
  return std::any_of(names.begin(), names.end(), [](const std::string& n) { return !n.empty(); });
}

}  // namespace

std::string to_string(const Tensor& t) {
  if (!t.defined()) return "undefined";
  const bool is_meta = t.device().is_meta(), is_empty = t.numel() == 0;
  const std::string prefix = "tensor(";
  std::string s = prefix;
  if (is_meta)
    s += "...";
  else if (is_empty)
    s += "[]";
  else
    s += Printer(t.device().is_cpu() ? t : t.to(cpu)).text(prefix.size());

  Suffixes suffixes(s, prefix.size());
  if (!t.device().is_cpu()) {
    std::string device = "device=";
    append_to(device, t.device());
    suffixes.add(device);
  }
  if (is_meta || (is_empty && t.dim() != 1)) suffixes.add(size_text(t));
  // Values show whether they are floating, integer or bool, and of each kind one dtype goes without saying.
  const bool is_shown = !is_meta && !is_empty;
  if (t.dtype() != float32 && !(is_shown && (t.dtype() == int64 || t.dtype() == bool_)))
    suffixes.add(std::string("dtype=") + name_of(t.dtype()));
  if (detail::describe_gradient_hook) {
    const std::string gradient = detail::describe_gradient_hook(t);  // ", grad_fn=<mul>" or nothing
    if (gradient.size() > 2) suffixes.add(gradient.substr(2));
  }
  if (has_names(t)) suffixes.add(names_text(t));
  return s + ")";
}

std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << to_string(t); }

}  // namespace taper
