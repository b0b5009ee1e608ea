// Element by element: the functions, and writing their results into memory that others can see.
#include <cmath>
#include <map>
#include <numeric>

#include "reference.h"
#include "shapes.h"

namespace fuzz {
namespace {

Rule rule_of(const std::string& op, bool has_other) {
  static const std::map<std::string, Rule> unary{
      {"pow", Rule::power},      {"square", Rule::square}, {"log", Rule::log},     {"sin", Rule::sin},
      {"cos", Rule::cos},        {"abs", Rule::abs},       {"clamp", Rule::clamp}, {"exp", Rule::exp},
      {"sqrt", Rule::sqrt},      {"tanh", Rule::tanh},     {"relu", Rule::relu},   {"reciprocal", Rule::reciprocal},
      {"sigmoid", Rule::sigmoid}};
  static const std::map<std::string, Rule> binary{
      {"mul", Rule::mul}, {"div", Rule::div}, {"maximum", Rule::extremum}, {"minimum", Rule::extremum}};
  const auto& rules = has_other ? binary : unary;
  const auto found = rules.find(op);
  return found == rules.end() ? Rule::linear : found->second;
}
double number_of(const Step& s) { return s.op == "pow" ? s.numbers[0] : 0; }

constexpr double kKink = 1e-6;  // closer to where a derivative jumps, rounding would decide

}  // namespace

/// op(x) or op(x, y), both of the result's shape already; nothing where it is not worth comparing.
std::optional<Reference::Numbers> Reference::compute(const std::string& op, const Numbers& x, const Numbers& y,
                                                     const std::vector<double>& c) {
  Numbers out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = tape_.value(x[i]), b = y.empty() ? 0 : tape_.value(y[i]);
    const auto unary = [&](Fn f, double number = 0) { out.push_back(tape_.unary(f, x[i], number)); };
    const auto binary = [&](Fn f) { out.push_back(tape_.binary(f, x[i], y[i])); };
    const auto take = [&](Id from) { out.push_back(tape_.same(from, tape_.value(from))); };
    if (!y.empty()) {
      if (op == "add") {
        binary(Fn::add);
      } else if (op == "sub") {
        binary(Fn::sub);
      } else if (op == "mul") {
        binary(Fn::mul);
      } else if (op == "div") {
        if (std::abs(b) < 0.2) return {};
        binary(Fn::div);
      } else {
        if (std::abs(a - b) < kKink) return {};
        take((op == "maximum") == (a > b) ? x[i] : y[i]);
      }
    } else if (op == "add") {
      unary(Fn::shift, c[0]);
    } else if (op == "mul") {
      unary(Fn::scale, c[0]);
    } else if (op == "div") {
      unary(Fn::scale, 1 / c[0]);
    } else if (op == "pow") {
      unary(Fn::power, c[0]);
    } else if (op == "clamp") {
      if (std::abs(a - c[0]) < kKink || std::abs(a - c[1]) < kKink) return {};
      if (a > c[0] && a < c[1])
        take(x[i]);
      else
        out.push_back(tape_.constant(a < c[0] ? c[0] : c[1]));
    } else if (op == "relu" || op == "abs") {
      if (std::abs(a) < kKink) return {};
      unary(op == "relu" ? Fn::relu : Fn::abs);
    } else if (op == "log" || op == "sqrt") {
      if (a < 0.05) return {};
      unary(op == "log" ? Fn::log : Fn::sqrt);
    } else if (op == "reciprocal") {
      if (std::abs(a) < 0.2) return {};
      unary(Fn::reciprocal);
    } else if (op == "exp") {
      unary(Fn::exp);
    } else {
      unary(op == "neg"       ? Fn::neg
            : op == "sin"     ? Fn::sin
            : op == "cos"     ? Fn::cos
            : op == "tanh"    ? Fn::tanh
            : op == "sigmoid" ? Fn::sigmoid
                              : Fn::square);
    }
  }
  return out;
}

namespace {
template <class T>
std::vector<T> picked(const std::vector<T>& from, const std::vector<int>& at) {
  std::vector<T> out;
  for (const int i : at) out.push_back(from[std::size_t(i)]);
  return out;
}
}  // namespace

