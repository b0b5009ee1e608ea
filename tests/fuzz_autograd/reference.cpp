#include "reference.h"

#include <cmath>

#include "shapes.h"

namespace fuzz {

// ---- Facts of tensors ----

bool Reference::inference() const { return std::find(modes_.begin(), modes_.end(), Do::inference) != modes_.end(); }

bool Reference::is_contiguous(const Variable& v) const {
  for (std::size_t i = 1; i < v.numel(); ++i)
    if (v.places[i] != v.places[i - 1] + 1) return false;
  return memory(v).row_major;
}

bool Reference::overlaps_itself(const Variable& v) const {
  std::vector<int> places = v.places;
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

std::vector<double> Reference::values(const Variable& v) const {
  std::vector<double> out;
  for (const int p : v.places) out.push_back(memory(v).values[std::size_t(p)]);
  return out;
}

std::optional<std::vector<double>> Reference::grad(const Variable& v) const {
  if (v.grad < 0) return {};
  return values(all_[std::size_t(v.grad)]);
}

// ---- Histories ----

bool Reference::is_stale(const Variable& v) const {
  if (v.base < 0 || v.view_version == memory(v).version) return false;
  return v.operation >= 0 || requires_grad(all_[std::size_t(v.base)]);
}

bool Reference::requires_grad(const Variable& v) const {
  if (v.asked || v.operation >= 0) return true;
  if (v.base < 0) return false;
  if (v.made == Made::without_recording && requires_grad(all_[std::size_t(v.base)])) return true;
  return is_stale(v);
}

/// Why the history of a view cannot be told, if it cannot.
unsigned Reference::unknown_history(const Variable& v) const {
  if (!is_stale(v) || v.made == Made::view) return 0;
  return v.made == Made::several ? kSeveral : kNoGradView;
}

/// Whether the memory of v, or of its base, is another tensor's too, which is no view of it.
bool Reference::is_lent(const Variable& v) const {
  const Variable& owner = v.base >= 0 ? all_[std::size_t(v.base)] : v;
  return owner.lender >= 0 && all_[std::size_t(owner.lender)].memory == owner.memory;
}

/// A view whose memory was written follows its base again, if it may.
void Reference::refresh(int index, unsigned& refused) {
  Variable& v = all_[std::size_t(index)];
  if (!is_stale(v)) return;
  if (const unsigned why = unknown_history(v)) {
    refused |= why;
    return;
  }
  if (broken("views do not follow their base") && v.operation >= 0 && v.ids.size() == v.numel()) return;
  const int from = edge(v.base, refused);
  const Variable& base = all_[std::size_t(v.base)];
  const Numbers whole = operand(base, from >= 0);
  v.ids.clear();
  for (const int place : v.places) v.ids.push_back(showing(base, whole, place));
  v.operation = add({.edges = {from}});
  v.view_version = memory(v).version;
}

bool Reference::is_leaf(int index, unsigned& refused) {
  const Variable& v = all_[std::size_t(index)];
  if (v.base >= 0 && v.made == Made::view) refresh(index, refused);
  return v.operation < 0;
}

/// The operation that v's gradient goes to; -1 if it needs none.
int Reference::edge(int index, unsigned& refused) {
  Variable& v = all_[std::size_t(index)];
  const unsigned before = refused;
  refresh(index, refused);
  if (refused != before) return -1;
  if (v.operation >= 0) return v.operation;
  if (!requires_grad(v)) return -1;
  if (v.sink < 0) {
    Operation sink;
    sink.leaf = index;
    sink.shape = v.shape;
    for (const double x : values(v)) sink.ids.push_back(tape_.variable(x));
    v.sink = add(std::move(sink));
  }
  v.ids = operations_[std::size_t(v.sink)].ids;
  return v.sink;
}

Reference::Call Reference::begin(const std::vector<int>& args) {
  Call call = look_at(args);
  connect(call);
  return call;
}

Reference::Call Reference::look_at(const std::vector<int>& args) const {
  Call call;
  call.args = args;
  for (const int a : args) call.recorded |= recording() && requires_grad(all_[std::size_t(a)]);
  return call;
}

void Reference::connect(Call& call) {
  for (const int a : call.args)
    call.edges.push_back(call.recorded && requires_grad(all_[std::size_t(a)]) ? edge(a, call.refused) : -1);
}

std::vector<Flow> Reference::arguments(const Call& call) const {
  std::vector<Flow> out;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Variable& v = all_[std::size_t(call.args[i])];
    out.push_back({call.edges[i], v.memory, memory(v).version});
  }
  return out;
}

Reference::Numbers Reference::results(Numbers ids) {
  for (Id& i : ids) i = tape_.result(i);
  return ids;
}

const Reference::Numbers& Reference::marked(const Numbers& ids) {
  for (const Id i : ids) tape_.mark(i);
  return ids;
}

/// The element at a place of memory, as far as v has it; elements of v that share the place have equal parts in it.
Id Reference::showing(const Variable& v, const Numbers& elements, int place) {
  const auto sharers = double(std::count(v.places.begin(), v.places.end(), place));
  Id sum = kNone;
  for (std::size_t i = 0; i < v.numel(); ++i) {
    if (v.places[i] != place) continue;
    const Id part = sharers > 1 ? tape_.unary(Fn::scale, elements[i], 1 / sharers) : elements[i];
    sum = sum == kNone ? part : tape_.binary(Fn::add, sum, part);
  }
  return tape_.result(sum == kNone ? tape_.constant(memory(v).values[std::size_t(place)]) : sum);
}

/// v's elements as numbers: with what they were computed from if the call is recorded.
Reference::Numbers Reference::operand(const Variable& v, bool recorded) {
  Numbers out;
  const bool has_history = recorded && requires_grad(v) && v.ids.size() == v.numel();
  for (std::size_t i = 0; i < v.numel(); ++i) {
    const double now = memory(v).values[std::size_t(v.places[i])];
    if (!has_history)
      out.push_back(tape_.constant(now));
    else
      out.push_back(tape_.value(v.ids[i]) == now ? v.ids[i] : tape_.same(v.ids[i], now));
  }
  return out;
}

int Reference::add(Operation op) {
  operations_.push_back(std::move(op));
  return int(operations_.size() - 1);
}

// ---- Making tensors ----

int Reference::define(int variable, Variable v) {
  all_.push_back(std::move(v));
  const int index = int(all_.size() - 1);
  if (variable >= 0) names_[variable] = index;
  return index;
}

Variable Reference::fresh(const Numbers& ids, Ints shape, bool row_major) {
  Memory memory;
  memory.row_major = row_major;
  memory.inference = inference();
  Variable v;
  v.shape = std::move(shape);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    memory.values.push_back(tape_.value(ids[i]));
    v.places.push_back(int(i));
  }
  memories_.push_back(std::move(memory));
  v.memory = int(memories_.size() - 1);
  return v;
}

