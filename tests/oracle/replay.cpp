#include "replay.h"

#include <cmath>

namespace oracle {

void replay(const Context& c) {
  const Json& r = c.record;
  if (r.contains("module")) return r.contains("init") ? replay_init(c) : replay_module(c);
  if (r.contains("layers")) return replay_training(c);
  if (r.contains("scheduler")) return replay_schedule(c);
  if (r.contains("optimizer") || (r.contains("function") && r.contains("grads"))) return replay_optimizer(c);
  if (r.contains("init")) return replay_init(c);
  if (r.contains("steps")) return replay_program(c);
  if (r.contains("op") && r.contains("throws")) return replay_error(c);
  if (r.contains("op") && r.contains("out")) return replay_operation(c);
  throw Failure{"is of no known format"};
}

void expect(const Context& c, const std::string& what, const Tensor& got, const Json& want, Tolerance tol) {
  if (want.is_null()) {
    if (got.defined()) throw Failure{what + " is a tensor, expected none"};
    return;
  }
  if (const std::string d = difference(got, c.archive.array(want), tol); !d.empty()) throw Failure{what + ": " + d};
}

void expect_number(const std::string& what, double got, double want, Tolerance tol) {
  const Array g{.dtype = "float64", .floating = true, .reals = {got}};
  const Array w{.dtype = "float64", .floating = true, .reals = {want}};
  if (const std::string d = difference(g, w, tol); !d.empty()) throw Failure{what + ": " + d};
}

void expect_output(const Context& c, const std::string& what, const Value& got, const Json& want, Tolerance tol) {
  if (want.is_object() && want.contains("shape")) {
    if (!got.is<Tensor>()) throw Failure{what + " is no tensor"};
    return expect(c, what, got.get<Tensor>(), want, tol);
  }
  if (want.is_null() && got.is<None>()) return;
  if (want.is_boolean()) {
    if (!got.is<bool>() || got.get<bool>() != want.get<bool>()) throw Failure{what + ": expected " + want.dump()};
    return;
  }
  if (want.is_number() || want.is_object()) {
    if (got.is<std::int64_t>()) return expect_number(what, double(got.get<std::int64_t>()), number(want), tol);
    if (got.is<double>()) return expect_number(what, got.get<double>(), number(want), tol);
  }
  throw Failure{what + ": expected " + want.dump()};
}

}  // namespace oracle