Verdict Reference::elementwise(const Step& s) {
  std::vector<int> args;
  for (const int v : s.in) args.push_back(index(v));
  Ints shape = all_[std::size_t(args[0])].shape;
  bool contiguous = is_contiguous(all_[std::size_t(args[0])]);
  if (args.size() > 1) {
    const Variable& other = all_[std::size_t(args[1])];
    const auto both = broadcast(shape, other.shape);
    if (!both) return {.skipped = true};
    shape = *both;
    contiguous &= is_contiguous(other);
  }
  if (s.what == Do::where && s.ints.size() != count(shape)) return {.skipped = true};
  const Call call = begin(args);
  std::vector<Numbers> in;
  for (const int a : args) {
    const Variable& v = all_[std::size_t(a)];
    in.push_back(picked(operand(v, call.recorded), broadcast_positions(v.shape, shape)));
  }
  const auto same = [&](Id i) { return tape_.same(i, tape_.value(i)); };

  if (s.what == Do::take) {
    const Variable& v = all_[std::size_t(args[0])];
    if (v.shape.empty() || v.shape[0] == 0) return {.skipped = true};
    const std::size_t row = v.numel() / std::size_t(v.shape[0]);
    Numbers out;
    for (const std::int64_t i : s.ints) {
      if (i >= v.shape[0]) return {.skipped = true};
      for (std::size_t k = 0; k < row; ++k) out.push_back(same(in[0][std::size_t(i) * row + k]));
    }
    shape[0] = std::int64_t(s.ints.size());
    return functional(s, out, shape, true, call, Rule::chosen);
  }
  if (s.what == Do::clone || s.what == Do::where) {
    Numbers out;
    for (std::size_t i = 0; i < in[0].size(); ++i)
      out.push_back(same(s.what == Do::clone || s.ints[i] ? in[0][i] : in[1][i]));
    return functional(s, out, shape, contiguous, call, s.what == Do::where ? Rule::chosen : Rule::linear);
  }
  const auto out = compute(s.op, in[0], in.size() > 1 ? in[1] : Numbers{}, s.numbers);
  if (!out) return {.skipped = true};
  return functional(s, *out, shape, contiguous, call, rule_of(s.op, in.size() > 1), number_of(s));
}

// ---- Writing in place ----

Verdict Reference::write(const Step& s) {
  const int self = index(s.in[0]), arg = s.in.size() > 1 ? index(s.in[1]) : -1;
  const Ints shape = all_[std::size_t(self)].shape;
  if (arg >= 0) {
    const Ints& from = all_[std::size_t(arg)].shape;
    if (broadcast(shape, from) != shape) return {.skipped = true};
    if ((s.what == Do::fill_tensor_ || s.what == Do::masked_fill_) && !from.empty()) return {.skipped = true};
  }
  if (s.what == Do::masked_fill_ && s.ints.size() != count(shape)) return {.skipped = true};
  const Rule rule = s.what == Do::unary_ || s.what == Do::binary_ ? rule_of(s.op, arg >= 0)
                    : s.what == Do::masked_fill_                  ? Rule::chosen
                                                                  : Rule::copy;
  const auto result = [&](const Numbers& old, const Numbers& value) -> std::optional<Numbers> {
    if (s.what == Do::unary_ || s.what == Do::binary_) return compute(s.op, old, value, s.numbers);
    Numbers out = old;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (s.what == Do::masked_fill_ && !s.ints[i]) continue;
      const Id from = value.empty() ? tape_.constant(s.what == Do::zero_ ? 0 : s.numbers[0]) : value[i];
      out[i] = tape_.same(from, tape_.value(from));
    }
    return out;
  };
  return write_into(
      self, arg,
      [&](const Numbers& old, const Numbers& value) {
        return result(old,
                      arg < 0 ? Numbers{} : picked(value, broadcast_positions(all_[std::size_t(arg)].shape, shape)));
      },
      rule, number_of(s));
}

/// A user's function, which knows nothing of the graph: those that write do so before anybody can refuse it.
Verdict Reference::function(const Step& s) {
  const int self = index(s.in[0]);
  const Variable v = all_[std::size_t(self)];
  const auto called = [&](const char* name) { return s.op == name; };
  const std::string computes = called("square") ? "square" : called("exp_") ? "exp" : "mul";
  if (s.op.back() != '_') {
    const Call call = begin({self});
    if (call.refused) return {.must = call.refused};
    if (called("same")) {
      if (!call.recorded) return share(self, s.out[0]);
      std::vector<int> all(v.numel());
      std::iota(all.begin(), all.end(), 0);
      const int made = make_view(self, all, v.shape, false, call, add({.edges = call.edges}));
      all_[std::size_t(made)].made = Made::without_recording;
      names_[s.out[0]] = made;
      return {};
    }
    const auto out = compute(computes, operand(all_[std::size_t(self)], call.recorded), {}, s.numbers);
    if (!out) return {.skipped = true};
    return functional(s, *out, v.shape, is_contiguous(v), call, rule_of(computes, false));
  }
  const bool recorded = look_at({self}).recorded, secret = called("secret_");
  const Verdict verdict = write_into(
      self, -1, [&](const Numbers& old, const Numbers&) { return compute(computes, old, {}, s.numbers); },
      rule_of(computes, false), 0, secret ? Writer::secret_function : Writer::function);
  if (verdict.skipped || verdict.must) return verdict;
  if (secret)
    define(s.out[0], fresh(operand(v, false), v.shape, is_contiguous(v)));
  else if (recorded)
    names_[s.out[0]] = self;
  else
    return share(self, s.out[0]);
  return verdict;
}

