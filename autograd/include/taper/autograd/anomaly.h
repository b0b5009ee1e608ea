#pragma once
#include <taper/autograd/node.h>

namespace taper {

/// One write to a block of memory.
struct Mutation {
  std::string op;                    ///< the operator that wrote, "mul_"
  std::uint32_t version = 0;         ///< what it made the memory's version
  std::vector<std::string> through;  ///< the views it wrote through: {"select", "transpose"}
  std::string at;                    ///< where the program called it: "train.cpp:41", or the function's name
};

/// What the elements of a tensor are.
struct ValueRange {
  std::string name;  ///< the operand's: "self"
  TensorSpec spec;
  double min = 0, max = 0;  ///< of the elements that are numbers or infinities
  std::int64_t numbers = 0, nans = 0, infinities = 0;
};
/// Appends "self (float32[3] on cpu) from 0 to 2", and how many elements are NaN.
void append_to(std::string& s, const ValueRange& r);

/// An operator made a NaN or an infinity out of operands that had none. Its text tells what its fields do.
struct NonFiniteError : AutogradError {
  NonFiniteError(const std::string& message) : AutogradError(message) {}
  std::string op;
  bool in_backward = false;
  double value = 0;                 ///< NaN or an infinity
  std::vector<std::int64_t> index;  ///< of the first such element
  std::string found_in;             ///< "result", or of a gradient the argument it belongs to
  std::vector<ValueRange> operands;
  std::string at;  ///< where the program called the operator
};

struct AnomalyOptions {
  /// Throw NonFiniteError when the forward pass of an operator makes a NaN or an infinity out of operands without.
  bool check_forward = true;
  /// The same for its backward pass.
  bool check_backward = true;
  /// How many writes mutation_log() can look back to, over all tensors.
  std::size_t log_length = 10000;
};

/// While it lives, what this thread does is followed, and errors tell more:
/// - InplaceConflictError says where the program saved and where it overwrote the tensor;
/// - any error in a backward pass says where the forward call was;
/// - the first operator that makes a NaN or an infinity is named, with the element and what its operands were.
///
/// For debugging: operators take several times as long. Scopes nest; the options of the innermost count.
class DetectAnomaly {
 public:
  explicit DetectAnomaly(const AnomalyOptions& options = {});
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};

/// The writes to t's memory, through whatever tensor, since the outermost DetectAnomaly scope of this thread began;
/// oldest first. Throws AutogradError outside such a scope.
std::vector<Mutation> mutation_log(const Tensor& t);

}  // namespace taper
