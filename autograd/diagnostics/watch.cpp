#include "watch.h"

#include <taper/new_tensor_hook.h>
#include <taper/operator.h>

#include "older_memory.h"

namespace taper {
namespace {

void enter(const detail::WatchedCall& call) {
  Watch& w = Watch::of_this_thread();
  if (w.depth++ == 0 && w.log && w.options.check_forward && call.overwritten && call.overwritten->defined())
    w.overwritten = range_of(*call.overwritten, "self");
  if (w.tracked)
    for (const OpEntry::Operand& operand : call.operands) w.tracked->add_used(operand.tensor);
  if (w.older) w.older->enter(call);
}

void finish(const detail::WatchedCall& call, const Tensor* results, std::size_t n) {
  const Watch& w = Watch::of_this_thread();
  if (w.tracked) {
    for (std::size_t i = 0; i < n; ++i)
      if (call.overwritten)
        w.tracked->add_used(results[i]);
      else
        w.tracked->add_made(results[i], call.name);
  }
  if (w.depth != 1) return;
  if (w.log && w.options.check_forward) check_forward(call, results, n);
  if (w.registry) check_budget();
}

void leave() noexcept {
  Watch& w = Watch::of_this_thread();
  --w.depth;
  if (w.older) w.older->leave();
}

constexpr detail::WatchedCall::Watcher kWatcher{enter, finish, leave};

void log_write(const TensorImpl& written, const char* writer) noexcept {
  const Watch& w = Watch::of_this_thread();
  if (w.older) w.older->write(written, writer);
  if (!w.log) return;
  const StorageImpl& memory = *written.storage();
  std::deque<MutationLog::Write>& writes = w.log->writes;
  writes.push_back({memory.id(), writer, memory.version(), written.view_path(), CallSite::here()});
  while (writes.size() > w.options.log_length) writes.pop_front();
}

void note_new_tensor(const Tensor& t, const char* made_by) {
  const Watch& w = Watch::of_this_thread();
  if (w.tracked) w.tracked->add_made(t, made_by);
}

void note_read(const Tensor& t, const char* by) {
  const Watch& w = Watch::of_this_thread();
  if (w.older) w.older->read(t, {.method = by});
}

void note_draw(const RandomStream& drawn) noexcept {
  const Watch& w = Watch::of_this_thread();
  if (w.older) w.older->draw(drawn);
}

}  // namespace

Watch& Watch::of_this_thread() {
  static thread_local Watch watch;
  return watch;
}

void Watch::begin_scope() {
  static std::once_flag once;
  std::call_once(once, [] {
    detail::WatchedCall::watcher = &kWatcher;
    detail::write_hook = log_write;
    detail::new_tensor_hook = note_new_tensor;
    detail::read_hook = note_read;
    detail::draw_hook = note_draw;
  });
  if (scopes++ == 0) ExcludedKeys::set(ExcludedKeys::get() - DispatchKey::Watch);
}

void Watch::end_scope() noexcept {
  if (--scopes == 0) ExcludedKeys::set(ExcludedKeys::get() | DispatchKey::Watch);
}

NodeTrace::NodeTrace(const Node& node) : recorded_at(CallSite::here()) {
  const Watch& w = Watch::of_this_thread();
  listed_[0].registry = w.registry;
  if (w.tracked) listed_[1].registry = w.tracked->nodes;
  for (auto& [registry, place] : listed_) {
    if (!registry) continue;
    const std::lock_guard lock(registry->mutex);
    place = registry->nodes.insert(registry->nodes.end(), &node);
  }
}

NodeTrace::~NodeTrace() {
  for (auto& [registry, place] : listed_) {
    if (!registry) continue;
    const std::lock_guard lock(registry->mutex);
    registry->nodes.erase(place);
  }
}

std::string called_at(const Node& node) {
  const std::string site = node.trace() ? node.trace()->recorded_at.str() : "";
  return site.empty() ? site : ", called at " + site;
}

std::vector<std::string> names_of(const ViewPath* path) {
  if (!path) return {};
  std::vector<std::string> names = names_of(path->before());
  names.emplace_back(path->op());
  return names;
}

const MutationLog::Write* last_write(const StorageImpl& memory) {
  const auto& log = Watch::of_this_thread().log;
  if (!log) return nullptr;
  for (auto w = log->writes.rbegin(); w != log->writes.rend(); ++w)
    if (w->storage == memory.id() && w->version == memory.version()) return &*w;
  return nullptr;
}

}  // namespace taper