/// What a function returns that is not recorded and returns its argument.
Verdict Reference::share(int self, int out) {
  if (!requires_grad(all_[std::size_t(self)])) {
    names_[out] = self;
    return {};
  }
  names_[out] = define(-1, detached(all_[std::size_t(self)]));
  return {};
}

/// x[entries] = value: numbers and ranges make a view, what is left picks elements of it.
Verdict Reference::assign(const Step& s) {
  const int value = s.in.size() > 1 ? index(s.in[1]) : -1;
  int self = index(s.in[0]);
  std::int64_t dim = 0;
  const IndexEntry* pick = nullptr;
  for (const IndexEntry& e : s.entries) {
    if (e.kind == IndexEntry::Kind::list || e.kind == IndexEntry::Kind::mask) {
      pick = &e;
      break;
    }
    Step part;
    const bool one = e.kind == IndexEntry::Kind::integer;
    part.what = one ? Do::view_select : Do::view_slice;
    part.ints = one ? Ints{dim, e.ints[0]} : Ints{dim, e.ints[0], e.ints[1], e.ints[2]};
    const auto shown = positions(part, all_[std::size_t(self)]);
    if (!shown) return {.skipped = true};
    const Call call = begin({self});
    if (call.refused) return {.must = call.refused};
    self = make_view(self, shown->first, shown->second, false, call, call.recorded ? add({.edges = call.edges}) : -1);
    dim += !one;
  }
  const Variable view = all_[std::size_t(self)];
  // Elements of the view in the order they are written, and the shape the value is broadcast to.
  std::vector<int> targets = walk(0, view.shape, row_major(view.shape));
  Ints shape = view.shape;
  if (pick) {
    if (dim != 0 || view.shape.empty()) return {.skipped = true};
    targets.clear();
    if (pick->kind == IndexEntry::Kind::list) {
      const std::size_t row = view.shape[0] > 0 ? view.numel() / std::size_t(view.shape[0]) : 0;
      for (const std::int64_t i : pick->ints) {
        if (i >= view.shape[0]) return {.skipped = true};
        for (std::size_t k = 0; k < row; ++k) targets.push_back(int(std::size_t(i) * row + k));
      }
      shape[0] = std::int64_t(pick->ints.size());
    } else {
      if (pick->ints.size() != view.numel()) return {.skipped = true};
      for (std::size_t i = 0; i < pick->ints.size(); ++i)
        if (pick->ints[i]) targets.push_back(int(i));
      shape = {std::int64_t(targets.size())};
    }
  }
  if (value >= 0 && broadcast(all_[std::size_t(value)].shape, shape) != shape) return {.skipped = true};
  return write_into(
      self, value,
      [&](const Numbers& old, const Numbers& from) -> std::optional<Numbers> {
        Numbers out = old, to;
        if (value >= 0)
          to = picked(from, broadcast_positions(all_[std::size_t(value)].shape, shape));
        else
          to.assign(targets.size(), tape_.constant(s.numbers[0]));
        for (std::size_t i = 0; i < targets.size(); ++i)
          out[std::size_t(targets[i])] = tape_.same(to[i], tape_.value(to[i]));
        return out;
      },
      pick ? Rule::chosen : Rule::copy);
}

