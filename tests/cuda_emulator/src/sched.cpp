// Runs one kernel launch: blocks one after another, the threads of a block as fibers.
// A fiber runs thread after thread to completion; only a thread that blocks at a barrier
// or warp collective keeps its fiber.  So barrier-free kernels cost one call per thread.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>

#include "internal.h"

uint3 threadIdx{}, blockIdx{};
dim3 blockDim{}, gridDim{};

#if defined(__x86_64__)
extern "C" void cuemu_switch(void** save, void* to);
asm(R"(
.text
.globl cuemu_switch
.type cuemu_switch,@function
cuemu_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size cuemu_switch,.-cuemu_switch
)");
#else
#error "port cuemu_switch (or use swapcontext) for this processor"
#endif

namespace cuemu {
Current cur;
Stats counters{};
Rng& rng() {
  static Rng r;
  return r;
}

std::string where(const void* pc, bool function) {  // by addr2line, from the debug information
  Dl_info di{};
  if (!dladdr(pc, &di) || !di.dli_fname) return "?";
  char cmd[600], out[400] = "?";
  unsigned long off = (unsigned long)((const char*)pc - (const char*)di.dli_fbase);
  std::snprintf(cmd, sizeof cmd,
                function ? "addr2line -f -C -s -e '%s' %#lx 2>/dev/null | head -1"
                         : "addr2line -i -s -e '%s' %#lx 2>/dev/null | head -3 | sed 's/ (disc.*//' | tr '\\n' ' '",
                di.dli_fname, function ? off : off - 1);
  if (FILE* f = popen(cmd, "r")) {
    if (!fgets(out, sizeof out, f)) out[0] = 0;
    pclose(f);
  }
  std::string s(out);
  while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) s.pop_back();
  return s;
}

void fail(const char* fmt, ...) {
  char msg[2048];
  va_list ap;
  va_start(ap, fmt);
  std::vsnprintf(msg, sizeof msg, fmt, ap);
  va_end(ap);
  std::fprintf(stderr, "cuemu: ERROR: %s\n", msg);
  if (cur.in_kernel)
    std::fprintf(stderr, "cuemu:   in block (%u,%u,%u) thread (%u,%u,%u) of %s\n", blockIdx.x, blockIdx.y, blockIdx.z,
                 threadIdx.x, threadIdx.y, threadIdx.z, where(cur.kernel, true).c_str());
  std::fprintf(stderr, "cuemu:   schedule: CUEMU_ORDER=%d CUEMU_SEED=%llu\n", int(config().order),
               (unsigned long long)config().seed);
  std::fflush(nullptr);
  std::abort();
}

