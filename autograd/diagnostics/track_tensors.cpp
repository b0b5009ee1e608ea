// Which tensors live, and who made them.
#include <fmt/format.h>

#include <algorithm>

#include "references.h"
#include "watch.h"

namespace taper {

TensorRegistry::Entry& TensorRegistry::entry_of(const Tensor& t) {
  const auto found = entries_.find(t.impl());
  if (found != entries_.end()) return found->second;
  if (entries_.size() >= look_again_at_) {
    forget_dead();
    look_again_at_ = std::max<std::size_t>(1024, 2 * entries_.size());
  }
  return entries_.try_emplace(t.impl(), Entry{t.impl_ptr(), nullptr, {}, next_++}).first->second;
}

void TensorRegistry::add_made(const Tensor& t, const char* made_by) {
  if (!t.defined()) return;
  Entry& entry = entry_of(t);
  // An operator may return what another made for it, as reshape() does: the outermost is whom the program called.
  entry.made_by = made_by;
  entry.at = CallSite::here();
}

void TensorRegistry::add_used(const Tensor& t) {
  if (t.defined()) entry_of(t);
}

void TensorRegistry::forget_dead() {
  std::erase_if(entries_, [](const auto& e) { return !e.second.tensor.lock(); });
}

const TensorRegistry::Entry* TensorRegistry::find(const TensorImpl& t) const {
  const auto found = entries_.find(&t);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<const TensorImpl*> TensorRegistry::living() {
  forget_dead();
  std::vector<const TensorImpl*> all;
  for (const auto& [t, entry] : entries_) all.push_back(t);
  std::sort(all.begin(), all.end(),
            [this](const TensorImpl* a, const TensorImpl* b) { return entries_.at(a).number < entries_.at(b).number; });
  return all;
}

TrackTensors::TrackTensors() : before_(LiveCounts::now()) {
  Watch& w = Watch::of_this_thread();
  if (!w.tracked) w.tracked = std::make_shared<TensorRegistry>();
  ++w.tracking_scopes;
  w.begin_scope();
}

TrackTensors::~TrackTensors() {
  Watch& w = Watch::of_this_thread();
  w.end_scope();
  if (--w.tracking_scopes == 0) w.tracked = nullptr;
}

LiveCounts TrackTensors::change() const { return LiveCounts::now() - before_; }

LiveCounts LiveCounts::now() {
  // A tensor that is watched is counted until nobody watches it.
  if (const auto& tracked = Watch::of_this_thread().tracked) tracked->forget_dead();
  return {live_tensors(), live_storages(), live_nodes(), memory_stats().allocated_bytes};
}

LiveCounts LiveCounts::operator-(const LiveCounts& b) const {
  return {tensors - b.tensors, storages - b.storages, nodes - b.nodes, allocated_bytes - b.allocated_bytes};
}

void append_to(std::string& s, const LiveCounts& c) {
  s += fmt::format("{} tensors, {} storages, {} nodes, {} bytes", c.tensors, c.storages, c.nodes, c.allocated_bytes);
}

namespace {

std::int64_t bytes_of(const TensorImpl& t) { return t.numel() * std::int64_t(itemsize(t.dtype())); }

/// What is known of one block of memory.
struct Block {
  bool has_tensor = false;         // or only what graphs saved
  std::int64_t largest_shown = 0;  // by somebody who is held himself
};

TensorSummary summary_of(const References& refs, const References::Thing& t, const Block& block) {
  const TensorImpl& impl = t.tensor();
  TensorSummary row;
  row.references = std::int64_t(impl.use_count());
  row.memory_references = std::int64_t(impl.storage()->use_count());
  if (!t.claims.empty()) row.name = t.claims[0].name;
  row.spec = {impl.geometry(), impl.dtype(), impl.device()};
  row.bytes = bytes_of(impl);
  row.memory_bytes = std::int64_t(impl.storage()->bytes());
  row.requires_grad = Tensor(IntrusivePtr<TensorImpl>(const_cast<TensorImpl*>(&impl))).requires_grad();
  row.is_view = bool(impl.base());
  if (refs.is_held(t) && row.bytes == block.largest_shown) {
    const double times = double(row.memory_bytes) / double(std::max<std::int64_t>(row.bytes, 1));
    row.keeps = times > 1 ? times : 0;
  }
  if (t.made_by) row.made_by = t.made_by;
  row.made_at = References::made_at(t);
  if (refs.is_saved_alias(t)) {
    const Node& node = refs.things[refs.links[t.in[0]].from].node();
    row.made_by = fmt::format("saved by {}", node.name());
    row.made_at = node.trace() ? node.trace()->recorded_at.str() : "";
  }
  return row;
}

}  // namespace

std::vector<TensorSummary> tensor_summary(const Owners& owners) {
  check<AutogradError>(Watch::of_this_thread().tracked || !owners.empty(),
                       "tensor_summary: tensors are only remembered inside a TrackTensors scope; begin one before they "
                       "are made, or pass the modules, optimizers and tensors to look at");
  const References refs(owners);
  std::unordered_map<const StorageImpl*, Block> blocks;
  for (const References::Thing& t : refs.things) {
    if (t.kind != References::Kind::tensor) continue;
    Block& block = blocks[t.tensor().storage().get()];
    if (refs.is_held(t)) block.largest_shown = std::max(block.largest_shown, bytes_of(t.tensor()));
    block.has_tensor |= !refs.is_saved_alias(t);
  }
  std::vector<TensorSummary> rows;
  for (const References::Thing& t : refs.things) {
    if (t.kind != References::Kind::tensor) continue;
    Block& block = blocks[t.tensor().storage().get()];
    if (refs.is_saved_alias(t) && std::exchange(block.has_tensor, true)) continue;
    rows.push_back(summary_of(refs, t, block));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TensorSummary& a, const TensorSummary& b) { return a.memory_bytes > b.memory_bytes; });
  return rows;
}

void append_to(std::string& s, const std::vector<TensorSummary>& tensors) {
  s += fmt::format("{:<28}{:>14}{:>14}{:>6}{:>6}  {:<6}{}\n", "tensor", "bytes", "memory", "refs", "mem", "grad",
                   "name, made by");
  for (const TensorSummary& t : tensors) {
    std::string what;
    append_to(what, t.spec);
    s += fmt::format("{:<28}{:>14}{:>14}{:>6}{:>6}  {:<5}", what, t.bytes, t.memory_bytes, t.references,
                     t.memory_references, t.requires_grad ? "yes" : "no");
    const char* separator = " ";
    const auto say = [&](const std::string& text) {
      if (!text.empty()) s += std::exchange(separator, ", ") + text;
    };
    say(t.name);
    say(t.made_by + (t.made_at.empty() ? "" : " at " + t.made_at));
    say(kept_alive(t.keeps));
    s += '\n';
  }
}

}  // namespace taper
