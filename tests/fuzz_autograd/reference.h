#pragma once
// What a program must do, worked out without Taper and without tricks. Memory is an array of numbers; a tensor is a
// list of places in it; what a tensor's elements were computed from is kept number by number on a tape. Beside it
// stands a small graph of operations, which says only which programs are refused: what saved which memory at which
// version, what was freed, what is a leaf.
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

/// An operation that was recorded, or the sink of a leaf.
struct Operation {
  struct Kept {
    int memory = 0;
    std::uint32_t version = 0;
    bool certain = true;
  };
  std::vector<int> edges;
  std::vector<Kept> kept;
  int freed = 0;      // 0 no, 1 perhaps, 2 yes
  bool soft = false;  // stands for operations the reference does not know one by one: a recorded backward pass
  // Sinks only.
  int leaf = -1;
  Ints shape;
  std::vector<Id> ids;
};

enum class Made : std::uint8_t { own, view, without_recording, several };

struct Variable {
  int memory = 0;
  std::vector<int> places;
  Ints shape;
  int base = -1;
  Made made = Made::own;
  std::uint32_t view_version = 0;
  bool asked = false;  // requires_grad_()
  bool retains = false;
  bool frozen = false;
  bool soft = false;   // whether it requires grad is not known: it comes from a recorded backward pass
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
  /// Only where it is certain.
  std::optional<bool> requires_grad(int variable);
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
    bool recorded = false, soft = false;
    unsigned refused = 0;
    std::vector<bool> wants;
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
  bool is_leaf(int v, unsigned& refused);
  int edge(int v, unsigned& refused);
  Call begin(const std::vector<int>& args);
  Call look_at(const std::vector<int>& args) const;
  void connect(Call& call, const std::vector<int>& args);
  Numbers results(Numbers ids);
  const Numbers& marked(const Numbers& ids);
  Id showing(const Variable& v, const Numbers& elements, int place);
  Numbers operand(const Variable& v, bool recorded);
  void save(Operation& op, int v, bool certain = true) const;
  int add(Operation op);

  // Making
  int define(int variable, Variable v);
  Variable fresh(const Numbers& ids, Ints shape, bool row_major);
  Verdict functional(const Step& s, const Numbers& ids, Ints shape, bool row_major, const Call& call,
                     const std::vector<int>& saved, bool saves_result = false, bool saves_constant = false);
  Verdict elementwise(const Step& s);
  Verdict reduction(const Step& s);
  Verdict joined(const Step& s);
  Verdict view(const Step& s);
  Verdict strided(const Step& s);
  Verdict several(const Step& s);
  std::optional<std::pair<std::vector<int>, Ints>> positions(const Step& s, const Variable& v) const;
  int make_view(int self, const std::vector<int>& positions, Ints shape, bool several, const Call& call, int operation);

  // Writing
  enum class Keep : std::uint8_t { never, if_self_wants, always };
  using Compute = std::function<std::optional<Numbers>(const Numbers& old, const Numbers& value)>;
  std::optional<Numbers> compute(const std::string& op, const Numbers& x, const Numbers& y,
                                 const std::vector<double>& c);
  Verdict write(const Step& s);
  Verdict assign(const Step& s);
  Verdict write_into(int self, int arg, const Compute& result, Keep keeps_argument, bool keeps_result,
                     bool keeps_constant);

  Verdict perform(const Step& s);
  Verdict reshape(const Step& s);
  Verdict change(const Step& s);
  Verdict backward(const Step& s);
  void accumulate(int leaf, const Numbers& g, bool recorded, int operation, bool in_place);
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
