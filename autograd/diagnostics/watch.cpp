#include "watch.h"

#include <taper/operator.h>

namespace taper {
namespace {

void enter(const detail::WatchedCall& call) {
  Watch& w = Watch::of_this_thread();
  if (w.depth++ == 0 && w.log && w.options.check_forward && call.overwritten && call.overwritten->defined())
    w.overwritten = range_of(*call.overwritten, "self");
}

void finish(const detail::WatchedCall& call, const Tensor* results, std::size_t n) {
  const Watch& w = Watch::of_this_thread();
  if (w.depth != 1) return;
  if (w.log && w.options.check_forward) check_forward(call, results, n);
  if (w.registry) check_budget();
}

void leave() noexcept { --Watch::of_this_thread().depth; }

constexpr detail::WatchedCall::Watcher kWatcher{enter, finish, leave};

void log_write(const TensorImpl& written, const char* writer) noexcept {
  const Watch& w = Watch::of_this_thread();
  if (!w.log) return;
  const StorageImpl& memory = *written.storage();
  std::deque<MutationLog::Write>& writes = w.log->writes;
  writes.push_back({memory.id(), writer, memory.version(), written.view_path(), CallSite::here()});
  while (writes.size() > w.options.log_length) writes.pop_front();
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
  });
  if (scopes++ == 0) ExcludedKeys::set(ExcludedKeys::get() - DispatchKey::Watch);
}

void Watch::end_scope() noexcept {
  if (--scopes == 0) ExcludedKeys::set(ExcludedKeys::get() | DispatchKey::Watch);
}

NodeTrace::NodeTrace(const Node& node) : recorded_at(CallSite::here()), registry_(Watch::of_this_thread().registry) {
  if (!registry_) return;
  const std::lock_guard lock(registry_->mutex);
  place_ = registry_->nodes.insert(registry_->nodes.end(), &node);
}

NodeTrace::~NodeTrace() {
  if (!registry_) return;
  const std::lock_guard lock(registry_->mutex);
  registry_->nodes.erase(place_);
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
