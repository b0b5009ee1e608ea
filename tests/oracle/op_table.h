#pragma once
// The operators of the library by the names the records use. One line each, in ops_*.cpp.
#include <functional>
#include <map>
#include <string>

#include "value.h"

namespace oracle {

class OpTable {
 public:
  using Call = std::function<Outputs(const Args&)>;

  OpTable();
  /// The operator, or null.
  const Call* find(const std::string& name) const;
  Outputs call(const Args& args) const;

  void add(const std::string& name, Call call) { calls_[name] = std::move(call); }
  /// f(input), and in place f_(input).
  template <class F>
  void unary(const std::string& name, F f) {
    add(name, [f](const Args& a) -> Outputs { return f(a.tensor("input")); });
  }
  template <class F, class FInplace>
  void unary(const std::string& name, F f, FInplace f_) {
    unary(name, f);
    add(name + "_", [f_](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      return f_(x);
    });
  }
  /// f(input, other), `other` being a tensor or a number.
  template <class F>
  void binary(const std::string& name, F f, const char* other = "other") {
    add(name, [f, other](const Args& a) -> Outputs {
      const Tensor x = a.tensor("input");
      return a.is_tensor(other) ? Outputs(f(x, a.tensor(other))) : Outputs(f(x, a.number(other)));
    });
  }
  template <class F, class FInplace>
  void binary(const std::string& name, F f, FInplace f_, const char* other = "other") {
    binary(name, f, other);
    binary(name + "_", f_, other);
  }

 private:
  std::map<std::string, Call> calls_;
};

void add_pointwise(OpTable& t);
void add_reductions(OpTable& t);
void add_products(OpTable& t);
void add_views(OpTable& t);
void add_indexing(OpTable& t);
void add_shapes(OpTable& t);
void add_creation(OpTable& t);
void add_losses(OpTable& t);
void add_images(OpTable& t);

void add_neural(OpTable& t);
void add_activations(OpTable& t);
void add_functions(OpTable& t);
void add_order(OpTable& t);
void add_windows(OpTable& t);

}  // namespace oracle
