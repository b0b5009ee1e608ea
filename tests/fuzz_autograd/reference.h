#pragma once
// What a program must do, worked out without Taper and without tricks. Memory is an array of numbers; a tensor is a
// list of places in it; what a tensor's elements were computed from is kept number by number on a tape. Beside it
// stands a graph of operations, which says only which programs are refused: what saved which memory at which version,
// what was freed, what is a leaf. A backward pass that is recorded adds the operations that its rules are made of.
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "program.h"
#include "tape.h"

namespace fuzz {

struct Memory {
  std::vector<double> values;
  std::uint32_t version = 0;
  bool row_major = false;  // places count as Taper's elements lie, so that as_strided means the same
  bool inference = false;
};

/// How an operation is differentiated, and so what it keeps. `x` and `y` are its arguments, `z` its result.
enum class Rule : std::uint8_t {
  linear,   // the gradient goes on, moved or scaled: nothing is kept
  chosen,   // the same, at places that are kept
  stop,     // the gradient is 0
  copy,     // that of x is 0, that of y goes on
  through,  // writes through a view: `writer` is the write itself
  mul,
  div,
  matmul,
  extremum,
  power,  // x to the number
  square,
  log,
  sin,
  cos,
  abs,
  clamp,
  exp,
  sqrt,
  reciprocal,
  tanh,
  sigmoid,
  relu,
  // What the rules of others are made of: of the gradient x and, for the last four, what they kept, y.
  tanh_grad,
  sigmoid_grad,
  relu_grad,
  clamp_grad
};

/// A value as operations see it: the operation its gradient goes to, and what of memory would be kept with it. Memory 0
/// is what nobody else can write to.
struct Flow {
  int operation = -1;
  int memory = 0;
  std::uint32_t version = 0;
};

/// An operation that was recorded, or the sink of a leaf.
struct Operation {
  enum Role { x, y, result, places };
  struct Kept {
    Role role;
    Flow value;
  };
  Rule rule = Rule::linear;
  std::vector<int> edges = {};  // for each argument, -1 where no gradient is wanted
  double number = 0;
  std::vector<Kept> kept = {};
  int writer = -1;
  bool part = false;  // one of several results of the operation that its edge leads to
  bool freed = false;
  // Sinks only.
  int leaf = -1;
  Ints shape = {};
  std::vector<Id> ids = {};
};

enum class Made : std::uint8_t { own, view, without_recording, several };

struct Variable {
  int memory = 0;
  std::vector<int> places;
  Ints shape;
  int base = -1;
  int lender = -1;  // whose memory set_data() made its own
  Made made = Made::own;
  std::uint32_t view_version = 0;
  bool asked = false;  // requires_grad_()
  bool retains = false;
  bool frozen = false;
  int operation = -1;  // what made it
  int sink = -1;
  std::vector<Id> ids;
  int grad = -1;

  std::size_t numel() const { return places.size(); }
};

/// What the reference says of one step.
struct Verdict {
  bool skipped = false;        // not a program: nothing was done
  unsigned must = 0, may = 0;  // the refusals that hold, and those that may
};

class Reference {
 public:
  /// Breaks one rule on purpose; see rules().
  explicit Reference(std::string broken = "") : broken_(std::move(broken)) {}
  static const std::vector<std::string>& rules();

  Verdict execute(const Step& s);

  bool has(int variable) const { return names_.count(variable) > 0; }
  const Variable& at(int variable) const { return all_[std::size_t(names_.at(variable))]; }
  const std::map<int, int>& names() const { return names_; }
  std::vector<double> values(const Variable& v) const;
  /// The values of v.grad(), if there is one.
  std::optional<std::vector<double>> grad(const Variable& v) const;
  bool requires_grad(int variable) const { return requires_grad(at(variable)); }
  const Memory& memory(const Variable& v) const { return memories_[std::size_t(v.memory)]; }
  bool recording() const { return modes_.empty(); }
  bool inference() const;
  std::size_t depth() const { return modes_.size(); }
  bool is_contiguous(const Variable& v) const;
  bool overlaps_itself(const Variable& v) const;
  /// The largest derivative of the last backward pass.
  double scale() const { return scale_; }
  /// Whether the program cannot go on: a backward pass failed half way.
  bool ended() const { return ended_; }

