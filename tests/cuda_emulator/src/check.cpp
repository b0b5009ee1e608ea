// The checker: every load and store of a .cu file calls in here, because those files are
// compiled with -fsanitize=thread while libtsan is not linked; these are its entry points.
// It finds out-of-bounds and freed accesses, reads of unwritten memory, host memory used by
// a kernel, device memory used by the host, and races within and between blocks: exactly,
// whatever the schedule.  This file itself must not be compiled with -fsanitize=thread.
#include <link.h>
#include <sys/mman.h>

#include <cstdio>
#include <unordered_map>
#include <vector>

#include "internal.h"

namespace cuemu {
namespace {
constexpr uint64_t kRealBase = kHeapBase + kShift;
struct Access {                    // one remembered access to a 4-byte granule
  uint32_t launch = 0, block = 0;  // for shared memory: the block's serial number, 0
  uint16_t tid = 0, bar = 0, warp_ep = 0;
  uint8_t mask = 0, flags = 0;
};
enum { kAtomic = 1, kMulti = 2, kMultiWarp = 4, kSplit = 8 };
struct Cell {
  Access w, r;
};
static_assert(sizeof(Cell) == 32);

Cell* heap_cells;     // one per 4 bytes of the device heap, touched on demand
Cell* heap_bytes;     // one per byte, for granules that are accessed in parts: marked by kSplit in heap_cells
uint8_t* heap_state;  // low nibble: addressable bytes; high nibble: initialised
std::vector<Cell> shared_cells, shared_bytes;
std::vector<uint32_t> shared_init;  // (block serial << 4) | initialised bytes
uint32_t fence_launch;
std::vector<bool> fenced;  // blocks of this launch that have executed __threadfence

void init_heap() {
  if (heap_cells) return;
  auto map = [](std::size_t n) {
    void* p = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) fail("no address space for the shadow of device memory (%zu bytes)", n);
    madvise(p, n, MADV_HUGEPAGE);
    return p;
  };
  heap_cells = static_cast<Cell*>(map(kHeapSpan / 4 * sizeof(Cell)));
  heap_bytes = static_cast<Cell*>(map(kHeapSpan * sizeof(Cell)));
  heap_state = static_cast<uint8_t*>(map(kHeapSpan / 4));
}

void set_state(const void* p, std::size_t n, bool valid, bool inited) {
  init_heap();
  uint64_t a = uint64_t(p) - kRealBase, e = a + n;
  for (; a < e && (a % 4 || e - a < 4); ++a) {
    uint8_t& s = heap_state[a / 4];
    uint8_t bit = uint8_t(1u << a % 4);
    s = uint8_t(valid ? s | bit : s & ~bit);
    s = uint8_t(inited ? s | bit << 4 : s & ~(bit << 4));
  }
  std::memset(heap_state + a / 4, (valid ? 0x0f : 0) | (inited ? 0xf0 : 0), (e - a) / 4);
  if (e % 4 && a < e) set_state(reinterpret_cast<const void*>(kRealBase + e / 4 * 4), e % 4, valid, inited);
}
void set_init(const void* p, std::size_t n) {
  uint64_t a = uint64_t(p) - kRealBase;
  for (uint64_t b = a; b < a + n;) {
    if (b % 4 == 0 && b + 4 <= a + n) {
      heap_state[b / 4] |= 0xf0;
      b += 4;
    } else {
      heap_state[b / 4] |= uint8_t(0x10u << b % 4);
      ++b;
    }
  }
}

// Inlined, or `now` would be put together in memory, and stall the processor when it is stored as a whole.
[[gnu::always_inline]] inline bool same_thread(const Access& a, const Access& c) {
  return a.block == c.block && a.tid == c.tid;
}
[[gnu::always_inline]] inline bool unordered(const Access& old,
                                             const Access& now) {  // no barrier, no fence between them
  if (old.launch != now.launch || !(old.mask & now.mask)) return false;
  if (old.flags & now.flags & kAtomic) return false;
  if (old.block != now.block) return !(fence_launch == now.launch && old.block < fenced.size() && fenced[old.block]);
  if (old.bar != now.bar) return false;
  if (old.flags & kMultiWarp) return true;
  if (old.tid / 32 == now.tid / 32 && old.warp_ep < now.warp_ep) return false;
  return old.tid != now.tid || (old.flags & kMulti);
}
[[gnu::noinline]] void race(const Access& old, const void* p, const char* a, const char* b, const void* pc,
                            const char* space) {
  fail("RACE on %s memory %p (%s): a %s here (%s) is not ordered with the %s by thread %u of block %u", space,
       handle(p), in_real(p) ? describe(p).c_str() : "shared", a, where(pc, false).c_str(), b, old.tid, old.block);
}

[[gnu::always_inline]] inline void note(Cell& c, Access now, bool write, const void* p, const void* pc,
                                        const char* space) {
  if (c.w.mask && unordered(c.w, now)) race(c.w, p, write ? "write" : "read", "write", pc, space);
  if (write) {
    if (c.r.mask && unordered(c.r, now)) race(c.r, p, "write", "read", pc, space);
    if (c.w.launch == now.launch && same_thread(c.w, now) && c.w.bar == now.bar) now.mask |= c.w.mask;
    c.w = now;
  } else {
    Access& r = c.r;
    if (r.mask && r.launch == now.launch && r.block == now.block && r.bar == now.bar && !same_thread(r, now)) {
      now.mask |= r.mask;
      now.flags |= uint8_t((r.flags & (kMulti | kMultiWarp)) | kMulti | (r.tid / 32 != now.tid / 32 ? kMultiWarp : 0));
    }
    r = now;
  }
}

// An access to part of a granule is noted for each of its bytes, or neighbours of one thread would look like its own.
[[gnu::always_inline]] inline void note(Cell& granule, Cell* bytes, Access now, bool write, const void* p,
                                        const void* pc, const char* space) {
  if (now.mask == 0xf && !(granule.w.flags & kSplit)) return note(granule, now, write, p, pc, space);
  for (unsigned b = 0; b < 4 && !(granule.w.flags & kSplit); ++b) {
    bytes[b] = granule;
    bytes[b].w.mask &= uint8_t(1u << b);
    bytes[b].r.mask &= uint8_t(1u << b);
  }
  granule.w.flags |= kSplit;
  const uint8_t mask = now.mask;
  for (unsigned b = 0; b < 4; ++b) {
    now.mask = uint8_t(mask & 1u << b);
    if (now.mask) note(bytes[b], now, write, p, pc, space);
  }
}

void shared_access(const char* p, std::size_t n, bool write, bool atomic, const void* pc) {
  const SharedArray* in_array = nullptr;
  for (auto& a : shared_arrays())
    if (p >= a.lo && p + n <= a.lo + a.n) {
      in_array = &a;
      break;
    }
  if (!in_array) {
    const SharedArray* near = nullptr;
    for (auto& a : shared_arrays())
      if (p >= a.lo && (!near || a.lo > near->lo)) near = &a;
    fail("shared memory %s out of bounds: byte %zu of array %s, which has %zu  [%s]", write ? "write" : "read",
         std::size_t(p - near->lo), near->name, near->n, where(pc, false).c_str());
  }
  auto end = std::size_t(in_array->lo + in_array->n - shared_base() + 3) / 4;
  if (shared_cells.size() < end) {
    shared_cells.resize(end);
    shared_bytes.resize(end * 4);
    shared_init.resize(end);
  }
  Access now;
  now.launch = cur.block_serial;
  now.tid = uint16_t(cur.tid);
  now.bar = cur.barrier_epoch;
  now.warp_ep = cur.warp_epochs[cur.tid];
  now.flags = atomic ? kAtomic : 0;
  for (std::size_t o = std::size_t(p - shared_base()), e = o + n; o < e; o = (o | 3) + 1) {
    unsigned from = o & 3, to = unsigned(std::min(e - (o & ~std::size_t(3)), std::size_t(4)));
    now.mask = uint8_t(((1u << to) - 1) & ~((1u << from) - 1));
    uint32_t& in = shared_init[o / 4];
    if (in >> 4 != (cur.block_serial & 0xfffffff)) in = cur.block_serial << 4;
    if ((!write || atomic) && (in & now.mask) != now.mask)
      fail("read of shared memory that this block has not written: array %s  [%s]", in_array->name,
           where(pc, false).c_str());
    if (write) in |= now.mask;
    note(shared_cells[o / 4], &shared_bytes[o / 4 * 4], now, write, p, pc, "shared");
  }
}

// Constants of the program: under nvcc a kernel has its own.
bool is_constant(const void* p) {
  struct Range {
    uint64_t begin, end;
  };
  static const std::vector<Range> ranges = [] {
    std::vector<Range> found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& segment = info->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || segment.p_flags & PF_W) continue;
            const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
            static_cast<std::vector<Range>*>(out)->push_back({begin, begin + segment.p_memsz});
          }
          return 0;
        },
        &found);
    return found;
  }();
  for (const Range& r : ranges)
    if (uint64_t(p) >= r.begin && uint64_t(p) < r.end) return true;
  return false;
}

