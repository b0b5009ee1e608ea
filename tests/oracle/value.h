#pragma once
// The arguments of a recorded call, after decoding: what operators in the table read them from.
#include <taper/tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace oracle {

using taper::DType;
using taper::IntVec;
using taper::Scalar;
using taper::Tensor;
using taper::TensorList;

/// A case cannot be replayed: an operator, dtype or feature is not there. Never thrown for a wrong result.
struct Skip {
  std::string reason;
};
/// A case was replayed and differs from its record.
struct Failure {
  std::string what;
};

struct None {};
struct Ellipsis {};
struct SliceValue {
  std::optional<std::int64_t> start, stop, step;
};
struct Value;
using List = std::vector<Value>;
struct Value {
  std::variant<None, bool, std::int64_t, double, std::string, DType, SliceValue, Ellipsis, Tensor, List> v;

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(v);
  }
  template <class T>
  const T& get() const {
    return std::get<T>(v);
  }
};

/// The arguments of one call by name. Each accessor marks its argument as read: one that nobody reads means that the
/// operator lacks it, and the call is skipped rather than answered without it.
///
/// An accessor throws Skip when the argument has a kind that the operator does not take.
class Args {
 public:
  explicit Args(std::string op) : op_(std::move(op)) {}

  const std::string& op() const { return op_; }
  void set(const std::string& name, Value value);
  const std::vector<std::pair<std::string, Value>>& all() const { return entries_; }
  /// Throws Skip if an argument was not read.
  void check_all_read() const;
  /// For a call that is refused whatever its other arguments are.
  void assume_all_read() const { read_.assign(read_.size(), true); }
  [[noreturn]] void unsupported(const std::string& what) const;

  /// Whether the argument was given and is not None.
  bool has(const char* name) const;
  /// Whether None was given.
  bool is_none(const char* name) const;
  bool is_tensor(const char* name) const;
  bool is_list(const char* name) const;

  const Value& value(const char* name) const;
  Tensor tensor(const char* name) const;
  /// Undefined if absent or None.
  Tensor optional_tensor(const char* name) const;
  TensorList tensors(const char* name) const;

  std::int64_t integer(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t absent) const;
  std::optional<std::int64_t> optional_integer(const char* name) const;
  double real(const char* name) const;
  double real(const char* name, double absent) const;
  Scalar number(const char* name) const;
  Scalar number(const char* name, Scalar absent) const;
  std::optional<Scalar> optional_number(const char* name) const;
  bool flag(const char* name, bool absent) const;
  std::string text(const char* name, const std::string& absent) const;
  std::optional<DType> dtype(const char* name = "dtype") const;
  /// A list of integers; one integer is a list of one.
  IntVec ints(const char* name) const;
  IntVec ints(const char* name, IntVec absent) const;
  /// As ints(), one integer standing for `n` equal ones.
  IntVec ints_n(const char* name, std::size_t n, std::int64_t absent) const;

 private:
  const Value* find(const char* name) const;

  std::string op_;
  std::vector<std::pair<std::string, Value>> entries_;
  mutable std::vector<bool> read_;
};

/// What a call returned, in order; a list of tensors is flattened.
struct Outputs : std::vector<Value> {
  Outputs() = default;
  Outputs(const Tensor& t) { push_back({t}); }
  Outputs(const TensorList& ts) {
    for (const Tensor& t : ts) push_back({t});
  }
  template <class... T>
  Outputs(const std::tuple<T...>& ts) {
    std::apply([&](const auto&... t) { (push_back({t}), ...); }, ts);
  }
  Outputs(bool b) { push_back({b}); }
  Outputs(Scalar s) {
    if (s.dtype() == taper::bool_)
      push_back({s.to<bool>()});
    else if (s.is_floating())
      push_back({s.to<double>()});
    else
      push_back({s.to<std::int64_t>()});
  }
};

}  // namespace oracle
