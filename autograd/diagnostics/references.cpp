#include "references.h"

#include <fmt/format.h>
#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>

#include <algorithm>

#include "accumulate_grad.h"
#include "packed_tensor.h"
#include "watch.h"

namespace taper {

void list_owned(const TensorList& list, OwnedTensors& out) {
  for (std::size_t i = 0; i < list.size(); ++i)
    out.add(OwnedTensors::As::element, fmt::format("element {} of a list", i), list[i]);
}

const TensorImpl& References::Thing::tensor() const { return *static_cast<const TensorImpl*>(object); }
const Node& References::Thing::node() const { return *static_cast<const Node*>(object); }

References::References(const Owners& owners, const Tensor& subject) {
  const auto find_tensor = [this](const RefCounted* t) { return find(t, Kind::tensor, things.size()); };
  if (subject.defined()) find_tensor(subject.impl());
  for (const Owner& owner : owners)
    if (const auto root = owner.root().lock()) find_tensor(root.get());
  for (const Owner& owner : owners)
    for (const OwnedTensors::Entry& e : owner.owned().entries())
      if (const auto t = e.tensor.lock(); t && handles_.insert(e.handle).second)
        things[find_tensor(t.get())].claims.push_back({e.as, e.name});
  const auto& tracked = Watch::of_this_thread().tracked;
  if (tracked)
    for (const TensorImpl* t : tracked->living()) find_tensor(t);
  std::size_t looked_at = 0;
  const auto look_at_all = [&] {
    for (; looked_at < things.size(); ++looked_at) {
      if (things[looked_at].kind == Kind::tensor) look_at_tensor(looked_at);
      if (things[looked_at].kind == Kind::node) look_at_node(looked_at);
    }
  };
  look_at_all();
  if (tracked) {  // what no living tensor leads to
    const std::lock_guard lock(tracked->nodes->mutex);
    for (const Node* n : tracked->nodes->nodes)
      if (n->use_count() > 0) find(n, Kind::node, things.size());
  }
  look_at_all();

  for (std::size_t i = 0; i < things.size(); ++i)
    if (things[i].kind == Kind::hooks) look_into_hooks(i);
  for (Thing& t : things) {
    std::int64_t explained = std::int64_t(t.claims.size());
    for (const std::size_t l : t.in) explained += links[l].references;
    t.unexplained = std::max<std::int64_t>(0, std::int64_t(t.object->use_count()) - explained);
  }
}

std::size_t References::find(const RefCounted* object, Kind kind, std::size_t found_from) {
  const auto [at, fresh] = place_.try_emplace(object, things.size());
  if (fresh) things.push_back({.kind = kind, .object = object, .found_from = found_from});
  return at->second;
}

void References::link(Link l) {
  things[l.from].out.push_back(links.size());
  things[l.to].in.push_back(links.size());
  links.push_back(l);
}

void References::look_at_tensor(std::size_t at) {
  const TensorImpl& t = things[at].tensor();
  if (const auto& tracked = Watch::of_this_thread().tracked)
    if (const TensorRegistry::Entry* entry = tracked->find(t); entry && entry->made_by) {
      things[at].made_by = entry->made_by;
      things[at].made_at = &entry->at;
    }
  if (t.base()) link({at, find(t.base().get(), Kind::tensor, things.size()), By::base});
  const auto* m = static_cast<const AutogradMeta*>(t.autograd_meta());
  if (!m) return;
  if (m->grad.defined()) link({at, find(m->grad.impl(), Kind::tensor, things.size()), By::grad});
  if (m->grad_fn) link({at, find(m->grad_fn.get(), Kind::node, at), By::grad_fn});
  if (const Node* sink = m->accumulator.load(std::memory_order_acquire))
    link({at, find(sink, Kind::node, at), By::accumulator});
}

void References::look_at_node(std::size_t at) {
  const Node& n = things[at].node();
  const std::size_t from = things[at].found_from;
  if (const auto* sink = dynamic_cast<const AccumulateGrad*>(&n))
    if (const Tensor leaf = sink->leaf(); leaf.defined()) find(leaf.impl(), Kind::tensor, things.size());
  for (const Edge& e : n.edges())
    if (e) link({at, find(e.node.get(), Kind::node, from), By::edge});
  for (const Saved* s = n.saved(); s; s = s->next()) {
    if (s->alias().defined()) link({at, find(s->alias().impl(), Kind::tensor, things.size()), By::saved, s});
    if (s->edge()) link({at, find(s->edge().node.get(), Kind::node, from), By::saved_edge, s});
  }
  if (n.wrapped()) link({at, find(n.wrapped(), Kind::node, from), By::wrapped});
  if (!n.hooks()) return;
  const std::size_t hooks = find(n.hooks(), Kind::hooks, from);
  link({at, hooks, By::hooks});
  for (const Saved* s = n.saved(); s; s = s->next())
    if (s->defined() && !s->alias().defined()) look_at_packed(*s, n, hooks);
}

void References::look_at_packed(const Saved& saved, const Node& node, std::size_t hooks) {
  const bool shown = node.hooks()->packed_for(saved).visit_tensors([&](const Tensor& t) {
    if (!t.defined()) return;
    // Several packed values may show one handle, as those of a checkpointed region do.
    const std::int64_t references = handles_.insert(&t).second;
    link({hooks, find(t.impl(), Kind::tensor, things.size()), By::packed, &saved, "", references});
  });
  closed_hooks += !shown;
}

void References::look_into_hooks(std::size_t at) {
  std::vector<std::int64_t> before;
  for (const Thing& t : things) before.push_back(t.object->use_count());
  static_cast<const NodeHooks*>(things[at].object)->visit([&](const char* kind, const auto& hook) {
    const std::shared_ptr<void> copy = hook.copy_of_function();
    closed_hooks += !copy;
    if (!copy) return;
    for (std::size_t i = 0; i < things.size(); ++i)
      if (const std::int64_t more = things[i].object->use_count() - before[i]; more > 0)
        // Whoever else has the function holds what it captured as well.
        link({at, i, By::capture, nullptr, kind, hook.is_shared() ? 0 : more});
  });
}

bool References::is_saved_alias(const Thing& t) const {
  return t.kind == Kind::tensor && !t.in.empty() && links[t.in[0]].by == By::saved;
}

bool References::is_held(const Thing& t) const {
  return t.unexplained > 0 || !t.claims.empty() ||
         std::any_of(t.in.begin(), t.in.end(), [this](std::size_t l) { return links[l].by != By::base; });
}

std::string References::describe(const Thing& t) const {
  if (t.kind == Kind::node) return std::string(t.node().name()) + called_at(t.node());
  if (t.kind == Kind::hooks) {
    const std::string owner = t.in.empty() ? "a node" : things[links[t.in[0]].from].node().name();
    return "hooks of " + owner;
  }
  for (const Claim& c : t.claims)
    if (c.as != OwnedTensors::As::optimizer_parameter && c.as != OwnedTensors::As::optimizer_state) return c.name;
  std::string s;
  append_to(s, TensorSpec{t.tensor().geometry(), t.tensor().dtype(), t.tensor().device()});
  return s;
}

std::string References::made_at(const Thing& t) { return t.made_at ? t.made_at->str() : std::string(); }

std::string kept_alive(double times) {
  return times >= 2 ? fmt::format("view keeps {:.0f}× its size alive", times) : std::string();
}

}  // namespace taper
