// Circles of references, which no count ever frees.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "references.h"

namespace taper {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The strongly connected components with more than one member, or one that refers to itself. Tarjan 1972, "Depth-first
/// search and linear graph algorithms", with a stack of its own: graphs are deep.
class Components {
 public:
  explicit Components(const References& refs) : refs_(refs), number_(refs.things.size(), kNone), low_(number_) {
    on_stack_.resize(number_.size());
    for (std::size_t i = 0; i < number_.size(); ++i)
      if (number_[i] == kNone) visit(i);
  }
  std::vector<std::vector<std::size_t>> found;

 private:
  struct Frame {
    std::size_t at, next_link;
  };
  void enter(std::size_t i) {
    number_[i] = low_[i] = next_++;
    stack_.push_back(i);
    on_stack_[i] = true;
    frames_.push_back({i, 0});
  }
  void visit(std::size_t root) {
    enter(root);
    while (!frames_.empty()) {
      const std::size_t at = frames_.back().at;
      const std::vector<std::size_t>& out = refs_.things[at].out;
      if (frames_.back().next_link < out.size()) {
        const std::size_t to = refs_.links[out[frames_.back().next_link++]].to;
        if (number_[to] == kNone)
          enter(to);
        else if (on_stack_[to])
          low_[at] = std::min(low_[at], number_[to]);
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) low_[frames_.back().at] = std::min(low_[frames_.back().at], low_[at]);
      if (low_[at] == number_[at]) take(at);
    }
  }
  void take(std::size_t root) {
    std::vector<std::size_t> members;
    for (std::size_t i = kNone; i != root;) {
      i = stack_.back();
      stack_.pop_back();
      on_stack_[i] = false;
      members.push_back(i);
    }
    const auto& out = refs_.things[root].out;
    const bool to_itself =
        std::any_of(out.begin(), out.end(), [&](std::size_t l) { return refs_.links[l].to == root; });
    if (members.size() == 1 && !to_itself) return;
    std::sort(members.begin(), members.end());
    found.push_back(std::move(members));
  }