namespace {
constexpr std::size_t kStack = 64 << 10;
constexpr unsigned kMaxThreads = 1024;

struct Fiber {
  void* sp = nullptr;
  char* base = nullptr;
  unsigned tid = 0;
};
struct Collective {  // one warp-wide operation being assembled or read
  bool open = false;
  unsigned mask = 0, arrived = 0, unread = 0;
  int op = 0;
  const char* file = "";
  int line = 0;
  uint64_t val[32];
};
struct Warp {
  unsigned alive = 0;
  Collective slot[8];
  Fiber* waiting[32];
};

// State of the running block.
KernelBase* kernel;
unsigned nthreads, started, alive, exited;
std::vector<unsigned> order;
std::vector<Fiber*> pool, ready, at_barrier;  // ready: [ready_head, end)
std::size_t ready_head;
Order order_now;
std::vector<Fiber> fibers;
std::vector<Warp> warps(kMaxThreads / 32);
uint16_t warp_epochs[kMaxThreads];
Fiber* self;
void* main_sp;
int barrier_preds, barrier_result;
const char* barrier_file;
int barrier_line;
struct AsyncCopy {
  void* dst;
  const void* src;
  std::size_t n, zfill;
  unsigned batch;
  const void* pc;
};
std::deque<AsyncCopy> async[kMaxThreads];
unsigned async_open[kMaxThreads];
constexpr std::size_t kArena = 256 << 10, kZone = 128;  // undefined bytes round each array
alignas(256) char arena[kArena];
std::size_t arena_used;
std::vector<SharedArray> arrays;  // of this launch; arrays[0] is the dynamic one

void fill_order(std::vector<unsigned>& v, unsigned n) {
  v.resize(n);
  std::iota(v.begin(), v.end(), 0u);
  if (config().order == Order::reverse) std::reverse(v.begin(), v.end());
  if (config().order == Order::random)
    for (unsigned i = n; i > 1; --i) std::swap(v[i - 1], v[rng().below(i)]);
}

void set_thread(unsigned t) {
  cur.tid = t;
  threadIdx.x = t % blockDim.x;
  threadIdx.y = t / blockDim.x % blockDim.y;
  threadIdx.z = t / (blockDim.x * blockDim.y);
}

void resume(Fiber* f) {
  Fiber* from = self;
  self = f;
  cur.stack_lo = f->base;
  cur.stack_hi = f->base + kStack;
  ++counters.switches;
  cuemu_switch(&from->sp, f->sp);
}

bool none_ready() { return ready_head == ready.size(); }
Fiber* take_ready() {
  std::size_t n = ready.size() - ready_head;
  if (!n) return nullptr;
  if (order_now == Order::reverse) {
    Fiber* f = ready.back();
    ready.pop_back();
    return f;
  }
  if (order_now == Order::random) std::swap(ready[ready_head], ready[ready_head + rng().below(unsigned(n))]);
  Fiber* f = ready[ready_head++];
  if (ready_head == ready.size()) {
    ready.clear();
    ready_head = 0;
  }
  return f;
}

void release_barrier() {
  barrier_result = barrier_preds;
  barrier_preds = 0;
  ++cur.barrier_epoch;
  ready.insert(ready.end(), at_barrier.begin(), at_barrier.end());
  at_barrier.clear();
}

void complete(Warp& w, Collective& c, unsigned me) {  // all live lanes of the mask are here
  c.open = false;
  c.unread = c.arrived;
  for (unsigned l = 0; l < 32; ++l)
    if ((c.arrived >> l & 1) && l != me) ready.push_back(w.waiting[l]);
}

[[noreturn]] void deadlock() {
  std::string s = "deadlock: ";
  if (!at_barrier.empty())
    s += std::to_string(at_barrier.size()) + " of " + std::to_string(alive) + " threads wait at __syncthreads (" +
         barrier_file + ":" + std::to_string(barrier_line) + "); ";
  for (unsigned w = 0; w < (nthreads + 31) / 32; ++w)
    for (auto& c : warps[w].slot)
      if (c.open) {
        char b[256];
        std::snprintf(b, sizeof b, "warp %u waits at %s:%d with mask %08x, arrived %08x; ", w, c.file, c.line, c.mask,
                      c.arrived);
        s += b;
      }
  fail("%s", s.c_str());
}

void fiber_main();
Fiber* fresh() {  // a fiber that will take the next thread that has not started
  Fiber* f = pool.back();
  pool.pop_back();
  // Colour the stacks, or all their tops would share one cache set.
  uint64_t* top = reinterpret_cast<uint64_t*>(f->base + kStack - 64 - (f - fibers.data()) % 61 * 128);
  top = reinterpret_cast<uint64_t*>(uint64_t(top) & ~63ull);
  *--top = 0;  // so that rsp is 8 mod 16 on entry
  *--top = uint64_t(&fiber_main);
  for (int i = 0; i < 6; ++i) *--top = 0;
  f->sp = top;
  return f;
}

void block_and_switch() {  // the running thread waits; go on with another one
  unsigned me = self->tid;
  Fiber* next = nullptr;
  bool can_start = started < nthreads;
  if (can_start && (none_ready() || (order_now == Order::random && rng().next() & 1)))
    next = fresh();
  else
    next = take_ready();
  if (!next) deadlock();
  Fiber* mine = self;
  resume(next);
  self = mine;
  set_thread(me);
}

void fiber_main() {
  for (;;) {
    while (started < nthreads) {
      // In random order let resumed threads overtake ones that have not started yet.
      if (!none_ready() && order_now == Order::random && (rng().next() & 1)) break;
      unsigned t = order[started++];
      self->tid = t;
      set_thread(t);
      kernel->run_thread();
      if (!async[t].empty()) {
        async[t].clear();
        fail("thread %u returned with asynchronous copies that it never waited for", t);
      }
      async_open[t] = 0;
      --alive;
      ++exited;
      Warp& w = warps[t / 32];
      w.alive &= ~(1u << t % 32);
      for (auto& c : w.slot)
        if (c.open && !(c.mask & w.alive & ~c.arrived)) complete(w, c, 32);
      if (!at_barrier.empty()) {
        if (config().strict_exit)
          fail("thread %u returned while %zu threads wait at __syncthreads (%s:%d)", t, at_barrier.size(), barrier_file,
               barrier_line);
        if (at_barrier.size() == alive) release_barrier();
      }
    }
    Fiber* next = take_ready();
    if (!next && started < nthreads) continue;
    if (!next && alive) deadlock();
    pool.push_back(self);
    if (!next) {
      cuemu_switch(&self->sp, main_sp);
    } else
      resume(next);
    // A pooled fiber is always re-made by fresh(), so it never comes back here.
  }
}

void run_block() {
  started = exited = 0;
  alive = nthreads;
  ready.clear();
  ready_head = 0;
  if (cur.overlapped) cur.dependency_synced.assign(nthreads, false);
  cur.barrier_epoch = 0;
  ++cur.block_serial;
  for (unsigned w = 0; w < (nthreads + 31) / 32; ++w) {
    unsigned n = std::min(32u, nthreads - w * 32);
    warps[w].alive = n == 32 ? ~0u : (1u << n) - 1;
    for (auto& c : warps[w].slot) c.open = false, c.unread = 0;
  }
  std::memset(warp_epochs, 0, sizeof(uint16_t) * nthreads);
  std::memset(arena, 0xff, arena_used);  // NaN, -1: shared memory starts undefined
  fill_order(order, nthreads);
  self = fresh();
  cur.stack_lo = self->base;
  cur.stack_hi = self->base + kStack;
  cuemu_switch(&main_sp, self->sp);
  for (auto& a : arrays)
    for (char* p = a.lo + a.n; p < a.lo + (a.n + 31) / 32 * 32 + kZone; ++p)
      if (*p != char(0xff))
        fail("shared array %s written %zu bytes past its end (%zu bytes) by block %u", a.name,
             std::size_t(p - a.lo - a.n), a.n, cur.block);
}
}  // namespace

