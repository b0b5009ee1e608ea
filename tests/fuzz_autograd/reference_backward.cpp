// The backward pass: which operations run, what they find kept, and where the derivatives end.
#include <algorithm>

#include "reference.h"

namespace fuzz {

const std::vector<std::string>& Reference::rules() {
  static const std::vector<std::string> all{
      "views do not follow their base", "writes through views stay in the view", "overwritten values are not noticed",
      "gradients do not add up",        "recorded passes keep nothing",          "secret writes are not noticed"};
  return all;
}

Verdict Reference::backward(const Step& s) {
  if (inference()) return {.skipped = true};
  const bool recorded = s.flag2, keep = s.flag || s.flag2;
  const int root = index(s.in[0]);
  const Variable& start = all_[std::size_t(root)];
  if (s.numbers.empty() ? start.numel() != 1 : s.numbers.size() != start.numel()) return {.skipped = true};
  if (start.numel() == 0) return {.skipped = true};

  // Where it starts, and what is asked for.
  Verdict verdict;
  const auto refuse = [&](unsigned why) { verdict.must |= why; };
  const auto edge_of = [&](int v) {
    unsigned refused = 0;
    const int e = edge(v, refused);
    if (e < 0 || refused) refuse(refused | kNoHistory);
    return e;
  };
  const int first = edge_of(root);
  std::vector<int> asked;
  for (std::size_t i = 1; i < s.in.size(); ++i) {
    asked.push_back(edge_of(index(s.in[i])));
    // Which of two equal gradients is computed from which is Taper's business.
    if (recorded && std::count(asked.begin(), asked.end(), asked.back()) > 1) return {.skipped = true};
  }
  // backward() to a result makes it retain its gradient, from now on.
  for (std::size_t i = 1; !verdict.must && s.what == Do::backward && i < s.in.size(); ++i)
    if (Variable& v = all_[std::size_t(index(s.in[i]))]; v.operation >= 0) v.retains = true;
  if (verdict.must) {
    // Refused before anything ran.
    return verdict;
  }

  // Operations only lead to older ones, so from the newest to the oldest is an order.
  const std::size_t n = operations_.size();
  std::vector<bool> reached(n), needed(n, asked.empty());
  // Of several results, one that is asked for brings the pass to the call that made them all.
  const auto is_asked = [&](int e) {
    const Operation& x = operations_[std::size_t(e)];
    return std::any_of(asked.begin(), asked.end(), [&](int a) {
      const Operation& y = operations_[std::size_t(a)];
      return a == e || (x.part && y.part && x.edges == y.edges);
    });
  };
  for (std::size_t i = 0; !asked.empty() && i < n; ++i)
    for (const int e : operations_[i].edges)
      if (e >= 0 && (needed[std::size_t(e)] || is_asked(e))) needed[i] = true;
  for (const int e : asked)
    if (s.what == Do::backward && operations_[std::size_t(e)].leaf >= 0) needed[std::size_t(e)] = true;
  reached[std::size_t(first)] = true;
  for (std::size_t i = n; i-- > 0;) {
    if (!reached[i] || !needed[i]) continue;
    const Operation& op = operations_[i];
    Operation& keeper = operations_[op.writer >= 0 ? std::size_t(op.writer) : i];
    for (const Operation::Kept& k : keeper.kept) {
      if (keeper.freed)
        refuse(kFreed);
      else if (memories_[std::size_t(k.value.memory)].version != k.value.version &&
               !broken("overwritten values are not noticed"))
        refuse(kConflict);
    }
    if (!keep && !keeper.kept.empty()) keeper.freed = true;
    for (const int e : op.edges)
      if (e >= 0) reached[std::size_t(e)] = true;
    if (op.leaf >= 0) {
      const Variable& leaf = all_[std::size_t(op.leaf)];
      unsigned none = 0;
      if (!requires_grad(leaf)) continue;
      if (!is_leaf(op.leaf, none))
        refuse(kMoved);
      else if (leaf.shape != op.shape || (leaf.grad >= 0 && all_[std::size_t(leaf.grad)].shape != op.shape))
        refuse(kReshaped);
    }
  }
  const auto complete = [&](int e) { return reached[std::size_t(e)] && (needed[std::size_t(e)] || is_asked(e)); };
  for (const Variable& v : all_)
    if (v.retains && v.operation >= 0 && complete(v.operation) && v.grad >= 0 &&
        all_[std::size_t(v.grad)].shape != v.shape)
      refuse(kReshaped);
  if (verdict.must) {
    ended_ = true;
    return verdict;
  }

  // A gradient that is added to in place may be one that an operation of the same pass has kept: then the order
  // decides.
  for (std::size_t i = 0; !recorded && i < n; ++i) {
    const int leaf = operations_[i].leaf, grad = leaf < 0 ? -1 : all_[std::size_t(leaf)].grad;
    if (grad < 0 || !reached[i] || !needed[i]) continue;
    for (std::size_t k = 0; k < n; ++k)
      for (const Operation::Kept& kept : operations_[k].kept)
        if (reached[k] && kept.value.memory == all_[std::size_t(grad)].memory) verdict.may |= kConflict;
  }

  // The derivatives.
  std::vector<std::pair<Id, double>> seeds;
  for (std::size_t i = 0; i < start.numel(); ++i)
    seeds.emplace_back(start.ids[i], s.numbers.empty() ? 1 : s.numbers[i]);
  std::vector<Id> own;
  for (std::size_t i = 1; s.what == Do::grad && i < s.in.size(); ++i) {
    const Numbers& ids = all_[std::size_t(index(s.in[i]))].ids;
    own.insert(own.end(), ids.begin(), ids.end());
  }
  tape_.run_backward(seeds, recorded, own);
  scale_ = std::max(scale_, tape_.largest_derivative());
  // What the pass itself records: the operations that its rules are made of.
  std::vector<Flow> arrived(n), handed_out(n);
  std::vector<std::vector<Flow>> parts(n);
  for (std::size_t i = n; recorded && i-- > 0;) {
    if (!reached[i]) continue;
    arrived[i] = handed_out[i] = apply(Rule::linear, parts[i]);
    if (s.what == Do::grad && is_asked(int(i))) handed_out[i] = apply(Rule::linear, {arrived[i]});
    if (!needed[i]) continue;
    const std::vector<Flow> in = differentiate(int(i), handed_out[i]);
    for (std::size_t k = 0; k < in.size(); ++k)
      if (const int e = operations_[i].edges[k]; e >= 0) parts[std::size_t(e)].push_back(in[k]);
  }
  const auto derivatives = [&](const Numbers& of) {
    Numbers out;
    for (const Id i : of) out.push_back(tape_.derivative(i));
    return out;
  };
  struct Received {
    int variable;
    Numbers numbers;
    Flow flow;
  };
  std::vector<Received> received, retained, results;
  for (std::size_t i = 0; i < n; ++i) {
    const Operation& op = operations_[i];
    if (op.leaf >= 0 && reached[i] && needed[i] && requires_grad(all_[std::size_t(op.leaf)]) &&
        all_[std::size_t(op.leaf)].shape == op.shape)
      received.push_back({op.leaf, derivatives(op.ids), arrived[i]});
  }
  for (std::size_t v = 0; v < all_.size(); ++v)
    if (all_[v].retains && all_[v].operation >= 0 && complete(all_[v].operation) &&
        (all_[v].grad < 0 || all_[std::size_t(all_[v].grad)].shape == all_[v].shape))
      retained.push_back({int(v), derivatives(all_[v].ids), arrived[std::size_t(all_[v].operation)]});
  for (std::size_t i = 1; s.what == Do::grad && i < s.in.size(); ++i)
    results.push_back(
        {index(s.in[i]), derivatives(all_[std::size_t(index(s.in[i]))].ids), handed_out[std::size_t(asked[i - 1])]});

  for (const auto& [leaf, g, flow] : received) accumulate(leaf, g, recorded, flow, !recorded);
  for (const auto& [v, g, flow] : retained) accumulate(v, g, recorded, flow, false);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& [input, numbers, flow] = results[i];
    Variable g = fresh(numbers, all_[std::size_t(input)].shape, false);
    if (flow.operation >= 0) g.operation = flow.operation, g.ids = marked(numbers);
    define(s.out[i], std::move(g));
  }
  return verdict;
}

void Reference::accumulate(int leaf, const Numbers& g, bool recorded, const Flow& flow, bool in_place) {
  const int before = all_[std::size_t(leaf)].grad;
  if (before >= 0 && in_place) {
    const Variable& total = all_[std::size_t(before)];
    Memory& memory = memories_[std::size_t(total.memory)];
    for (std::size_t i = 0; i < g.size(); ++i) {
      double& x = memory.values[std::size_t(total.places[i])];
      x = broken("gradients do not add up") ? tape_.value(g[i]) : x + tape_.value(g[i]);
    }
    ++memory.version;
    return;
  }
  Numbers sum = g;
  Flow of_sum = apply(Rule::linear, {flow});
  if (before >= 0) {
    unsigned none = 0;
    if (recorded) of_sum = apply(Rule::linear, {{edge(before, none)}, flow});
    const Numbers old = operand(all_[std::size_t(before)], recorded);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = tape_.binary(Fn::add, old[i], g[i]);
  }
  Variable total = fresh(sum, all_[std::size_t(leaf)].shape, false);
  if (of_sum.operation >= 0) total.operation = of_sum.operation, total.ids = results(sum);
  all_[std::size_t(leaf)].grad = define(-1, std::move(total));
}

}  // namespace fuzz
