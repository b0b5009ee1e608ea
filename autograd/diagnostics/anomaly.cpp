// The first NaN or infinity, and who made it.
#include <fmt/format.h>
#include <taper/autograd/hooks.h>
#include <taper/operator.h>

#include <cmath>
#include <limits>

#include "watch.h"

namespace taper {

struct DetectAnomaly::Scope {
  std::shared_ptr<MutationLog> outer_log;
  AnomalyOptions outer_options;
};

DetectAnomaly::DetectAnomaly(const AnomalyOptions& options) {
  Watch& w = Watch::of_this_thread();
  scope_ = std::make_unique<Scope>(Scope{w.log, w.options});
  if (!w.log) w.log = std::make_shared<MutationLog>();
  w.options = options;
  w.begin_scope();
}

DetectAnomaly::~DetectAnomaly() {
  Watch& w = Watch::of_this_thread();
  w.end_scope();
  w.log = std::move(scope_->outer_log);
  w.options = scope_->outer_options;
}

std::vector<Mutation> mutation_log(const Tensor& t) {
  const auto& log = Watch::of_this_thread().log;
  check<AutogradError>(log != nullptr,
                       "mutation_log: writes are only followed inside a DetectAnomaly scope; begin one before them");
  check<ValueError>(t.defined(), "mutation_log: the tensor is undefined");
  std::vector<Mutation> out;
  for (const MutationLog::Write& w : log->writes)
    if (w.storage == t.storage()->id()) out.push_back({w.op, w.version, names_of(w.through), w.at.str()});
  return out;
}

namespace {

bool is_clean(const ValueRange& r) { return r.nans == 0 && r.infinities == 0; }

std::string number(double v) { return fmt::format("{:.6g}", v); }

/// The values of a floating tensor, row-major.
template <class F>
void visit_values(const Tensor& t, const F& f) {
  const ExcludeKeysGuard quiet(DispatchKey::Watch);
  const NoGradGuard no_grad;
  const Tensor dense = t.detach().to(cpu).contiguous();
  dispatch_all(dense.dtype(), [&]<class T>(Type<T>) {
    const T* values = static_cast<const T*>(dense.impl()->data());
    for (std::int64_t i = 0; i < dense.numel(); ++i) f(i, double(values[i]));
  });
}

/// What operands were like, and what came of them.
struct Finding {
  std::vector<ValueRange> operands;
  bool has_nan = false, has_infinity = false;

  void add(ValueRange r) {
    has_nan |= r.nans > 0;
    has_infinity |= r.infinities > 0;
    operands.push_back(std::move(r));
  }
  /// Whether values like those of `made` are more than the operands brought.
  bool is_first(const ValueRange& made) const {
    return (made.nans > 0 && !has_nan) || (made.infinities > 0 && !has_infinity && !has_nan);
  }
  /// Throws, naming the first element of `t` that none of the operands explains.
  [[noreturn]] void raise(const char* op, bool backward, const Tensor& t, const std::string& found_in,
                          const std::string& of, const std::string& at) const {
    std::int64_t first = -1;
    double value = 0;
    visit_values(t, [&](std::int64_t i, double v) {
      if (first < 0 && (std::isnan(v) ? !has_nan : std::isinf(v) && !has_infinity)) first = i, value = v;
    });
    std::vector<std::int64_t> index(std::size_t(t.dim()));
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = first % t.sizes()[d];
      first /= t.sizes()[d];
    }
    std::string message;
    const auto say = [&message](const auto&... parts) { (append_to(message, parts), ...); };
    say(backward ? "backward of " : "forward of ", op, " made ", number(value), " at ", IntSpan(index), " of ", of,
        " (", t.spec(), ") from ");
    for (std::size_t i = 0; i < operands.size(); ++i) say(i ? ", " : "", operands[i]);
    say(operands.empty() ? "nothing" : "", at.empty() ? "" : "; " + std::string(op) + " was called at " + at,
        backward ? "; change the operand before the call where it has no finite derivative: a mask after it comes too "
                   "late, as 0 * inf is NaN"
                 : "; keep the operands where the result is finite, with clamp() or a mask before the call");
    NonFiniteError error(message);
    error.op = op;
    error.in_backward = backward;
    error.value = value;
    error.index = std::move(index);
    error.found_in = found_in;
    error.operands = operands;
    error.at = at;
    throw error;
  }
};

/// The operator's name of its i-th tensor argument.
std::string operand_name(const char* op, std::size_t i) {
  for (const OpEntry* e = OpEntry::first(); e; e = e->next())
    if (std::string_view(e->name()) == op) return e->tensor_argument_name(i);
  return fmt::format("input {}", i);
}

}  // namespace