void barrier(int pred, int* out, const char* file, int line) {
  if (exited && config().strict_exit)
    fail("%s:%d: __syncthreads after %u threads of the block have returned", file, line, exited);
  if (!at_barrier.empty() && (line != barrier_line || (file != barrier_file && std::strcmp(file, barrier_file))))
    fail("threads of one block meet at different barriers: %s:%d and %s:%d", file, line, barrier_file, barrier_line);
  barrier_file = file;
  barrier_line = line;
  barrier_preds += pred;
  if (at_barrier.size() + 1 == alive)
    release_barrier();
  else {
    at_barrier.push_back(self);
    block_and_switch();
  }
  if (out) *out = barrier_result;
}

static const Collective& warp_exchange(unsigned mask, uint64_t bits, int op, const char* file, int line) {
  unsigned me = cur.tid % 32, t = cur.tid;
  Warp& w = warps[t / 32];
  if (!(mask >> me & 1))
    fail("%s:%d: lane %u calls a warp operation whose mask %08x leaves it out", file, line, me, mask);
  Collective* c = nullptr;
  for (auto& s : w.slot)
    if (s.open && s.mask == mask && !(s.arrived >> me & 1)) {
      c = &s;
      break;
    }
  if (c && (c->op != op || c->line != line))
    fail("lanes of one warp meet at different operations: %s:%d and %s:%d", file, line, c->file, c->line);
  if (!c) {
    for (auto& s : w.slot)
      if (!s.open && !s.unread) {
        c = &s;
        break;
      }
    if (!c) fail("%s:%d: too many unfinished warp operations", file, line);
    c->open = true;
    c->mask = mask;
    c->arrived = 0;
    c->op = op;
    c->file = file;
    c->line = line;
    std::memset(c->val, 0xff, sizeof c->val);
  }
  c->arrived |= 1u << me;
  c->val[me] = bits;
  if (!(mask & w.alive & ~c->arrived))
    complete(w, *c, me);
  else {
    w.waiting[me] = self;
    block_and_switch();
  }
  if (op == kSync) ++warp_epochs[t];
  c->unread &= ~(1u << me);  // val stays: the slot is reused only by a later collective
  return *c;
}
void warp_sync(unsigned mask, const char* file, int line) { warp_exchange(mask, 0, kSync, file, line); }
uint64_t warp_shuffle(unsigned mask, uint64_t bits, unsigned src, const char* file, int line) {
  const Collective& c = warp_exchange(mask, bits, kShfl, file, line);
  if (!(c.arrived >> src & 1))
    fail("%s:%d: shuffle reads lane %u, which is not in the mask or has exited", file, line, src);
  return c.val[src];
}
void warp_gather(unsigned mask, uint64_t bits, WarpValues& out, const char* file, int line) {
  const Collective& c = warp_exchange(mask, bits, kGather, file, line);
  std::memcpy(out.val, c.val, sizeof out.val);
  out.valid = c.arrived;
}

void mma(const float* a, const float* b, const float* c, float* d, int m, int n, int k, const char* file, int line) {
  WarpValues pa, pb;
  warp_gather(~0u, uint64_t(a), pa, file, line);
  warp_gather(~0u, uint64_t(b), pb, file, line);
  const int na = m * k / 32, nb = k * n / 32, nd = m * n / 32, l = int(cur.tid % 32);
  float r[32];
  for (int i = 0; i < nd; ++i) {
    int e = l * nd + i, row = e / n, col = e % n;
    float s = c[i];
    for (int q = 0; q < k; ++q) {
      int ea = row * k + q, eb = q * n + col;
      s += reinterpret_cast<const float*>(pa.val[ea / na])[ea % na] *
           reinterpret_cast<const float*>(pb.val[eb / nb])[eb % nb];
    }
    r[i] = s;
  }
  std::memcpy(d, r, sizeof(float) * nd);
  warp_gather(~0u, 0, pa, file, line);  // until all have read, nobody's operands may change
}