bool Reference::reasonable(const Numbers& ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](Id i) { return std::abs(tape_.value(i)) < 1e3; });
}

Verdict Reference::functional(const Step& s, const Numbers& ids, Ints shape, bool row_major, const Call& call,
                              Rule rule, double number) {
  Operation op;
  if (call.recorded) op = operation(rule, arguments(call), number);
  const unsigned refused = call.refused | keeps_inference(op);
  if (!reasonable(ids)) return {.skipped = true};
  if (refused) return {.must = refused};
  Variable out = fresh(ids, std::move(shape), row_major);
  if (call.recorded) {
    for (Operation::Kept& k : op.kept)
      if (k.role == Operation::result) k.value = {int(operations_.size()), out.memory, 0};
    out.ids = marked(ids);
    out.operation = add(std::move(op));
  }
  define(s.out[0], std::move(out));
  return {};
}

Verdict Reference::reduction(const Step& s) {
  const int self = index(s.in[0]);
  const Call call = begin({self});
  const Variable& v = all_[std::size_t(self)];
  const Numbers in = operand(v, call.recorded);
  const bool all = s.what == Do::sum;
  const std::size_t dim = all ? 0 : std::size_t(s.ints[0]);
  Ints shape;
  for (std::size_t d = 0; !all && d < v.shape.size(); ++d)
    if (d != dim) shape.push_back(v.shape[d]);
  const std::size_t inner = all ? 1 : std::size_t(row_major(v.shape)[dim]),
                    length = all ? in.size() : std::size_t(v.shape[dim]);
  if (s.what == Do::mean_dim && length == 0) return {.skipped = true};
  Numbers out(count(shape), kNone);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t to = all ? 0 : i / (inner * length) * inner + i % inner;
    out[to] = out[to] == kNone ? in[i] : tape_.binary(Fn::add, out[to], in[i]);
  }
  for (Id& o : out) {
    if (o == kNone) o = tape_.constant(0);
    o = s.what == Do::mean_dim ? tape_.unary(Fn::scale, o, 1 / double(length)) : tape_.same(o, tape_.value(o));
  }
  return functional(s, out, shape, true, call, Rule::linear);
}

Verdict Reference::joined(const Step& s) {
  std::vector<int> args;
  for (const int v : s.in) args.push_back(index(v));
  const Call call = begin(args);
  const Variable &a = all_[std::size_t(args[0])], &b = all_[std::size_t(args[1])];
  const Numbers x = operand(a, call.recorded), y = operand(b, call.recorded);
  Numbers out;
  if (s.what == Do::matmul) {
    if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[1] != b.shape[0]) return {.skipped = true};
    const std::size_t n = std::size_t(a.shape[0]), k = std::size_t(a.shape[1]), m = std::size_t(b.shape[1]);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) {
        Id sum = tape_.constant(0);
        for (std::size_t l = 0; l < k; ++l)
          sum = tape_.binary(Fn::add, sum, tape_.binary(Fn::mul, x[i * k + l], y[l * m + j]));
        out.push_back(sum);
      }
    return functional(s, out, {a.shape[0], b.shape[1]}, true, call, Rule::matmul);
  }
  const std::size_t dim = std::size_t(s.ints[0]);
  if (a.shape.size() != b.shape.size() || dim >= a.shape.size()) return {.skipped = true};
  Ints shape = a.shape;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != dim && a.shape[d] != b.shape[d]) return {.skipped = true};
  shape[dim] += b.shape[dim];
  const std::size_t inner = std::size_t(row_major(shape)[dim]), na = inner * std::size_t(a.shape[dim]),
                    nb = inner * std::size_t(b.shape[dim]);
  for (std::size_t o = 0; o * (na + nb) < count(shape); ++o) {
    for (std::size_t i = 0; i < na; ++i) out.push_back(tape_.same(x[o * na + i], tape_.value(x[o * na + i])));
    for (std::size_t i = 0; i < nb; ++i) out.push_back(tape_.same(y[o * nb + i], tape_.value(y[o * nb + i])));
  }
  return functional(s, out, shape, is_contiguous(a) && is_contiguous(b), call, Rule::linear);
}

