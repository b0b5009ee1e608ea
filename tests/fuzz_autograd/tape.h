#pragma once
// A tape of numbers: what every element of every tensor was computed from. The truth that Taper is compared with, as
// plain as it can be: no tensors, no views, no memory, one entry per number, and the chain rule.
#include <cstdint>
#include <vector>

namespace fuzz {

/// A number on the tape.
using Id = std::int32_t;
inline constexpr Id kNone = -1;

enum class Fn : std::uint8_t {
  constant,  // no derivative
  variable,
  same,  // a, though memory may hold another value by now
  add,
  sub,
  mul,
  div,
  scale,  // a * c
  shift,  // a + c
  neg,
  exp,
  log,
  sin,
  cos,
  tanh,
  sigmoid,
  relu,
  step,  // 1 above 0
  square,
  sqrt,
  abs,
  sign,
  reciprocal,
  power  // a^c
};

class Tape {
 public:
  Id constant(double v) { return push({Fn::constant, false, kNone, kNone, 0, v}); }
  Id variable(double v) { return push({Fn::variable, true, kNone, kNone, 0, v}); }
  Id same(Id a, double value) { return push({Fn::same, entries_[at(a)].tracked, a, kNone, 0, value}); }
  /// An element of a tensor with a history: its derivative is asked for even if no variable is behind it.
  Id result(Id a) { return push({Fn::same, true, a, kNone, 0, value(a)}); }
  /// The same for a number that was made for that tensor.
  void mark(Id a) { entries_[at(a)].tracked = true; }
  Id unary(Fn f, Id a, double c = 0);
  Id binary(Fn f, Id a, Id b);

  double value(Id a) const { return entries_[at(a)].value; }

  /// Sends the seeds back through the tape. Afterwards derivative(i) is that of the seeded numbers by number i;
  /// recorded on the tape itself if asked, so that it can be differentiated again. The derivatives by `own` become
  /// numbers of their own, from which the others are computed.
  void run_backward(const std::vector<std::pair<Id, double>>& seeds, bool recorded, const std::vector<Id>& own = {});
  /// A number with the derivative; a constant 0 where nothing arrived.
  Id derivative(Id a);
  /// The largest derivative of the last pass: what its rounding errors are measured by.
  double largest_derivative() const { return largest_; }

 private:
  struct Entry {
    Fn fn;
    bool tracked;  // whether a variable is behind it
    Id a, b;
    double c, value;
  };
  friend struct Numbers;
  friend struct Recorded;

  static std::size_t at(Id a) { return std::size_t(a); }
  Id push(const Entry& e) {
    entries_.push_back(e);
    return Id(entries_.size() - 1);
  }

  std::vector<Entry> entries_;
  std::vector<Id> recorded_;     // derivative of each entry as a number on the tape
  std::vector<double> numbers_;  // or only its value
  bool is_recorded_ = false;
  double largest_ = 0;
};

}  // namespace fuzz
