#include "older_memory.h"

#include <taper/autograd/autograd_meta.h>
#include <taper/factory.h>

#include <algorithm>

#include "diagnostics/remedy.h"
#include "diagnostics/watch.h"

namespace taper {
namespace {

std::uint64_t next_storage() { return empty(IntSpan{0}).storage()->id(); }

/// How much of what it writes to a writer replaces, so that the same call once more would change nothing.
enum class Overwrites { nothing, part, all };
Overwrites overwritten_by(std::string_view writer) {
  for (const std::string_view all :
       {"copy_", "fill_", "zero_", "normal_", "uniform_", "exponential_", "random_", "bernoulli_"})
    if (writer == all) return Overwrites::all;
  for (const std::string_view part :
       {"masked_fill_", "index_fill_", "index_copy_", "masked_scatter_", "scatter_", "embedding_renorm_"})
    if (writer == part) return Overwrites::part;
  return Overwrites::nothing;
}

}  // namespace

OlderMemory::OlderMemory() : begin_(next_storage()) {}
OlderMemory::~OlderMemory() = default;

OlderMemory::Scope::Scope(OlderMemory& seen_by) : seen_by_(seen_by) {
  Watch& w = Watch::of_this_thread();
  seen_by.outer_ = std::exchange(w.older, &seen_by);
  seen_by.nested_ = seen_by.outer_ != nullptr;
  w.begin_scope();
}

OlderMemory::Scope::~Scope() {
  Watch& w = Watch::of_this_thread();
  w.end_scope();
  w.older = std::exchange(seen_by_.outer_, nullptr);
  seen_by_.end_ = next_storage();
}

void OlderMemory::leave_out(const TensorList& tensors) {
  for (const Tensor& t : tensors)
    if (t.defined()) left_out_.push_back(t.storage()->id());
}

OlderMemory::Block* OlderMemory::find_or_add(const Storage& storage, std::uint32_t version) {
  const std::uint64_t id = storage->id();
  if (id >= begin_ || std::find(left_out_.begin(), left_out_.end(), id) != left_out_.end()) return nullptr;
  auto at =
      std::lower_bound(blocks_.begin(), blocks_.end(), id, [](const Block& b, std::uint64_t i) { return b.id < i; });
  if (at == blocks_.end() || at->id != id) at = blocks_.insert(at, Block{id, storage, version});
  return &*at;
}

const OlderMemory::Block* OlderMemory::find(std::uint64_t id) const {
  const auto at =
      std::lower_bound(blocks_.begin(), blocks_.end(), id, [](const Block& b, std::uint64_t i) { return b.id < i; });
  return at == blocks_.end() || at->id != id ? nullptr : &*at;
}

std::string OlderMemory::How::str() const {
  if (method) return std::string("used in ") + method + "()";
  return op ? "gave to " + std::string(op->name()) + " as '" + op->argument_name(argument) + "'" : "saved";
}

void OlderMemory::read(const Tensor& t, const How& how) {
  trail_.push_back(std::uint32_t(t.storage()->id()));
  Block* b = find_or_add(t.storage(), t.version());
  if (b && !b->own && b->read_after == kNever) {
    b->read_after = saved_;
    b->read_in = calls_.empty() ? 0 : calls_.back().number;
    b->how = how;
    b->spec = t.spec();
    const AutogradMeta* m = meta_of(t);
    b->of_leaf = m && m->requires_grad;
    if (Watch::of_this_thread().log) b->at = std::make_shared<const CallSite>(CallSite::here());
  }
  if (outer_) outer_->read(t, how);
}

void OlderMemory::enter(const detail::WatchedCall& call) {
  for (OlderMemory* o = this; o; o = o->outer_)
    o->calls_.push_back({++o->last_number_, call.overwritten && call.name == call.op.name()});
  // What an in-place form finds in its destination matters once that is read: then its version tells.
  const Tensor* destination = calls_.back().out_form ? nullptr : call.overwritten;
  for (const auto& [argument, t] : call.operands)
    if (!destination || !t.is_same(*destination)) read(t, {.op = &call.op, .argument = argument});
}

void OlderMemory::leave() noexcept {
  for (OlderMemory* o = this; o; o = o->outer_) o->calls_.pop_back();
}

void OlderMemory::write(const TensorImpl& written, const char* writer) {
  if (outer_) outer_->write(written, writer);
  const std::uint32_t now = written.storage()->version();
  Block* b = find_or_add(written.storage(), now - 1);
  if (!b || b->own) return;
  const auto read_here = [b](const Call& c) { return c.number == b->read_in; };
  if (b->read_after != kNever) {
    // The operator that writes has read it to that end, as batch_norm does with its running statistics.
    if (std::any_of(calls_.begin(), calls_.end(), read_here)) b->read_after = kNever;
    return;
  }
  const bool out_form = !calls_.empty() && calls_.back().out_form;
  const Overwrites how = out_form ? Overwrites::all : overwritten_by(writer);
  if (how == Overwrites::nothing) return;
  const std::size_t bytes = std::size_t(written.numel()) * itemsize(written.dtype());
  if (how == Overwrites::all && bytes >= written.storage()->bytes())
    b->own = true;
  else if (b->version == now - 1)
    b->version = now;
}

void OlderMemory::draw(const RandomStream& drawn) {
  for (OlderMemory* o = this; o; o = o->outer_) o->drawn_.emplace_back(o->saved_, drawn);
}

void OlderMemory::check_unchanged() const {
  for (const Block& b : blocks_) {
    const Storage memory = b.storage.lock();
    if (!matters(b) || !memory || memory->version() == b.version) continue;
    const char* writer = memory->last_writer();
    const MutationLog::Write* write = last_write(*memory);
    const std::string read_at = b.at ? b.at->str() : "", modified_at = write ? write->at.str() : "";
    const std::string remedy = remedy_for(writer, b.of_leaf);
    std::string message;
    const auto say = [&](const auto&... parts) { (append_to(message, parts), ...); };
    say("checkpoint: what fn ", b.how.str(), " (", b.spec, ")");
    if (!read_at.empty()) say(", called at ", read_at, ",");
    say(" was at version ", b.version);
    say(", but ", writer ? writer : "a write", "() has changed its memory since, now at version ", memory->version());
    if (!modified_at.empty()) say(" (called at ", modified_at, ")");
    say(", so that called again for the backward pass fn would compute something else; ", remedy);

    InplaceConflictError error(message);
    error.saved_by = b.how.op ? b.how.op->name() : "checkpoint";
    error.saved_as = b.how.op ? b.how.op->argument_name(b.how.argument) : "";
    error.modified_by = writer ? writer : "";
    error.modified_through = names_of(memory->last_writer_path());
    error.saved_version = b.version;
    error.current_version = memory->version();
    error.remedy = remedy;
    error.saved_at = read_at;
    error.modified_at = modified_at;
    throw error;
  }
}

bool OlderMemory::keeps(const Block& b, const OlderMemory& second) const {
  // With less to do the second time, it was computed and kept. Else it must have been read for what it is read for now:
  // a state that is carried from call to call was not.
  if (second.trail_.size() != trail_.size()) return second.trail_.size() < trail_.size();
  for (std::size_t i = 0; i < trail_.size(); ++i)
    if (second.trail_[i] == std::uint32_t(b.id) && trail_[i] != second.trail_[i]) return false;
  return true;
}

void OlderMemory::check_same(const OlderMemory& second) const {
  for (std::size_t i = 0; i < drawn_.size() && drawn_[i].first < saved_; ++i) {
    const RandomStream before = drawn_[i].second;
    const bool again = i < second.drawn_.size() && second.drawn_[i].second.seed == before.seed &&
                       second.drawn_[i].second.stream == before.stream;
    check<AutogradError>(again, "checkpoint: called again in the backward pass, fn drew other random numbers than the ",
                         "first time; draw them from default_generator(), which is put back to where it was");
  }
  for (const Block& b : second.blocks_) {
    if (!second.matters(b) || find(b.id)) continue;
    const bool made_by_first = b.id >= begin_ && b.id < end_;
    if (made_by_first ? keeps(b, second) : nested_ && b.id >= end_) continue;
    raise<AutogradError>("checkpoint: called again in the backward pass, fn ", b.how.str(), " (", b.spec, ") memory ",
                         b.id < begin_ ? "that it did not read" : "that was not there",
                         " the first time; fn must depend on nothing that changes but its inputs and ",
                         "default_generator(): capture tensors by value, and pass what changes as an input");
  }
}

void OlderMemory::take_versions(const OlderMemory& second) {
  for (Block& b : blocks_)
    if (const Block* again = second.find(b.id)) b.version = again->version;
}

}  // namespace taper
