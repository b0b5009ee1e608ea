#include <fmt/format.h>
#include <taper/memory_report.h>

#include <algorithm>

#include "graph.h"
#include "references.h"
#include "watch.h"

namespace taper {
namespace {

using Kind = Holder::Kind;

/// Collects the references to one block.
class HolderList {
 public:
  HolderList(const References& refs, const StorageImpl& memory, const TensorImpl* subject, Holders& out)
      : refs_(refs), subject_(subject), out_(out) {
    const auto shows = [&memory](const References::Thing& t) {
      return t.kind == References::Kind::tensor && t.tensor().storage().get() == &memory;
    };
    unknown_ = std::int64_t(memory.use_count()) - std::count_if(refs.things.begin(), refs.things.end(), shows);
    for (const References::Thing& t : refs.things)
      if (shows(t)) add_holders_of(t);
    add(Kind::unknown, "tensors, or graphs, that nothing given leads to", unknown_);
    std::stable_sort(out_.list.begin(), out_.list.end(),
                     [](const Holder& a, const Holder& b) { return a.kind < b.kind; });
  }

 private:
  void add_holders_of(const References::Thing& t) {
    const bool is_subject = &t.tensor() == subject_;
    const std::string prefix = is_subject || refs_.is_saved_alias(t) ? "" : what_it_is(t.tensor()) + ": ";
    for (const References::Claim& c : t.claims) add(kind_of(c.as), prefix + c.name, 1);
    for (const std::size_t l : t.in) add_link(refs_.links[l], prefix);
    if (is_subject)
      add(Kind::handle, "variables, containers or captures of the program" + also_unknown(t, t.claims.empty()),
          t.unexplained);
    else
      add(Kind::view, what_it_is(t.tensor()) + rest_of_view(t) + also_unknown(t, false), t.unexplained);
    if (refs_.is_held(t))
      out_.largest_shown =
          std::max(out_.largest_shown, t.tensor().numel() * std::int64_t(itemsize(t.tensor().dtype())));
  }

  void add_link(const References::Link& l, const std::string& prefix) {
    const References::Thing& from = refs_.things[l.from];
    switch (l.by) {
      case References::By::grad:
        return add(Kind::gradient, prefix + "grad() of " + refs_.describe(from), l.references);
      case References::By::saved:
        return add(
            Kind::graph,
            fmt::format("{} saved it as its {} '{}'{}{}", from.node().name(), l.saved->is_result() ? "output" : "input",
                        l.saved->what(), called_at(from.node()), in_graph_of(from)),
            l.references);
      case References::By::packed:
        return add(Kind::graph,
                   fmt::format("{}kept by saved-tensor hooks for the {} '{}' of {}{}", prefix,
                               l.saved->is_result() ? "output" : "input", l.saved->what(), owner_of_hooks(from),
                               in_graph_of(from)),
                   l.references);
      case References::By::capture:
        return add(Kind::hook, fmt::format("{}captured by a {} of {}", prefix, l.hook, owner_of_hooks(from)),
                   l.references);
      default:
        return;  // a view's own reference to its base
    }
  }

  /// A view that nothing leads to holds its base besides the memory: no count tells that reference from a handle.
  std::string also_unknown(const References::Thing& t, std::int64_t sure_handles) const {
    const std::int64_t most = t.tensor().base() ? 0 : std::min(unknown_, t.unexplained - sure_handles);
    return most > 0 ? fmt::format("; as many as {} may be views that are counted as unknown", most) : "";
  }
  std::string owner_of_hooks(const References::Thing& hooks) const {
    return hooks.in.empty() ? "a node" : refs_.describe(refs_.things[refs_.links[hooks.in[0]].from]);
  }
  /// ", in the graph of float32[]".
  std::string in_graph_of(const References::Thing& node) const {
    if (node.found_from >= refs_.things.size()) return "";
    const References::Thing& result = refs_.things[node.found_from];
    return result.kind == References::Kind::tensor ? ", in the graph of " + refs_.describe(result) : "";
  }
  static std::string rest_of_view(const References::Thing& t) {
    std::string s;
    if (const std::string at = References::made_at(t); !at.empty()) s += ", made at " + at;
    return s;
  }
  static Kind kind_of(OwnedTensors::As as) {
    switch (as) {
      case OwnedTensors::As::parameter:
      case OwnedTensors::As::buffer:
        return Kind::module;
      case OwnedTensors::As::optimizer_parameter:
      case OwnedTensors::As::optimizer_state:
        return Kind::optimizer;
      default:
        return Kind::handle;
    }
  }
  /// "float32[10] by view -> narrow".
  static std::string what_it_is(const TensorImpl& t) {
    std::string s;
    append_to(s, t.dtype());
    append_to(s, t.geometry().sizes());
    if (t.view_path()) {
      s += " by ";
      append_to(s, t.view_path());
    } else {
      s += " that owns the memory";
    }
    return s;
  }
  void add(Kind kind, std::string what, std::int64_t references) {
    if (references <= 0) return;
    const auto [at, fresh] = place_.try_emplace(name_of(kind) + what, out_.list.size());
    if (fresh)
      out_.list.push_back({kind, std::move(what), references});
    else
      out_.list[at->second].references += references;
  }

