#pragma once
// Slopes of a function by differences: it is evaluated at x - h, x and x + h, unrecorded.
#include <taper/tensor.h>

#include <functional>
#include <string>

namespace taper::autograd {

using Numbers = std::vector<double>;
using Function = std::function<TensorList(const TensorList&)>;

/// The place of element i (row-major) in a tensor of these sizes.
IntVec place(IntSpan sizes, std::int64_t i);

/// A tensor to differentiate by.
struct Variable {
  Tensor tensor;  // what the recorded call uses
  Tensor moved;   // what the other calls use: the same, or a copy
  std::string name;
  std::vector<std::int64_t> offsets;  // of moved's elements, row-major
};

/// How fast each row rises along one direction: over [x - h, x + h], and over its two halves. Rows are the elements of
/// all floating results, one after the other.
struct Slopes {
  Numbers both, left, right;
};

/// A function of some of its inputs, and of tensors that it uses besides.
class Differences {
 public:
  Differences(const char* op, Function fn, const TensorList& inputs) : op_(op), fn_(std::move(fn)), inputs_(inputs) {}

  /// A variable that is argument i. Moved through a copy where its memory has several elements or belongs to others.
  void add_argument(std::size_t i, std::string name);
  /// A variable that the function knows by itself, so that it cannot be copied.
  void add_parameter(const Tensor& t, std::string name);
  std::vector<Variable>& variables() { return variables_; }
  const std::vector<Variable>& variables() const { return variables_; }

  /// Evaluates the function where the variables are; call it once all are there.
  const Numbers& start();
  /// Along `direction` in the variable's elements from `first` on.
  Slopes slopes(Variable& v, std::size_t first, const Numbers& direction, double h) const;

 private:
  void add(const Tensor& t, Tensor moved, std::string name);
  void check_variable(const Tensor& t, const std::string& name, const char* owner) const;
  bool moves(const Tensor& t) const;
  Numbers evaluate() const;
  Numbers evaluate_beside(Variable& v, std::size_t first, const Numbers& direction, double by) const;

  const char* op_;
  Function fn_;
  TensorList inputs_;
  std::vector<Variable> variables_;
  Numbers base_;
};

}  // namespace taper::autograd
