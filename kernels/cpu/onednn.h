#pragma once
// The one file that knows which oneDNN is installed: version 2 describes an operation in two steps, version 3 in one.
// The branch for version 3 is untested.
#if TAPER_ONEDNN

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scratch.h"

namespace taper::cpu_kernels::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

dnnl::engine& engine();
/// The calling thread's stream. On CPUs work is done when execute() returns.
dnnl::stream& stream();

#if DNNL_VERSION_MAJOR >= 3
template <class Primitive, class... A>
typename Primitive::primitive_desc describe(A&&... a) {
  return typename Primitive::primitive_desc(engine(), std::forward<A>(a)...);
}
template <class Primitive, class... A>
typename Primitive::primitive_desc describe_gradient(const dnnl::convolution_forward::primitive_desc& forward,
                                                     A&&... a) {
  return typename Primitive::primitive_desc(engine(), std::forward<A>(a)..., forward);
}
#else
template <class Primitive, class... A>
typename Primitive::primitive_desc describe(A&&... a) {
  return typename Primitive::primitive_desc(typename Primitive::desc(std::forward<A>(a)...), engine());
}
template <class Primitive, class... A>
typename Primitive::primitive_desc describe_gradient(const dnnl::convolution_forward::primitive_desc& forward,
                                                     A&&... a) {
  return typename Primitive::primitive_desc(typename Primitive::desc(std::forward<A>(a)...), engine(), forward);
}
#endif

/// One primitive ready to run again and again on other memory, with the copies into and out of the layouts it wants.
/// Belongs to one thread.
class Plan {
 public:
  enum class Use { input, output };

  explicit Plan(dnnl::primitive primitive) : primitive_(std::move(primitive)) {}

  /// Adds an argument. `ours` is how the caller's memory is laid out, `wanted` what the primitive reads or writes.
  void add(int argument, Use use, const Desc& ours, const Desc& wanted);

  /// Runs on the given memory, one address for each add(), in the same order.
  void run(const void* const* data);

 private:
  struct Operand {
    int argument;
    Use use;
    dnnl::memory ours, inner;
    dnnl::reorder copy;  // empty where the layouts agree
    std::size_t bytes;
  };

  dnnl::primitive primitive_;
  std::vector<Operand> operands_;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::size_t scratch_bytes_ = 0;
};

/// The most recently used values of one thread, by key. Values stay where they are until they are dropped.
/// Key has operator== and hash().
template <class Key, class Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t capacity) : capacity_(capacity) {}

  /// The value of `key`, made by make() if it is not there; the one used longest ago then makes room.
  template <class Make>
  Value& get(const Key& key, const Make& make) {
    if (!entries_.empty() && entries_.front().first == key) return entries_.front().second;
    if (const auto found = index_.find(key); found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    entries_.emplace_front(key, make());
    index_.emplace(key, entries_.begin());
    if (entries_.size() > capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.hash(); }
  };
  using Entries = std::list<std::pair<Key, Value>>;

  std::size_t capacity_;
  Entries entries_;  // the newest first
  std::unordered_map<Key, typename Entries::iterator, Hash> index_;
};

}  // namespace taper::cpu_kernels::onednn

#endif