  const References& refs_;
  std::vector<std::size_t> number_, low_;
  std::vector<bool> on_stack_;
  std::vector<std::size_t> stack_;
  std::vector<Frame> frames_;
  std::size_t next_ = 0;
};

/// The links of the shortest way from `start` back to it.
std::vector<std::size_t> shortest_circle(const References& refs, std::size_t start) {
  std::vector<std::size_t> came_by(refs.things.size(), kNone);
  std::deque<std::size_t> waiting{start};
  while (!waiting.empty()) {
    const std::size_t at = waiting.front();
    waiting.pop_front();
    for (const std::size_t l : refs.things[at].out) {
      const std::size_t to = refs.links[l].to;
      if (came_by[to] != kNone) continue;
      came_by[to] = l;
      if (to != start) {
        waiting.push_back(to);
        continue;
      }
      std::vector<std::size_t> way;
      std::size_t from = start;
      do {
        way.push_back(came_by[from]);
        from = refs.links[came_by[from]].from;
      } while (from != start);
      std::reverse(way.begin(), way.end());
      return way;
    }
  }
  return {};
}

/// Which things a handle that is in none of the links leads to.
std::vector<bool> reachable_from_outside(const References& refs) {
  std::vector<bool> reached(refs.things.size());
  std::vector<std::size_t> stack;
  const auto reach = [&](std::size_t i) {
    if (!reached[i]) stack.push_back(i);
    reached[i] = true;
  };
  for (std::size_t i = 0; i < refs.things.size(); ++i)
    if (refs.things[i].unexplained > 0 || !refs.things[i].claims.empty()) reach(i);
  while (!stack.empty()) {
    const std::size_t at = stack.back();
    stack.pop_back();
    for (const std::size_t l : refs.things[at].out) reach(refs.links[l].to);
  }
  return reached;
}

std::string object_text(const References& refs, const References::Thing& t) {
  if (t.kind == References::Kind::node) return "the node " + refs.describe(t);
  if (t.kind == References::Kind::hooks) return "the " + refs.describe(t);
  std::string s = "the tensor " + refs.describe(t);
  if (t.made_by) s += fmt::format(", made by {}", t.made_by);
  if (const std::string at = References::made_at(t); !at.empty()) s += " at " + at;
  return s;
}

std::string link_text(const References::Link& l) {
  switch (l.by) {
    case References::By::grad:
      return "grad()";
    case References::By::grad_fn:
      return "grad_fn";
    case References::By::accumulator:
      return "the node that collects its gradient";
    case References::By::base:
      return "the tensor it is a view of";
    case References::By::edge:
      return "an edge";
    case References::By::saved:
      return fmt::format("saved '{}'", l.saved->what());
    case References::By::saved_edge:
      return fmt::format("the edge of saved '{}'", l.saved->what());
    case References::By::wrapped:
      return "the node it wraps";
    case References::By::hooks:
      return "hooks";
    case References::By::packed:
      return fmt::format("kept by saved-tensor hooks for '{}'", l.saved->what());
    case References::By::capture:
      return fmt::format("captured by a {}", l.hook);
  }
  return "";
}

const char* remedy_for(const References& refs, const std::vector<std::size_t>& way) {
  const auto goes_by = [&](References::By by) {
    return std::any_of(way.begin(), way.end(), [&](std::size_t l) { return refs.links[l].by == by; });
  };
  if (goes_by(References::By::capture))
    return "let the hook use its argument instead of what it captured, or take it off with HookHandle::remove()";
  if (goes_by(References::By::packed)) return "let the pack hook return a detached tensor";
  if (goes_by(References::By::grad)) return "drop the gradient with zero_grad() or set_grad({})";
  return "let no node have an edge to what was recorded after it";
}

ReferenceCycle describe(const References& refs, const std::vector<std::size_t>& members,
                        const std::vector<bool>& reached) {
  const auto is_tensor = [&](std::size_t i) { return refs.things[i].kind == References::Kind::tensor; };
  const auto is_node = [&](std::size_t i) { return refs.things[i].kind == References::Kind::node; };
  auto start = std::find_if(members.begin(), members.end(), is_tensor);
  if (start == members.end()) start = std::find_if(members.begin(), members.end(), is_node);
  const std::vector<std::size_t> way = shortest_circle(refs, start == members.end() ? members[0] : *start);
  ReferenceCycle cycle;
  cycle.objects = std::int64_t(members.size());
  cycle.leaked = std::none_of(members.begin(), members.end(), [&](std::size_t i) { return reached[i]; });
  cycle.remedy = remedy_for(refs, way);
  for (std::size_t k = 0; k < way.size(); ++k) {
    const References::Link& l = refs.links[way[k]];
    if (l.by == References::By::hooks && k + 1 < way.size()) {  // a node and its hooks are one step
      const References::Link& captured = refs.links[way[++k]];
      cycle.steps.push_back({object_text(refs, refs.things[l.from]), link_text(captured)});
    } else {
      cycle.steps.push_back({object_text(refs, refs.things[l.from]), link_text(l)});
    }
  }
  return cycle;
}

}  // namespace

CycleReport find_cycles(const Owners& owners) {
  const References refs(owners);
  const std::vector<bool> reached = reachable_from_outside(refs);
  CycleReport report;
  report.closed_hooks = refs.closed_hooks;
  for (const References::Thing& t : refs.things) {
    report.tensors += t.kind == References::Kind::tensor;
    report.nodes += t.kind == References::Kind::node;
  }
  for (const std::vector<std::size_t>& members : Components(refs).found)
    report.cycles.push_back(describe(refs, members, reached));
  return report;
}

std::string CycleReport::str() const {
  std::string s = fmt::format("{} circle{} of references among {} tensors and {} nodes\n", cycles.size(),
                              cycles.size() == 1 ? "" : "s", tensors, nodes);
  for (const ReferenceCycle& c : cycles) {
    s += c.leaked ? "leaked: " : "outlives its handles: ";
    for (const ReferenceCycle::Step& step : c.steps) s += fmt::format("{} --{}--> ", step.object, step.link);
    s += fmt::format("the first; {}\n", c.remedy);
  }
  if (closed_hooks > 0)
    s += fmt::format("not looked into: {} hooks that cannot be copied, or keep saved tensors in a form of their own\n",
                     closed_hooks);
  return s;
}

}  // namespace taper
