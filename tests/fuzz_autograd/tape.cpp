#include "tape.h"

#include <algorithm>
#include <cmath>

namespace fuzz {
namespace {

double evaluate(Fn f, double a, double b, double c) {
  switch (f) {
    case Fn::add:
      return a + b;
    case Fn::sub:
      return a - b;
    case Fn::mul:
      return a * b;
    case Fn::div:
      return a / b;
    case Fn::scale:
      return a * c;
    case Fn::shift:
      return a + c;
    case Fn::neg:
      return -a;
    case Fn::exp:
      return std::exp(a);
    case Fn::log:
      return std::log(a);
    case Fn::sin:
      return std::sin(a);
    case Fn::cos:
      return std::cos(a);
    case Fn::tanh:
      return std::tanh(a);
    case Fn::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Fn::relu:
      return a > 0 ? a : 0;
    case Fn::step:
      return a > 0 ? 1 : 0;
    case Fn::square:
      return a * a;
    case Fn::sqrt:
      return std::sqrt(a);
    case Fn::abs:
      return std::abs(a);
    case Fn::sign:
      return double(a > 0) - double(a < 0);
    case Fn::reciprocal:
      return 1 / a;
    case Fn::power:
      return std::pow(a, c);
    default:
      return a;
  }
}

/// The derivative rules, once for derivatives that are numbers and once for those that are recorded. `x` and `y` are
/// the operands, `z` the result, `g` its derivative; `to(operand, derivative)` adds one up.
template <class Algebra, class T, class To>
void chain_rule(Algebra& in, Fn f, T x, T y, T z, double c, T g, To&& to) {
  switch (f) {
    case Fn::same:
    case Fn::shift:
      return to(0, g);
    case Fn::add:
      return to(0, g), to(1, g);
    case Fn::sub:
      return to(0, g), to(1, in.unary(Fn::neg, g));
    case Fn::mul:
      return to(0, in.binary(Fn::mul, g, y)), to(1, in.binary(Fn::mul, g, x));
    case Fn::div: {
      const T over = in.binary(Fn::div, g, y);
      return to(0, over), to(1, in.unary(Fn::neg, in.binary(Fn::mul, over, in.binary(Fn::div, x, y))));
    }
    case Fn::scale:
      return to(0, in.unary(Fn::scale, g, c));
    case Fn::neg:
      return to(0, in.unary(Fn::neg, g));
    case Fn::exp:
      return to(0, in.binary(Fn::mul, g, z));
    case Fn::log:
      return to(0, in.binary(Fn::div, g, x));
    case Fn::sin:
      return to(0, in.binary(Fn::mul, g, in.unary(Fn::cos, x)));
    case Fn::cos:
      return to(0, in.unary(Fn::neg, in.binary(Fn::mul, g, in.unary(Fn::sin, x))));
    case Fn::tanh:  // 1 - z^2
      return to(0, in.binary(Fn::mul, g, in.unary(Fn::shift, in.unary(Fn::neg, in.unary(Fn::square, z)), 1)));
    case Fn::sigmoid:  // z - z^2
      return to(0, in.binary(Fn::mul, g, in.binary(Fn::sub, z, in.unary(Fn::square, z))));
    case Fn::relu:
      return to(0, in.binary(Fn::mul, g, in.unary(Fn::step, x)));
    case Fn::square:
      return to(0, in.binary(Fn::mul, g, in.unary(Fn::scale, x, 2)));
    case Fn::sqrt:
      return to(0, in.binary(Fn::div, g, in.unary(Fn::scale, z, 2)));
    case Fn::abs:
      return to(0, in.binary(Fn::mul, g, in.unary(Fn::sign, x)));
    case Fn::reciprocal:
      return to(0, in.unary(Fn::neg, in.binary(Fn::mul, g, in.unary(Fn::square, z))));
    case Fn::power:
      if (c == 0) return;  // else 0 * inf at 0
      return to(0, in.binary(Fn::mul, g, in.unary(Fn::scale, in.unary(Fn::power, x, c - 1), c)));
    default:
      return;  // constant where it has a derivative
  }
}

}  // namespace

struct Numbers {
  double unary(Fn f, double a, double c = 0) const { return evaluate(f, a, 0, c); }
  double binary(Fn f, double a, double b) const { return evaluate(f, a, b, 0); }
};
struct Recorded {
  Tape& tape;
  Id unary(Fn f, Id a, double c = 0) { return tape.unary(f, a, c); }
  Id binary(Fn f, Id a, Id b) { return tape.binary(f, a, b); }
};

Id Tape::unary(Fn f, Id a, double c) {
  const Entry& x = entries_[at(a)];
  return push({f, x.tracked && f != Fn::step && f != Fn::sign, a, kNone, c, evaluate(f, x.value, 0, c)});
}

Id Tape::binary(Fn f, Id a, Id b) {
  const Entry &x = entries_[at(a)], &y = entries_[at(b)];
  return push({f, x.tracked || y.tracked, a, b, 0, evaluate(f, x.value, y.value, 0)});
}

void Tape::run_backward(const std::vector<std::pair<Id, double>>& seeds, bool recorded, const std::vector<Id>& own) {
  is_recorded_ = recorded;
  largest_ = 0;
  const std::size_t size = entries_.size();
  recorded_.assign(recorded ? size : 0, kNone);
  numbers_.assign(recorded ? 0 : size, 0);
  const auto note = [&](double v) { largest_ = std::max(largest_, std::abs(v)); };

  if (!recorded) {
    for (const auto& [id, seed] : seeds) numbers_[at(id)] += seed;
    Numbers algebra;
    for (std::size_t i = size; i-- > 0;) {
      const Entry& e = entries_[i];
      if (!e.tracked || numbers_[i] == 0) continue;
      note(numbers_[i]);
      chain_rule(algebra, e.fn, e.a >= 0 ? value(e.a) : 0, e.b >= 0 ? value(e.b) : 0, e.value, e.c, numbers_[i],
                 [&](int k, double d) { numbers_[at(k ? e.b : e.a)] += d; });
    }
    return;
  }
  const auto send = [&](Id to, Id d) {
    Id& sum = recorded_[at(to)];
    sum = sum == kNone ? d : binary(Fn::add, sum, d);
  };
  for (const auto& [id, seed] : seeds) send(id, constant(seed));
  std::vector<bool> is_own(size);
  for (const Id i : own) is_own[at(i)] = true;
  Recorded algebra{*this};
  for (std::size_t i = size; i-- > 0;) {
    const Entry e = entries_[i];  // the tape grows
    if (is_own[i]) recorded_[i] = result(recorded_[i] == kNone ? constant(0) : recorded_[i]);
    if (!e.tracked || recorded_[i] == kNone) continue;
    note(value(recorded_[i]));
    chain_rule(algebra, e.fn, e.a, e.b, Id(i), e.c, recorded_[i], [&](int k, Id d) {
      const Id to = k ? e.b : e.a;
      if (entries_[at(to)].tracked) send(to, d);
    });
  }
}

Id Tape::derivative(Id a) {
  if (!is_recorded_) return constant(at(a) < numbers_.size() ? numbers_[at(a)] : 0);
  const Id d = at(a) < recorded_.size() ? recorded_[at(a)] : kNone;
  return d == kNone ? constant(0) : d;
}

}  // namespace fuzz
