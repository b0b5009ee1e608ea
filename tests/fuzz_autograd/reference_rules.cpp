// How operations are differentiated, as Taper's rules do it: what they keep, and which operations a rule is made of
// when the backward pass is itself recorded. Numbers are the tape's business; here it is only what is kept where.
#include <algorithm>

#include "reference.h"

namespace fuzz {

/// An operation as it is recorded, but for what it keeps of its result.
Operation Reference::operation(Rule rule, const std::vector<Flow>& args, double number) const {
  Operation op{.rule = rule, .number = number};
  for (const Flow& a : args) op.edges.push_back(a.operation);
  const auto wants = [&](std::size_t i) { return i < op.edges.size() && op.edges[i] >= 0; };
  const auto keep_x = [&] { op.kept.push_back({Operation::x, args[0]}); };
  const auto keep_y = [&] { op.kept.push_back({Operation::y, args[1]}); };
  switch (rule) {
    case Rule::linear:
    case Rule::stop:
    case Rule::copy:
    case Rule::through:
      break;
    case Rule::chosen:
      op.kept.push_back({Operation::places, {}});
      break;
    case Rule::mul:
    case Rule::matmul:
      if (wants(1)) keep_x();
      if (wants(0)) keep_y();
      break;
    case Rule::div:
      if (wants(1)) keep_x();
      keep_y();
      break;
    case Rule::extremum:
      keep_x(), keep_y();
      break;
    case Rule::tanh_grad:
    case Rule::sigmoid_grad:
      if (wants(1)) keep_x();
      keep_y();
      break;
    case Rule::relu_grad:
    case Rule::clamp_grad:
      if (wants(0)) keep_y();
      break;
    case Rule::exp:
    case Rule::sqrt:
    case Rule::reciprocal:
    case Rule::tanh:
    case Rule::sigmoid:
    case Rule::relu:
      op.kept.push_back({Operation::result, {}});
      break;
    default:
      keep_x();
  }
  return op;
}

unsigned Reference::keeps_inference(const Operation& op) const {
  for (const Operation::Kept& k : op.kept)
    if (memories_[std::size_t(k.value.memory)].inference) return kInference;
  return 0;
}

/// The result of an operation of a recorded pass, whose memory is its own.
Flow Reference::apply(Rule rule, const std::vector<Flow>& args, double number) {
  if (std::all_of(args.begin(), args.end(), [](const Flow& a) { return a.operation < 0; })) return {};
  Operation op = operation(rule, args, number);
  if (broken("recorded passes keep nothing")) op.kept.clear();
  return {add(std::move(op))};
}

Flow Reference::view_of(const Flow& v) { return {apply(Rule::linear, {v}).operation, v.memory, v.version}; }

/// The gradients of an operation's arguments in a recorded pass, where `g` is that of its result.
std::vector<Flow> Reference::differentiate(int operation, const Flow& g) {
  const Operation& op = operations_[std::size_t(operation)];  // a deque's elements stay where they are
  std::vector<Flow> out(op.edges.size());
  const auto wants = [&](std::size_t i) { return i < op.edges.size() && op.edges[i] >= 0; };
  const auto kept = [&](Operation::Role role) {
    for (const Operation::Kept& k : op.kept)
      if (k.role == role) return k.value;
    return Flow{};
  };
  const auto linear = [&](const Flow& v) { return apply(Rule::linear, {v}); };
  const auto chosen = [&](const Flow& v) { return apply(Rule::chosen, {v}); };
  const auto mul = [&](const Flow& a, const Flow& b) { return apply(Rule::mul, {a, b}); };
  const auto div = [&](const Flow& a, const Flow& b) { return apply(Rule::div, {a, b}); };
  const Flow x = kept(Operation::x), y = kept(Operation::y), z = kept(Operation::result);
  switch (op.rule) {
    case Rule::linear:
      for (std::size_t i = 0; i < out.size(); ++i)
        if (wants(i)) out[i] = linear(g);
      break;
    case Rule::chosen:
      for (std::size_t i = 0; i < out.size(); ++i)
        if (wants(i)) out[i] = chosen(g);
      break;
    case Rule::stop:
      break;
    case Rule::copy:
      if (wants(1)) out[1] = linear(g);
      break;
    case Rule::through: {
      const std::vector<Flow> in = differentiate(op.writer, linear(g));
      std::copy(in.begin() + 1, in.end(), out.begin() + 1);
      if (wants(0)) out[0] = apply(Rule::linear, {g, in[0]});
      break;
    }
    case Rule::mul:
      if (wants(0)) out[0] = mul(g, y);
      if (wants(1)) out[1] = mul(g, x);
      break;
    case Rule::div:
      if (wants(0)) out[0] = div(g, y);
      if (wants(1)) out[1] = mul(linear(g), div(div(x, y), y));
      break;
    case Rule::matmul:
      if (wants(0)) out[0] = apply(Rule::matmul, {g, view_of(y)});
      if (wants(1)) out[1] = apply(Rule::matmul, {view_of(x), g});
      break;
    case Rule::extremum: {
      const Flow shared = chosen(linear(g));  // halved where both are equal
      for (std::size_t i = 0; i < out.size(); ++i)
        if (wants(i)) out[i] = chosen(shared);
      break;
    }
    case Rule::power:
      if (op.number != 0) out[0] = mul(g, linear(apply(Rule::power, {x}, op.number - 1)));
      break;
    case Rule::square:
      out[0] = mul(g, linear(x));
      break;
    case Rule::log:
      out[0] = div(g, x);
      break;
    case Rule::sin:
      out[0] = mul(g, apply(Rule::cos, {x}));
      break;
    case Rule::cos:
      out[0] = mul(g, linear(apply(Rule::sin, {x})));
      break;
    case Rule::abs:
      out[0] = mul(g, apply(Rule::stop, {x}));
      break;
    case Rule::clamp:
      out[0] = apply(Rule::clamp_grad, {g, x});
      break;
    case Rule::exp:
      out[0] = mul(g, z);
      break;
    case Rule::sqrt:
      out[0] = div(g, linear(z));
      break;
    case Rule::reciprocal:
      out[0] = mul(linear(g), mul(z, z));
      break;
    case Rule::tanh:
      out[0] = apply(Rule::tanh_grad, {g, z});
      break;
    case Rule::sigmoid:
      out[0] = apply(Rule::sigmoid_grad, {g, z});
      break;
    case Rule::relu:
      out[0] = apply(Rule::relu_grad, {g, z});
      break;
    case Rule::tanh_grad:
    case Rule::sigmoid_grad:
      if (wants(0)) out[0] = apply(op.rule, {g, y});
      if (wants(1)) out[1] = mul(mul(g, x), linear(y));
      break;
    case Rule::relu_grad:
    case Rule::clamp_grad:
      if (wants(0)) out[0] = apply(op.rule, {g, y});
      break;
  }
  return out;
}

}  // namespace fuzz
