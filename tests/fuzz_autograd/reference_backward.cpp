// The backward pass: which operations run, what they find kept, and where the derivatives end.
#include <algorithm>

#include "reference.h"

namespace fuzz {

/// How sure it is that something happens in a pass.
enum : int { kNo, kPerhaps, kYes };

const std::vector<std::string>& Reference::rules() {
  static const std::vector<std::string> all{"views do not follow their base", "writes through views stay in the view",
                                            "overwritten values are not noticed", "gradients do not add up"};
  return all;
}

Verdict Reference::backward(const Step& s) {
  if (inference()) return {.skipped = true};
  const bool recorded = s.flag2, keep = s.flag || s.flag2;
  const int root = index(s.in[0]);
  const Variable& start = all_[std::size_t(root)];
  if (s.numbers.empty() ? start.numel() != 1 : s.numbers.size() != start.numel()) return {.skipped = true};
  if (start.numel() == 0) return {.skipped = true};

  // Which gradients of one recorded pass depend on each other is not known here.
  for (std::size_t i = 1; i < s.in.size(); ++i)
    if (at(s.in[i]).soft) return {.skipped = true};

  // Where it starts, and what is asked for.
  Verdict verdict;
  const auto refuse = [&](unsigned why, bool sure) { (sure ? verdict.must : verdict.may) |= why; };
  const auto edge_of = [&](int v) {
    unsigned refused = 0;
    const int e = edge(v, refused);
    if (e < 0 || refused) refuse(refused | kNoHistory, true);
    if (all_[std::size_t(v)].soft) refuse(kNoHistory, false);
    return e;
  };
  const int first = edge_of(root);
  std::vector<int> asked;
  for (std::size_t i = 1; i < s.in.size(); ++i) asked.push_back(edge_of(index(s.in[i])));
  // backward() to a result makes it retain its gradient, from now on.
  for (std::size_t i = 1; !verdict.must && s.what == Do::backward && i < s.in.size(); ++i)
    if (Variable& v = all_[std::size_t(index(s.in[i]))]; v.operation >= 0) v.retains = true;
  if (verdict.must) {
    // Refused before anything ran.
    return verdict;
  }

  // Operations only lead to older ones, so from the newest to the oldest is an order.
  const std::size_t n = operations_.size();
  std::vector<int> reached(n, kNo), met(n, 0);
  std::vector<bool> needed(n, asked.empty());
  for (std::size_t i = 0; !asked.empty() && i < n; ++i)
    for (const int e : operations_[i].edges)
      if (needed[std::size_t(e)] || std::find(asked.begin(), asked.end(), e) != asked.end()) needed[i] = true;
  for (const int e : asked)
    if (s.what == Do::backward && operations_[std::size_t(e)].leaf >= 0) needed[std::size_t(e)] = true;
  reached[std::size_t(first)] = kYes;
  met[std::size_t(first)] = 1;
  for (std::size_t i = n; i-- > 0;) {
    if (met[i])
      for (const int e : operations_[i].edges) met[std::size_t(e)] = 1;
    if (reached[i] == kNo || !needed[i]) continue;
    Operation& op = operations_[i];
    const int sure = op.soft ? kPerhaps : reached[i];
    for (const Operation::Kept& k : op.kept) {
      const int certain = k.certain ? sure : kPerhaps;
      if (op.freed != kNo) refuse(kFreed, std::min(op.freed, certain) == kYes);
      if (op.freed != kYes && memories_[std::size_t(k.memory)].version != k.version &&
          !broken("overwritten values are not noticed"))
        refuse(kConflict, certain == kYes && op.freed == kNo);
    }
    if (!keep && !op.kept.empty()) op.freed = std::max(op.freed, sure);
    for (const int e : op.edges) reached[std::size_t(e)] = std::max(reached[std::size_t(e)], sure);
    if (op.leaf >= 0) {
      const Variable& leaf = all_[std::size_t(op.leaf)];
      unsigned none = 0;
      if (!requires_grad(leaf)) continue;
      if (!is_leaf(op.leaf, none))
        refuse(kMoved, sure == kYes);
      else if (leaf.shape != op.shape || (leaf.grad >= 0 && all_[std::size_t(leaf.grad)].shape != op.shape))
        refuse(kReshaped, sure == kYes);
    }
  }
  const auto complete = [&](int e) {
    return reached[std::size_t(e)] != kNo &&
           (needed[std::size_t(e)] || std::find(asked.begin(), asked.end(), e) != asked.end());
  };
  for (const Variable& v : all_)
    if (v.retains && v.operation >= 0 && complete(v.operation) && v.grad >= 0 &&
        all_[std::size_t(v.grad)].shape != v.shape)
      refuse(kReshaped, reached[std::size_t(v.operation)] == kYes);
  if (verdict.must) {
    ended_ = true;
    return verdict;
  }

  // A gradient that is added to in place may be one that an operation of the same pass has kept: then the order
  // decides.
  for (std::size_t i = 0; !recorded && i < n; ++i) {
    const int leaf = operations_[i].leaf, grad = leaf < 0 ? -1 : all_[std::size_t(leaf)].grad;
    if (grad < 0 || reached[i] == kNo || !needed[i]) continue;
    for (std::size_t k = 0; k < n; ++k)
      for (const Operation::Kept& kept : operations_[k].kept)
        if (reached[k] != kNo && kept.memory == all_[std::size_t(grad)].memory) verdict.may |= kConflict;
  }

  // The derivatives.
  std::vector<std::pair<Id, double>> seeds;
  for (std::size_t i = 0; i < start.numel(); ++i)
    seeds.emplace_back(start.ids[i], s.numbers.empty() ? 1 : s.numbers[i]);
  tape_.run_backward(seeds, recorded);
  scale_ = std::max(scale_, tape_.largest_derivative());
  int operation = -1;
  if (recorded) {
    // Stands for everything that the pass itself recorded: it may keep what was kept, and lead to what was met.
    Operation pass;
    pass.soft = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (!met[i]) continue;
      pass.edges.push_back(int(i));
      for (Operation::Kept k : operations_[i].kept) k.certain = false, pass.kept.push_back(k);
    }
    operation = add(std::move(pass));
  }
  const auto derivatives = [&](const Numbers& of) {
    Numbers out;
    for (const Id i : of) out.push_back(tape_.derivative(i));
    return out;
  };
  std::vector<std::pair<int, Numbers>> received;
  for (std::size_t i = 0; i < n; ++i) {
    const Operation& op = operations_[i];
    if (op.leaf >= 0 && reached[i] != kNo && needed[i] && requires_grad(all_[std::size_t(op.leaf)]) &&
        all_[std::size_t(op.leaf)].shape == op.shape)
      received.emplace_back(op.leaf, derivatives(op.ids));
  }
  std::vector<std::pair<int, Numbers>> retained;
  for (std::size_t v = 0; v < all_.size(); ++v)
    if (all_[v].retains && all_[v].operation >= 0 && complete(all_[v].operation) &&
        (all_[v].grad < 0 || all_[std::size_t(all_[v].grad)].shape == all_[v].shape))
      retained.emplace_back(int(v), derivatives(all_[v].ids));
  std::vector<Numbers> results;
  for (std::size_t i = 1; s.what == Do::grad && i < s.in.size(); ++i)
    results.push_back(derivatives(all_[std::size_t(index(s.in[i]))].ids));