// ---- One step ----

Verdict Reference::execute(const Step& s) {
  for (const int v : s.in)
    if (!has(v)) return {.skipped = true};
  // Looking at a view may bring its history up to date. What is skipped must leave no trace.
  std::vector<std::pair<int, Variable>> before;
  for (const int v : s.in) before.emplace_back(index(v), at(v));
  const Verdict verdict = perform(s);
  if (verdict.skipped)
    for (auto& [i, v] : before) all_[std::size_t(i)] = std::move(v);
  return verdict;
}

Verdict Reference::perform(const Step& s) {
  switch (s.what) {
    case Do::leaf: {
      Numbers ids;
      for (const double x : s.numbers) ids.push_back(tape_.constant(x));
      Variable v = fresh(ids, s.sizes, true);
      v.asked = s.flag;
      define(s.out[0], std::move(v));
      return {};
    }
    case Do::unary:
    case Do::binary:
    case Do::clone:
    case Do::where:
    case Do::take:
      return elementwise(s);
    case Do::function:
      return function(s);
    case Do::sum:
    case Do::sum_dim:
    case Do::mean_dim:
      if (s.what != Do::sum && s.ints[0] >= std::int64_t(at(s.in[0]).shape.size())) return {.skipped = true};
      return reduction(s);
    case Do::matmul:
    case Do::cat:
      return joined(s);
    case Do::unary_:
    case Do::binary_:
    case Do::copy_:
    case Do::fill_:
    case Do::fill_tensor_:
    case Do::zero_:
    case Do::masked_fill_:
      return write(s);
    case Do::assign:
      return assign(s);
    case Do::reshape_:
      return reshape(s);
    case Do::unbind:
    case Do::split:
    case Do::chunk:
      return several(s);
    case Do::detach_:
    case Do::requires_grad_:
    case Do::set_data:
    case Do::retain_grad:
    case Do::grad_of:
    case Do::zero_grad:
      return change(s);
    case Do::no_grad:
    case Do::inference:
      modes_.push_back(s.what);
      return {};
    case Do::end:
      if (modes_.empty()) return {.skipped = true};
      modes_.pop_back();
      return {};
    case Do::backward:
    case Do::grad:
      return backward(s);
    default:
      return view(s);
  }
}

/// Everything that changes what a tensor is rather than its elements.
Verdict Reference::change(const Step& s) {
  const int self = index(s.in[0]);
  Variable& v = all_[std::size_t(self)];
  switch (s.what) {
    case Do::detach_:
      if (v.base >= 0) return {.must = kView};
      v.operation = -1, v.asked = v.retains = false;
      return {};
    case Do::requires_grad_: {
      unsigned refused = 0;
      if (!s.flag && requires_grad(v) && !is_leaf(self, refused)) return {.must = kNotLeaf};
      if (s.flag && memory(v).inference && !inference()) refused |= kInference;
      if (refused) return {.must = refused};
      if (s.flag && v.sink >= 0 && operations_[std::size_t(v.sink)].shape != v.shape) v.sink = -1;
      v.asked = s.flag;
      return {};
    }
    case Do::set_data: {
      const Variable from = all_[std::size_t(index(s.in[1]))];
      if (v.operation >= 0 && from.shape != v.shape) return {.skipped = true};
      if (v.retains || index(s.in[1]) == self) return {.skipped = true};
      for (Variable& other : all_)
        if (other.base == self) other.base = -1, other.made = Made::own;
      v.memory = from.memory, v.places = from.places, v.shape = from.shape;
      v.base = -1, v.made = Made::own, v.sink = -1;
      v.lender = from.base >= 0 ? from.base : index(s.in[1]);
      return {};
    }
    case Do::retain_grad: {
      if (!requires_grad(v)) return {.must = kNoHistory};
      unsigned refused = 0;
      if (!is_leaf(self, refused)) v.retains = true;
      return {.must = refused};
    }
    case Do::grad_of:
      if (v.grad < 0) return {.skipped = true};
      names_[s.out[0]] = v.grad;
      return {};
    default:  // zero_grad
      v.grad = -1;
      return {};
  }
}

}  // namespace fuzz