[[gnu::noinline]] void check_access(const char* p, std::size_t n, bool write, bool atomic, const void* pc) {
  if (!cur.in_kernel) {
    if (in_heap(p) || in_real(p))
      fail("HOST code %s device memory %p: %s  [%s]", write ? "writes" : "reads", handle(p), describe(p).c_str(),
           where(pc, false).c_str());
    return;
  }
  ++counters.checked_accesses;
  if (p >= cur.stack_lo && p < cur.stack_hi) return;
  if (!write && p >= cur.args_lo && p < cur.args_hi) return;
  if (in_real(p)) {
    if (!heap_cells) init_heap();
    if (cur.overlapped && !cur.dependency_synced[cur.tid])
      fail("device memory used before cudaGridDependencySynchronize() [%s]", where(pc, false).c_str());
    Access now;
    now.launch = cur.launch;
    now.block = cur.block;
    now.tid = uint16_t(cur.tid);
    now.bar = cur.barrier_epoch;
    now.warp_ep = cur.warp_epochs[cur.tid];
    now.flags = atomic ? kAtomic : 0;
    uint64_t a = uint64_t(p) - kRealBase, e = a + n;
    for (uint64_t o = a; o < e; o = (o | 3) + 1) {
      unsigned from = o & 3, to = unsigned(std::min(e - (o & ~uint64_t(3)), uint64_t(4)));
      now.mask = uint8_t(((1u << to) - 1) & ~((1u << from) - 1));
      uint8_t& s = heap_state[o / 4];
      if ((s & now.mask) != now.mask)
        fail("out-of-bounds %s of %zu bytes at %p: %s  [%s]", write ? "write" : "read", n, handle(p),
             describe(p).c_str(), where(pc, false).c_str());
      if ((!write || atomic) && (s >> 4 & now.mask) != now.mask)
        fail("read of device memory never written: %p: %s  [%s]", handle(p), describe(p).c_str(),
             where(pc, false).c_str());
      if (write) s |= uint8_t(now.mask << 4);
      note(heap_cells[o / 4], &heap_bytes[o / 4 * 4], now, write, p, pc, "device");
    }
    return;
  }
  if (in_shared(p)) return shared_access(p, n, write, atomic, pc);
  auto in = [&](const void* b, std::size_t m) { return p >= (const char*)b && p < (const char*)b + m; };
  if (!write && (in(&threadIdx, sizeof threadIdx) || in(&blockIdx, sizeof blockIdx) || in(&blockDim, sizeof blockDim) ||
                 in(&gridDim, sizeof gridDim)))
    return;
  if (is_pinned(p, n) || (!write && is_constant(p))) return;
  fail("kernel %s HOST memory %p [%s]", write ? "writes" : "reads", (const void*)p, where(pc, false).c_str());
}
}  // namespace