  // Whether a zero arrived or nothing, and so whether grad() is another tensor now, is not known of what may not run.
  for (std::size_t i = 0, k = 0; i < n && k < received.size(); ++i) {
    if (operations_[i].leaf != received[k].first || reached[i] == kNo || !needed[i]) continue;
    const Numbers& g = received[k++].second;
    if (reached[i] == kPerhaps && std::all_of(g.begin(), g.end(), [&](Id d) { return tape_.value(d) == 0; }))
      ended_ = true;
  }
  if (ended_) return verdict;

  for (const auto& [leaf, g] : received) accumulate(leaf, g, recorded, operation, !recorded);
  for (const auto& [v, g] : retained) accumulate(v, g, recorded, operation, false);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const int input = index(s.in[i + 1]);
    Variable g = fresh(results[i], all_[std::size_t(input)].shape, false);
    if (recorded) g.operation = operation, g.ids = this->results(results[i]), g.soft = true;
    define(s.out[i], std::move(g));
  }
  return verdict;
}

void Reference::accumulate(int leaf, const Numbers& g, bool recorded, int operation, bool in_place) {
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
  if (before >= 0) {
    const Numbers old = operand(all_[std::size_t(before)], recorded);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = tape_.binary(Fn::add, old[i], g[i]);
  }
  Variable total = fresh(sum, all_[std::size_t(leaf)].shape, false);
  if (recorded) {
    total.operation = operation, total.ids = results(sum), total.soft = true;
    operations_[std::size_t(operation)].kept.push_back({total.memory, 0, false});
    if (before >= 0 && all_[std::size_t(before)].operation >= 0)
      operations_[std::size_t(operation)].edges.push_back(all_[std::size_t(before)].operation);
  }
  all_[std::size_t(leaf)].grad = define(-1, std::move(total));
}

}  // namespace fuzz