void append_to(std::string& s, const ValueRange& r) {
  const auto say = [&s](const auto&... parts) { (append_to(s, parts), ...); };
  say(r.name, " (", r.spec, ")");
  if (r.numbers > 0) say(" from ", number(r.min), " to ", number(r.max));
  if (r.nans > 0) say(r.numbers > 0 ? " with " : " all ", r.nans, " NaN");
}

ValueRange range_of(const Tensor& t, std::string name) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ValueRange r{.name = std::move(name), .spec = t.spec(), .min = kInfinity, .max = -kInfinity};
  if (t.device().is_meta()) return r;
  visit_values(t, [&r](std::int64_t, double v) {
    if (std::isnan(v)) {
      ++r.nans;
      return;
    }
    ++r.numbers;
    r.infinities += std::isinf(v);
    r.min = std::min(r.min, v);
    r.max = std::max(r.max, v);
  });
  return r;
}

void check_forward(const detail::WatchedCall& call, const Tensor* results, std::size_t n) {
  if (!call.finite_numbers) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_floating(results[i].dtype())) continue;
    const ValueRange made = range_of(results[i], "");
    if (is_clean(made)) continue;
    Finding finding;
    for (const auto& [argument, t] : call.operands) {
      const bool gone = call.overwritten && t.is_same(*call.overwritten);
      finding.add(gone ? Watch::of_this_thread().overwritten : range_of(t, call.op.argument_name(argument)));
    }
    if (!finding.is_first(made)) continue;
    const std::string which = n == 1 ? "its result" : fmt::format("its result {} of {}", i + 1, n);
    finding.raise(call.name, false, results[i], "result", which, CallSite::here().str());
  }
}

Gradients apply_watched(Node& node, Gradients in) {
  const Watch& w = Watch::of_this_thread();
  const bool check = w.log && w.options.check_backward;
  const Gradients arrived = check ? in : Gradients();
  Gradients out;
  {
    const Nested inner;
    out = node.hooks() ? node.hooks()->apply(node, std::move(in)) : node.apply(std::move(in));
  }
  if (!check) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].defined() || !is_floating(out[i].dtype())) continue;
    const ValueRange made = range_of(out[i], "");
    if (is_clean(made)) continue;
    Finding finding;
    for (const Tensor& g : arrived)
      if (g.defined()) finding.add(range_of(g, "the gradient that arrived"));
    for (const Node* n = &node; n; n = n->wrapped())
      for (const Saved* s = n->saved(); s; s = s->next())
        if (s->alias().defined()) finding.add(range_of(s->alias(), std::string("saved ") + s->what()));
    if (!finding.is_first(made)) continue;
    const std::string name = operand_name(node.name(), i);
    finding.raise(node.name(), true, out[i], name, "the gradient of '" + name + "'",
                  node.trace() ? node.trace()->recorded_at.str() : "");
  }
  return out;
}

void add_call_site(std::runtime_error& error, const Node& node) {
  if (dynamic_cast<const InplaceConflictError*>(&error) || dynamic_cast<const NonFiniteError*>(&error)) return;
  const std::string where = called_at(node);
  if (where.empty()) return;
  // The text of the base class is replaced: the error keeps its type and its fields.
  error.std::runtime_error::operator=(
      std::runtime_error(error.what() + (" (in the backward of " + std::string(node.name()) + where + ")")));
}

}  // namespace taper