void check_on_malloc(const void* p, std::size_t n) { set_state(p, n, true, false); }
void check_on_free(const void* p, std::size_t n) { set_state(p, n, false, false); }
void check_set_usable(const void* p, std::size_t n, bool usable) { set_state(p, n, usable, false); }
void check_on_written(const void* p, std::size_t n) {
  if (!in_real(p)) return;
  init_heap();
  uint64_t a = uint64_t(p) - kRealBase;
  for (uint64_t o = a; o < a + n; ++o)
    if (!(heap_state[o / 4] >> o % 4 & 1))
      fail("library call writes outside a live block: %s", describe(static_cast<const char*>(p) + (o - a)).c_str());
  set_init(p, n);
}
void check_on_read(const void* p, std::size_t n, const char* what) {
  if (!in_real(p)) return;
  init_heap();
  uint64_t a = uint64_t(p) - kRealBase;
  for (uint64_t o = a; o < a + n; ++o) {
    if (!(heap_state[o / 4] >> o % 4 & 1))
      fail("%s reads outside a live block: %s", what, describe(static_cast<const char*>(p) + (o - a)).c_str());
    if (!(heap_state[o / 4] >> (o % 4 + 4) & 1))
      fail("%s reads device memory never written: %s", what, describe(static_cast<const char*>(p) + (o - a)).c_str());
  }
}
void check_on_copy(const void* p, std::size_t n, bool write, const void* pc) {
  if (n) check_access(static_cast<const char*>(p), n, write, false, pc);
}
void check_on_fence() {
  if (fence_launch != cur.launch) {
    fence_launch = cur.launch;
    fenced.assign(gridDim.x * gridDim.y * gridDim.z, false);
  }
  fenced[cur.block] = true;
}
void check_on_atomic(const void* p, std::size_t n) {
  check_access(static_cast<const char*>(p), n, true, true, __builtin_return_address(0));
}
}  // namespace cuemu