unsigned lane() { return cur.tid % 32; }
unsigned active_lanes() { return 1u << cur.tid % 32; }  // legal, and shows wrong reliance on it
const std::vector<SharedArray>& shared_arrays() { return arrays; }
bool in_shared(const void* p) { return p >= arena && p < arena + kArena; }
char* shared_base() { return arena; }
static void* add_array(const void* key, std::size_t n, const char* name) {
  arrays.push_back({key, arena + arena_used, n, name});
  arena_used += (n + 31) / 32 * 32 + kZone;
  if (arena_used > kArena) fail("too much shared memory");
  std::memset(arrays.back().lo, 0xff, (n + 31) / 32 * 32 + kZone);
  return arrays.back().lo;
}
void* dynamic_shared() { return arrays[0].lo; }
void* static_shared(const void* key, std::size_t n, const char* name) {
  for (auto& a : arrays)
    if (a.key == key) return a.lo;
  std::size_t sum = n;
  for (auto& a : arrays)
    if (a.key) sum += a.n;
  if (sum > 48 << 10) fail("static shared memory of %zu bytes: more than 48 KiB must be dynamic", sum);
  return add_array(key, n, name);
}
// cp.async: per thread, the copies of the open batch and of the committed ones.
void async_copy(void* d, const void* s, std::size_t n, std::size_t zfill, const char* file, int line) {
  if ((n != 4 && n != 8 && n != 16) || zfill > n || uint64_t(d) % n || uint64_t(s) % n)
    fail("%s:%d: asynchronous copies are of 4, 8 or 16 aligned bytes", file, line);
  async[cur.tid].push_back({d, s, n, zfill, async_open[cur.tid], __builtin_return_address(0)});
}
void async_commit() { ++async_open[cur.tid]; }
void async_wait(unsigned prior) {
  auto& q = async[cur.tid];
  while (!q.empty() && q.front().batch + prior < async_open[cur.tid]) {
    auto c = q.front();
    q.pop_front();
    if (check_on_copy) {
      check_on_copy(c.src, c.n - c.zfill, false, c.pc);
      check_on_copy(c.dst, c.n, true, c.pc);
    }
    std::memcpy(c.dst, c.src, c.n - c.zfill);
    std::memset(static_cast<char*>(c.dst) + c.n - c.zfill, 0, c.zfill);
  }
}
void dependency_sync() {
  if (cur.overlapped) cur.dependency_synced[cur.tid] = true;
}
void fence() {
  if (check_on_fence) check_on_fence();
}
void atomic_access(const void* p, std::size_t n) {
  if (check_on_atomic) check_on_atomic(p, n);
}
bool check_mode() { return check_on_atomic != nullptr; }

void run_grid(KernelBase& k, dim3 grid, dim3 block, std::size_t smem_n, bool overlapped) {
  if (fibers.empty()) {
    fibers.resize(kMaxThreads + 1);
    for (auto& f : fibers) {  // each with a guard page below
      char* p = static_cast<char*>(
          mmap(nullptr, kStack + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
      mprotect(p, 4096, PROT_NONE);
      f.base = p + 4096;
      pool.push_back(&f);
    }
    std::reverse(pool.begin(), pool.end());
  }
  order_now = config().order;
  kernel = &k;
  gridDim = grid;
  blockDim = block;
  nthreads = block.x * block.y * block.z;
  arrays.clear();
  arena_used = 0;
  add_array(nullptr, smem_n, "(dynamic)");
  cur.overlapped = overlapped;
  cur.args_lo = reinterpret_cast<char*>(&k);
  cur.args_hi = cur.args_lo + k.bytes;
  cur.kernel = k.entry;
  cur.warp_epochs = warp_epochs;
  ++cur.launch;
  unsigned nblocks = grid.x * grid.y * grid.z;
  std::vector<unsigned> border;
  fill_order(border, nblocks);
  ++counters.launches;
  counters.blocks += nblocks;
  counters.threads += uint64_t(nblocks) * nthreads;
  for (unsigned i = 0; i < nblocks; ++i) {
    unsigned b = border[i];
    cur.block = b;
    blockIdx = {b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y)};
    cur.in_kernel = true;
    run_block();
    cur.in_kernel = false;
  }
}
}  // namespace cuemu
