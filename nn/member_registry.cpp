#include "member_registry.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace taper::nn::detail {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<const void*, MemberKind, std::less<>> members;
};

Registry& registry() {
  // Never destroyed: modules with static storage outlive every object that could be.
  static Registry* const r = std::make_unique<Registry>().release();
  return *r;
}

}  // namespace

void note_member(const void* place, MemberKind kind) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.members.insert_or_assign(place, kind);
}

void forget_member(const void* place) noexcept {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.members.erase(place);
}

std::vector<std::pair<const void*, MemberKind>> members_within(const void* begin, const void* end) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return {r.members.lower_bound(begin), r.members.lower_bound(end)};
}

}  // namespace taper::nn::detail
