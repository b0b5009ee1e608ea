#pragma once
#include "operands.h"

namespace op_table {

/// Counts what is wrong and prints it.
class Report {
 public:
  enum Output { printed, quiet };
  explicit Report(Output output = printed) : output_(output) {}
  /// What is checked from here on.
  void enter(std::string where) { where_ = std::move(where); }
  void enter(const OpSamples& op, std::size_t sample, Layout layout);
  void fail(const std::string& what);
  void require(bool ok, const std::string& what) {
    if (!ok) fail(what);
  }
  /// Runs f; whatever it throws is a failure.
  template <class F>
  void run(const std::string& what, F&& f) {
    try {
      f();
    } catch (const std::exception& e) {
      fail(what + ": " + e.what());
    }
  }
  /// f() must throw an AutogradError whose message names the operator.
  template <class F>
  void must_refuse(const std::string& what, const OpEntry& op, F&& f) {
    try {
      f();
      fail(what + " was not refused");
    } catch (const AutogradError& e) {
      const std::string text = e.what();
      require(text.find(op.name()) != text.npos || text.find(op.inplace_name()) != text.npos,
              what + ": the error does not name the operator: " + text);
    } catch (const std::exception& e) {
      fail(what + ": refused with the wrong kind of error: " + e.what());
    }
  }
  int failures() const { return failures_; }

 private:
  Output output_;
  std::string where_;
  int failures_ = 0;
};

/// First and second derivatives of all forms against differences; what has no derivative must say so.
void check_gradients(Report& report, const OpSamples& op);
/// In-place, out and meta forms against the functional one, in every layout.
void check_forms(Report& report, const OpSamples& op);
/// That the table has exactly the operators that there are.
void check_registry(Report& report);

/// Whether the checks find mistakes that were made on purpose.
bool finds_planted_errors();

/// docs/ops.md.
std::string written_table();

}  // namespace op_table
