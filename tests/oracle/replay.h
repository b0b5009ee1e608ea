#pragma once
// One driver per line format. Each returns if the case passes, throws Failure if it differs, and Skip if something that
// the case needs is not there.
#include <string>
#include <vector>

#include "decode.h"
#include "op_table.h"

namespace oracle {

struct Context {
  const std::string& family;
  const Json& record;
  const Archive& archive;
  const OpTable& ops;
  /// Parts of a case that could not be replayed although the rest was.
  std::vector<std::string>& partial;
};

void replay_operation(const Context& c);
void replay_error(const Context& c);
void replay_program(const Context& c);
void replay_module(const Context& c);
void replay_training(const Context& c);
void replay_optimizer(const Context& c);
void replay_schedule(const Context& c);
void replay_init(const Context& c);

/// Whether the operation of this case has a result whose shape depends on values, or that is a value of the host.
bool needs_values(const std::string& id);

/// Chooses the driver by what the line holds.
void replay(const Context& c);

/// Throws Failure naming `what` if the tensor differs from the spec; a null spec wants an undefined tensor.
void expect(const Context& c, const std::string& what, const Tensor& got, const Json& want, Tolerance tol);
/// As expect(), for an output that may be a number or bool.
void expect_output(const Context& c, const std::string& what, const Value& got, const Json& want, Tolerance tol);
void expect_number(const std::string& what, double got, double want, Tolerance tol);

}  // namespace oracle