  const References& refs_;
  const TensorImpl* subject_;
  Holders& out_;
  std::int64_t unknown_ = 0;                            // references to the memory
  std::unordered_map<std::string, std::size_t> place_;  // in the list, by kind and text
};

/// All references to the memory and to what shows it, whatever they are called.
std::int64_t references_to(const StorageImpl& memory, const References& refs) {
  std::int64_t n = memory.use_count();
  for (const References::Thing& t : refs.things) {
    if (t.kind != References::Kind::tensor || t.tensor().storage().get() != &memory) continue;
    n += std::int64_t(t.object->use_count()) - 1;  // instead of the tensor's own reference to the memory
    if (t.tensor().base()) --n;
  }
  return n;
}

Holders holders_of(const StorageImpl& memory, const TensorSpec& spec, const Tensor& subject, const Owners& owners) {
  const References refs(owners, subject);
  Holders h;
  append_to(h.tensor, spec);
  h.bytes = subject.defined() ? std::int64_t(subject.nbytes()) : 0;
  h.memory_bytes = std::int64_t(memory.bytes());
  h.references = references_to(memory, refs);
  HolderList(refs, memory, subject.impl(), h);
  return h;
}

}  // namespace

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {"handle",    "view", "graph", "gradient", "module",
                                           "optimizer", "hook", "cache", "unknown"};
  return kNames[std::size_t(kind)];
}

std::int64_t Holders::count(Kind kind) const {
  std::int64_t n = 0;
  for (const Holder& h : list)
    if (h.kind == kind) n += h.references;
  return n;
}

std::string Holders::str() const {
  std::string s = fmt::format("{}, in {} of memory, has {} reference{}\n", tensor, readable_bytes(memory_bytes),
                              references, references == 1 ? "" : "s");
  for (const Holder& h : list) s += fmt::format("  {:<10}{:>4}  {}\n", name_of(h.kind), h.references, h.what);
  if (list.empty()) s += "  nothing holds it: the memory was given back to the system\n";
  if (const std::string kept = kept_alive(double(memory_bytes) / double(std::max<std::int64_t>(largest_shown, 1)));
      references > 0 && largest_shown > 0 && !kept.empty())
    s += kept + "; clone() it to keep only its own\n";
  return s;
}

Holders who_holds(const Tensor& t, const Owners& owners) {
  check<ValueError>(t.defined(), "who_holds: the tensor is undefined");
  return holders_of(*t.storage(), t.spec(), t, owners);
}

WatchedMemory::WatchedMemory(const Tensor& t) : storage_(t.storage()), spec_(t.spec()), bytes_(t.storage()->bytes()) {
  if (const Allocator* a = t.storage()->allocator()) allocator_ = a->name();
}

Holders who_holds(const WatchedMemory& memory, const Owners& owners) {
  const StorageImpl* alive = memory.storage().lock().get();  // the handle is dropped, as it is none of the program's
  if (alive) return holders_of(*alive, memory.spec(), {}, owners);
  Holders h;
  append_to(h.tensor, memory.spec());
  h.memory_bytes = std::int64_t(memory.bytes());
  if (const std::int64_t cached = memory_stats().cached_bytes(); cached > 0 && memory.allocator() == "cpu")
    h.list.push_back({Kind::cache,
                      fmt::format("nobody: the memory was given back to the allocator, which keeps {} for later "
                                  "requests; empty_cache() gives that to the system",
                                  readable_bytes(cached)),
                      0});
  return h;
}

}  // namespace taper
