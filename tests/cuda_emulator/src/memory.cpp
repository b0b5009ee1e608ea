// Device memory: handles for the host, real addresses for kernels, canaries in between.
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "internal.h"

namespace cuemu {
namespace {
constexpr std::size_t kAlign = 256, kZone = 512, kChunk = 32 << 20;
constexpr unsigned char kCanary = 0xC5, kUndefined = 0xFF;  // undefined memory reads as NaN / -1
struct Alloc {
  std::size_t n, body;
  unsigned id;
};
std::map<uint64_t, Alloc> live, freed;           // by handle
std::multimap<std::size_t, uint64_t> free_runs;  // freed bodies by size, for re-use
uint64_t bump = kHeapBase + kZone, mapped = kHeapBase;
unsigned next_id;
std::size_t in_use;
int fail_countdown = -1;
std::map<uint64_t, std::size_t> pinned;

unsigned char* bytes(uint64_t handle) { return reinterpret_cast<unsigned char*>(handle + kShift); }

// The functions that led here, innermost first: the caller's code has no instrumentation that would know a line.
void print_callers() {
  void* frame[24];
  const int n = backtrace(frame, 24);
  for (int i = 2; i < n && i < 14; ++i) {
    const std::string function = where(frame[i], true), line = where(frame[i], false);
    std::fprintf(stderr, "cuemu:   at %s%s%s\n", function.c_str(), line[0] == '?' ? "" : ", ",
                 line[0] == '?' ? "" : line.c_str());
  }
}

void on_segv(int sig, siginfo_t* si, void*) {
  const char* p = static_cast<const char*>(si->si_addr);
  signal(sig, SIG_DFL);
  if (in_heap(p) && cur.in_kernel)
    fail("kernel uses device pointer %p that was not an argument (stored in device memory?): %s", (const void*)p,
         describe(p).c_str());
  if (in_heap(p)) print_callers();
  if (in_heap(p)) fail("HOST code dereferences device memory %p: %s", (const void*)p, describe(p).c_str());
  if (in_real(p)) fail("invalid device address %p: %s", handle(p), describe(p).c_str());
  if (cur.in_kernel)
    fail("kernel faults at %p, which is not device memory%s", (const void*)p,
         p < cur.stack_lo && p > cur.stack_lo - 8192 ? " (its 64 KiB stack overflowed)" : "");
  raise(sig);
}

void reserve(uint64_t at) {
  void* p = mmap(reinterpret_cast<void*>(at), kHeapSpan, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (p != reinterpret_cast<void*>(at)) {
    std::perror("cuemu: mmap");
    std::abort();
  }
}
void init() {
  static bool done = [] {
    reserve(kHeapBase);
    reserve(kHeapBase + kShift);
    static char alt[64 << 10];
    stack_t ss{};
    ss.ss_sp = alt;
    ss.ss_size = sizeof alt;
    sigaltstack(&ss, nullptr);
    struct sigaction sa {};
    sa.sa_sigaction = on_segv;
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &sa, nullptr);
    sigaction(SIGBUS, &sa, nullptr);
    return true;
  }();
  (void)done;
}
void map_up_to(uint64_t h) {  // huge pages: a first touch of 4 KiB pages is very slow on some VMs
  while (mapped < h) {
    mprotect(bytes(mapped), kChunk, PROT_READ | PROT_WRITE);
    madvise(bytes(mapped), kChunk, MADV_HUGEPAGE);
    mapped += kChunk;
  }
}

long first_bad(const unsigned char* p, std::size_t n, unsigned char want) {
  for (std::size_t i = 0; i < n; ++i)
    if (p[i] != want) return long(i);
  return -1;
}
void check_one(uint64_t h, const Alloc& a) {
  if (long i = first_bad(bytes(h) - kZone, kZone, kCanary); i >= 0)
    fail("out-of-bounds write found: %zu bytes before allocation #%u of %zu bytes", kZone - std::size_t(i), a.id, a.n);
  if (long i = first_bad(bytes(h) + a.n, a.body - a.n + kZone, kCanary); i >= 0)
    fail("out-of-bounds write found: %ld bytes past the end of allocation #%u of %zu bytes", i, a.id, a.n);
}
}  // namespace

std::string describe(const void* q) {
  uint64_t v = uint64_t(handle(q));
  char b[200];
  auto near = [&](std::map<uint64_t, Alloc>& m, const char* state) -> bool {
    auto it = m.upper_bound(v);
    if (it != m.begin()) {
      auto& [h, a] = *std::prev(it);
      if (v < h + a.body + kZone) {
        if (v < h + a.n)
          std::snprintf(b, sizeof b, "byte %zu of %sallocation #%u (%zu bytes)", std::size_t(v - h), state, a.id, a.n);
        else
          std::snprintf(b, sizeof b, "%zu bytes past the end of %sallocation #%u (%zu bytes)", std::size_t(v - h - a.n),
                        state, a.id, a.n);
        return true;
      }
    }
    if (it == m.end() || v + kZone < it->first) return false;
    std::snprintf(b, sizeof b, "%zu bytes before %sallocation #%u (%zu bytes)", std::size_t(it->first - v), state,
                  it->second.id, it->second.n);
    return true;
  };
  return near(live, "") || near(freed, "FREED ") ? b : "no allocation near";
}

bool device_range_ok(const void* p, std::size_t n) {
  auto it = live.upper_bound(uint64_t(p));
  return it != live.begin() && (--it, uint64_t(p) + n <= it->first + it->second.n);
}
bool is_pinned(const void* p, std::size_t n) {
  auto it = pinned.upper_bound(uint64_t(p));
  return it != pinned.begin() && (--it, uint64_t(p) + n <= it->first + it->second);
}
void fail_malloc_after(int n) { fail_countdown = n; }
void check_guards() {
  for (auto& [h, a] : live) check_one(h, a);
}
Stats stats() {
  Stats s = counters;
  s.bytes_in_use = in_use;
  s.live_allocations = live.size();
  return s;
}

cudaError_t heap_alloc(void** out, std::size_t n) {
  init();
  *out = nullptr;
  if (n == 0) return cudaSuccess;
  if (fail_countdown > 0 && --fail_countdown == 0) {
    fail_countdown = -1;
    return cudaErrorMemoryAllocation;
  }
  if (n > config().device_bytes || in_use + n > config().device_bytes) return cudaErrorMemoryAllocation;
  std::size_t body = (n + kAlign - 1) / kAlign * kAlign;
  uint64_t h;
  auto [lo, hi] = free_runs.equal_range(body);
  if (std::distance(lo, hi) > 8) {  // re-use after a short quarantine
    h = lo->second;
    free_runs.erase(lo);
    if (long i = first_bad(bytes(h), body, kUndefined); i >= 0)
      fail("write to freed memory found: byte %ld of FREED allocation #%u", i, freed[h].id);
    freed.erase(h);
  } else {
    if (bump + body + kZone > kHeapBase + kHeapSpan) return cudaErrorMemoryAllocation;
    map_up_to(bump + body + kZone);
    h = bump;
    bump += body + kZone;
    std::memset(bytes(h) - kZone, kCanary, kZone);
    std::memset(bytes(h), kUndefined, n);
  }
  std::memset(bytes(h) + n, kCanary, body - n + kZone);
  live[h] = {n, body, next_id++};
  in_use += n;
  if (check_on_malloc) check_on_malloc(bytes(h), n);
  *out = reinterpret_cast<void*>(h);
  return cudaSuccess;
}

cudaError_t heap_free(void* p) {
  if (!p) return cudaSuccess;
  auto it = live.find(uint64_t(p));
  if (it == live.end()) fail("cudaFree(%p): not the start of a live allocation: %s", p, describe(p).c_str());
  auto [h, a] = *it;
  check_one(h, a);
  if (check_on_free) check_on_free(bytes(h), a.n);
  std::memset(bytes(h), kUndefined, a.body);
  freed[h] = a;
  free_runs.emplace(a.body, h);
  in_use -= a.n;
  live.erase(it);
  return cudaSuccess;
}

void pin(void* p, std::size_t n) {
  init();
  pinned[uint64_t(p)] = n;
}
bool unpin(void* p) { return pinned.erase(uint64_t(p)) != 0; }

// Kernel arguments: checked, and device handles replaced by real addresses.
static void check_pointer(const void* p, int i, const void* k) {
  // One past the end is legal (empty ranges), so look one byte back as well.
  if (!device_range_ok(p, 1) && !device_range_ok(static_cast<const char*>(p) - 1, 1))
    fail("argument %d of %s points into no live allocation: %p: %s", i, where(k, true).c_str(), p, describe(p).c_str());
}
void prepare_arg(void* arg, std::size_t n, bool is_pointer, int i, const void* k) {
  for (std::size_t o = 0; o + 8 <= n; o += 8) {
    uint64_t v;
    std::memcpy(&v, static_cast<char*>(arg) + o, 8);
    auto* p = reinterpret_cast<void*>(v);
    if (in_heap(p)) {
      check_pointer(p, i, k);
      v += kShift;
      std::memcpy(static_cast<char*>(arg) + o, &v, 8);
    } else if (is_pointer) {
      if (p && !is_pinned(p, 1)) fail("argument %d of %s is a HOST pointer %p", i, where(k, true).c_str(), p);
    } else if (v >> 40 == 0x7f || v >> 40 == 0x55 || v >> 40 == 0x56) {  // looks like one, in a struct
      unsigned char vec;
      if (mincore(reinterpret_cast<void*>(v & ~4095ull), 1, &vec) == 0 && !is_pinned(p, 1))
        fail("argument %d of %s holds a HOST pointer %p at byte %zu", i, where(k, true).c_str(), p, o);
    }
  }
}
}  // namespace cuemu