/// Replaces self's elements. If anything requires grad, self's history becomes that of the write, and if self is a
/// view, so does its base's where self looks.
Verdict Reference::write_into(int self_index, int arg, const Compute& result, Rule rule, double number, Writer by) {
  std::vector<int> args{self_index};
  if (arg >= 0) args.push_back(arg);
  Variable& self = all_[std::size_t(self_index)];
  if (self.base >= 0 && overlaps_itself(all_[std::size_t(self.base)])) return {.skipped = true};
  Call call = look_at(args);

  unsigned refused = 0, of_destination = 0;
  const int base_index = self.base;
  if (overlaps_itself(self)) of_destination |= kOverlap;
  if (memory(self).inference && !inference()) of_destination |= kInference;
  if (recording() && base_index >= 0) {
    const Variable& base = all_[std::size_t(base_index)];
    if (requires_grad(base) && base.operation < 0) refused |= kLeaf;
  }
  if (call.recorded) {
    if (base_index >= 0 && self.made == Made::without_recording) refused |= kNoGradView;
    if (base_index >= 0 && self.made == Made::several) refused |= kSeveral;
    if (base_index >= 0 && requires_grad(self) && all_[std::size_t(base_index)].operation < 0) refused |= kLeaf;
    if (base_index >= 0)
      for (const int p : self.places) {
        const auto& places = all_[std::size_t(base_index)].places;
        if (std::find(places.begin(), places.end(), p) == places.end()) refused |= kOutside;
      }
    if (is_lent(self)) refused |= kShared;
    if (requires_grad(self) && (refused ? self.operation < 0 : is_leaf(self_index, refused))) refused |= kLeaf;
  }
  if (by != Writer::operation) {
    for (const int a : args)
      if (call.recorded)
        if (const unsigned unknown = unknown_history(all_[std::size_t(a)])) return {.must = unknown};
    if (of_destination) return {.must = of_destination};
    if (by == Writer::secret_function && !broken("secret writes are not noticed"))
      refused = call.recorded ? unsigned(kSecret) : refused;
    if (refused) {
      const auto values = result(operand(self, false), {});
      if (!values || !reasonable(*values)) return {.skipped = true};
      Memory& memory = memories_[std::size_t(self.memory)];
      for (std::size_t i = 0; i < values->size(); ++i)
        memory.values[std::size_t(self.places[i])] = tape_.value((*values)[i]);
      ++memory.version;
      return {.must = refused};
    }
  }
  refused |= of_destination;
  if (refused) {
    // An argument whose history cannot be told may be what is found first.
    for (const int a : args)
      if (call.recorded) refused |= unknown_history(all_[std::size_t(a)]);
    return {.must = refused};
  }
  connect(call);
  Operation op;
  if (call.recorded) {
    std::vector<Flow> flows = arguments(call);
    flows[0] = {call.edges[0]};  // a copy of the old value is kept: freed like all that is kept, but never overwritten
    op = operation(rule, flows, number);
  }
  refused = call.refused | keeps_inference(op);

  const Numbers old = operand(self, call.recorded);
  auto made = result(old, arg >= 0 ? operand(all_[std::size_t(arg)], call.recorded) : Numbers{});
  if (!made || !reasonable(*made)) return {.skipped = true};
  for (std::size_t i = 0; i < made->size(); ++i)  // what was not written is still another tensor's element
    if ((*made)[i] == old[i]) (*made)[i] = tape_.same(old[i], tape_.value(old[i]));
  if (refused) return {.must = refused};

  Memory& memory = memories_[std::size_t(self.memory)];
  for (std::size_t i = 0; i < made->size(); ++i) memory.values[std::size_t(self.places[i])] = tape_.value((*made)[i]);
  ++memory.version;
  if (!call.recorded) return {};
  const int writer = int(operations_.size());
  for (Operation::Kept& k : op.kept)
    if (k.role == Operation::result) k.value = {writer, self.memory, memory.version};
  add(std::move(op));

  if (base_index < 0) {
    self.ids = marked(*made);
    self.operation = writer;
    return {};
  }
  Variable& base = all_[std::size_t(base_index)];
  unsigned none = 0;
  const int before = edge(base_index, none);
  Operation through{.rule = Rule::through, .edges = call.edges, .writer = writer};
  through.edges[0] = before;
  Numbers whole = operand(base, before >= 0);
  for (std::size_t i = 0; i < base.numel(); ++i) {
    const auto written = std::find(self.places.begin(), self.places.end(), base.places[i]);
    if (written != self.places.end() && !broken("writes through views stay in the view"))
      whole[i] = (*made)[std::size_t(written - self.places.begin())];
  }
  base.ids = results(whole);
  base.operation = add(std::move(through));
  base.view_version = memory.version;
  self.operation = base.operation;  // a history of its own follows from the base's
  self.view_version = memory.version - 1;
  refresh(self_index, none);
  return {};
}

}  // namespace fuzz
