#pragma once
// From recorded JSON to arguments.
#include <functional>

#include "archive.h"

namespace oracle {

/// A tensor of a case that requires grad, under its path: "input", or "tensors.1" in a list.
struct Leaf {
  std::string path;
  Tensor tensor;
};

class Decoder {
 public:
  explicit Decoder(const Archive& archive) : archive_(archive) {}

  /// Looks up {"var": name} in programs.
  std::function<Value(const std::string&)> variable;
  /// Every tensor made so far, and those of them that require grad.
  std::vector<Leaf> tensors, leaves;

  Value value(const Json& j, const std::string& path = "");
  Args args(const std::string& op, const Json& j);
  Tensor tensor(const Json& spec, const std::string& path = "");

 private:
  const Archive& archive_;
};

Tolerance tolerance(const Json& pair);
/// {"float": "nan"} and plain numbers.
double number(const Json& j);

}  // namespace oracle