 private:
  struct Call {
    bool recorded = false;
    unsigned refused = 0;
    std::vector<int> args;
    std::vector<int> edges;
  };
  using Numbers = std::vector<Id>;

  Variable& get(int variable) { return all_[std::size_t(names_.at(variable))]; }
  int index(int variable) const { return names_.at(variable); }
  bool broken(const char* rule) const { return broken_ == rule; }

  // Histories
  bool requires_grad(const Variable& v) const;
  bool is_stale(const Variable& v) const;
  void refresh(int v, unsigned& refused);
  unsigned unknown_history(const Variable& v) const;
  bool is_lent(const Variable& v) const;
  bool is_leaf(int v, unsigned& refused);
  int edge(int v, unsigned& refused);
  Call begin(const std::vector<int>& args);
  Call look_at(const std::vector<int>& args) const;
  void connect(Call& call);
  Numbers results(Numbers ids);
  const Numbers& marked(const Numbers& ids);
  Id showing(const Variable& v, const Numbers& elements, int place);
  Numbers operand(const Variable& v, bool recorded);
  int add(Operation op);
  Operation operation(Rule rule, const std::vector<Flow>& args, double number = 0) const;
  std::vector<Flow> arguments(const Call& call) const;
  unsigned keeps_inference(const Operation& op) const;

  // Making
  int define(int variable, Variable v);
  Variable fresh(const Numbers& ids, Ints shape, bool row_major);
  Verdict functional(const Step& s, const Numbers& ids, Ints shape, bool row_major, const Call& call, Rule rule,
                     double number = 0);
  Verdict elementwise(const Step& s);
  Verdict reduction(const Step& s);
  Verdict joined(const Step& s);
  Verdict function(const Step& s);
  Verdict share(int self, int out);
  static Variable detached(const Variable& from);
  Verdict view(const Step& s);
  Verdict strided(const Step& s);
  Verdict several(const Step& s);
  std::optional<std::pair<std::vector<int>, Ints>> positions(const Step& s, const Variable& v) const;
  int make_view(int self, const std::vector<int>& positions, Ints shape, bool several, const Call& call, int operation);

  // Writing
  using Compute = std::function<std::optional<Numbers>(const Numbers& old, const Numbers& value)>;
  std::optional<Numbers> compute(const std::string& op, const Numbers& x, const Numbers& y,
                                 const std::vector<double>& c);
  Verdict write(const Step& s);
  Verdict assign(const Step& s);
  enum class Writer : std::uint8_t { operation, function, secret_function };
  Verdict write_into(int self, int arg, const Compute& result, Rule rule, double number = 0,
                     Writer writer = Writer::operation);

  Verdict perform(const Step& s);
  Verdict reshape(const Step& s);
  Verdict change(const Step& s);
  Verdict backward(const Step& s);
  void accumulate(int leaf, const Numbers& g, bool recorded, const Flow& flow, bool in_place);

  // Recorded passes
  Flow apply(Rule rule, const std::vector<Flow>& args, double number = 0);
  Flow view_of(const Flow& v);
  std::vector<Flow> differentiate(int operation, const Flow& g);
  bool reasonable(const Numbers& ids) const;

  Tape tape_;
  std::deque<Memory> memories_{Memory{}};  // the first stands for masks and positions, which nobody writes
  std::deque<Operation> operations_;
  std::deque<Variable> all_;
  std::map<int, int> names_;
  std::vector<Do> modes_;
  std::string broken_;
  double scale_ = 0;
  bool ended_ = false;
};

}  // namespace fuzz