#define HOOK(N)                                                                               \
  void __tsan_read##N(void* p) {                                                              \
    cuemu::check_access(static_cast<char*>(p), N, false, false, __builtin_return_address(0)); \
  }                                                                                           \
  void __tsan_write##N(void* p) {                                                             \
    cuemu::check_access(static_cast<char*>(p), N, true, false, __builtin_return_address(0));  \
  }
#define HOOKU(N)                                                                              \
  void __tsan_unaligned_read##N(void* p) {                                                    \
    cuemu::check_access(static_cast<char*>(p), N, false, false, __builtin_return_address(0)); \
  }                                                                                           \
  void __tsan_unaligned_write##N(void* p) {                                                   \
    cuemu::check_access(static_cast<char*>(p), N, true, false, __builtin_return_address(0));  \
  }
extern "C" {
HOOK(1)
HOOK(2) HOOK(4) HOOK(8) HOOK(16) HOOKU(2) HOOKU(4) HOOKU(8) HOOKU(16) void __tsan_read_range(void* p, unsigned long n) {
  cuemu::check_access(static_cast<char*>(p), n, false, false, __builtin_return_address(0));
}
void __tsan_write_range(void* p, unsigned long n) {
  cuemu::check_access(static_cast<char*>(p), n, true, false, __builtin_return_address(0));
}
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_init(void) {}
// function-local statics and std::shared_ptr in host code
#define ATOMICS(N, T)                                                                                            \
  T __tsan_atomic##N##_load(const volatile T* a, int) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); }           \
  void __tsan_atomic##N##_store(volatile T* a, T v, int) { __atomic_store_n(a, v, __ATOMIC_SEQ_CST); }           \
  T __tsan_atomic##N##_exchange(volatile T* a, T v, int) { return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##N##_fetch_add(volatile T* a, T v, int) { return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##N##_fetch_sub(volatile T* a, T v, int) { return __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##N##_fetch_and(volatile T* a, T v, int) { return __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##N##_fetch_or(volatile T* a, T v, int) { return __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##N##_fetch_xor(volatile T* a, T v, int) { return __atomic_fetch_xor(a, v, __ATOMIC_SEQ_CST); } \
  int __tsan_atomic##N##_compare_exchange_strong(volatile T* a, T* c, T v, int, int) {                           \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
  }                                                                                                              \
  int __tsan_atomic##N##_compare_exchange_weak(volatile T* a, T* c, T v, int, int) {                             \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
  }
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}

// -fsanitize=alignment,bounds,shift,integer-divide-by-zero: the messages of UBSan, by us.
namespace {
struct Loc {
  const char* file;
  uint32_t line, col;
};
struct Mismatch {
  Loc loc;
  void* type;
  unsigned char log_align, kind;
};
}  // namespace
extern "C" {
void __ubsan_handle_type_mismatch_v1_abort(Mismatch* d, void* p) {
  cuemu::fail("misaligned access: %s:%u: address %p is not a multiple of %u", d->loc.file, d->loc.line,
              cuemu::handle(p), 1u << d->log_align);
}
void __ubsan_handle_out_of_bounds_abort(Loc* d, void* i) {
  cuemu::fail("array index %lld out of bounds: %s:%u", (long long)(intptr_t)i, d->file, d->line);
}
void __ubsan_handle_shift_out_of_bounds_abort(Loc* d, void*, void*) {
  cuemu::fail("shift out of range: %s:%u", d->file, d->line);
}
void __ubsan_handle_divrem_overflow_abort(Loc* d, void*, void*) {
  cuemu::fail("division by zero or overflow: %s:%u", d->file, d->line);
}
}
