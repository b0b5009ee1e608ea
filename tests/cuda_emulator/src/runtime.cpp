// Streams, events, graphs and the rest of the runtime API.
// Work is queued and runs at a synchronisation, streams interleaved at random: a missing
// synchronisation or event wait then shows as wrong data instead of passing by luck.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>

#include "internal.h"

namespace cuemu {
cudaError_t heap_alloc(void**, std::size_t);
cudaError_t heap_free(void*);
void pin(void*, std::size_t);
bool unpin(void*);

struct Work {
  std::function<void()> fn;
  Event* wait = nullptr;
  uint64_t wait_seq = 0;  // runnable once the event has got there
};
struct Node {
  std::function<void()> fn;
  std::vector<unsigned> deps;
};
struct Graph {
  std::vector<Node> nodes;
  bool bad = false;
  cudaStreamCaptureMode mode;
  Stream* origin = nullptr;
};
struct GraphExec {
  std::vector<Node> nodes;
};
struct Stream {
  std::deque<Work> q;
  Graph* cap = nullptr;
  std::vector<unsigned> cap_last;
  bool busy = false;
};
struct Event {
  uint64_t recorded = 0, done = 0;
  std::chrono::steady_clock::time_point at{};
  Graph* cap = nullptr;
  std::vector<unsigned> cap_nodes;
};

namespace {
Stream& null_stream() {
  static Stream s;
  return s;
}
std::list<Stream*>& streams() {
  static std::list<Stream*> l{&null_stream()};
  return l;
}
std::list<Graph*> capturing;
cudaError_t last_error = cudaSuccess;
cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
cudaError_t err(cudaError_t e) {
  if (e) last_error = e;
  return e;
}

bool runnable(Stream* s) {
  return !s->q.empty() && !(s->q.front().wait && s->q.front().wait->done < s->q.front().wait_seq);
}

bool step() {  // run one operation of one stream
  std::vector<Stream*> r;
  for (auto* s : streams())
    if (runnable(s)) r.push_back(s);
  if (r.empty()) return false;
  auto o = config().order;
  Stream* s = o == Order::forward ? r.front() : o == Order::reverse ? r.back() : r[rng().below(unsigned(r.size()))];
  Work op = std::move(s->q.front());
  s->q.pop_front();
  op.fn();
  return true;
}
template <class Pred>
void run_until(Pred done) {
  while (!done())
    if (!step()) fail("streams are stuck: an event is waited for that nothing will record");
}
bool all_idle() {
  for (auto* s : streams())
    if (!s->q.empty()) return false;
  return true;
}

Stream* get(cudaStream_t s) { return s ? s : &null_stream(); }
cudaError_t capture_breaks() {  // a call that is illegal while some stream captures
  bool any = false;
  for (auto* g : capturing)
    if (g->mode != cudaStreamCaptureModeRelaxed && thread_mode != cudaStreamCaptureModeRelaxed) {
      g->bad = true;
      any = true;
    }
  return any ? err(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
void add_node(Stream* s, std::function<void()> fn) {
  s->cap->nodes.push_back({std::move(fn), s->cap_last});
  s->cap_last = {unsigned(s->cap->nodes.size() - 1)};
}
void push(Stream* s, Work op) {
  s->q.push_back(std::move(op));
  if (!config().deferred) {
    run_until(all_idle);
    return;
  }
  if (s == &null_stream()) {
    run_until(all_idle);
    return;
  }                                                                    // legacy default stream: serialises everything
  if (config().order == Order::random && rng().below(8) == 0) step();  // the device makes progress now and then
}
}  // namespace

Config& config() {
  static Config c = [] {
    Config k;
    if (const char* e = std::getenv("CUEMU_SEED")) k.seed = std::strtoull(e, nullptr, 10);
    if (const char* e = std::getenv("CUEMU_ORDER"))
      k.order = *e == 'f' ? Order::forward : *e == 'r' && e[1] == 'e' ? Order::reverse : Order::random;
    if (std::getenv("CUEMU_EAGER")) k.deferred = false;
    if (const char* e = std::getenv("CUEMU_SMS")) k.sm_count = std::max(1, std::atoi(e));
    rng().seed(k.seed);
    return k;
  }();
  return c;
}

void enqueue(cudaStream_t st, std::function<void()> fn, const char*) {
  Stream* s = get(st);
  if (s->cap)
    add_node(s, std::move(fn));
  else if (!st && !capturing.empty()) {
    for (auto* g : capturing) g->bad = true;
  } else
    push(s, Work{std::move(fn)});
}

void annotate_segment(const void* p, std::size_t n) {
  if (check_set_usable) check_set_usable(real(p), n, false);
}
void annotate_alloc(const void* p, std::size_t n, cudaStream_t s) {
  if (check_set_usable)
    enqueue(
        s, [=] { check_set_usable(real(p), n, true); }, "alloc");
}
void annotate_free(const void* p, std::size_t n, cudaStream_t s) {
  if (check_set_usable)
    enqueue(
        s, [=] { check_set_usable(real(p), n, false); }, "free");
}

cudaError_t enqueue_kernel(const cudaLaunchConfig_t* c, std::shared_ptr<KernelBase> k) {
  dim3 g = c->gridDim, b = c->blockDim;
  std::size_t sm = c->dynamicSmemBytes;
  bool overlapped = false;
  for (unsigned i = 0; i < c->numAttrs; ++i)
    if (c->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
      overlapped = c->attrs[i].val.programmaticStreamSerializationAllowed != 0;
  std::size_t nt = std::size_t(b.x) * b.y * b.z;
  if (!nt || nt > 1024 || b.z > 64 || !g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535 ||
      sm > 227 * 1024)
    return err(cudaErrorInvalidConfiguration);
  if (!c->stream && !capturing.empty()) {
    for (auto* q : capturing) q->bad = true;
    return err(cudaErrorStreamCaptureUnsupported);
  }
  enqueue(
      c->stream, [=] { run_grid(*k, g, b, sm, overlapped); }, "kernel");
  return cudaSuccess;
}
}  // namespace cuemu

using namespace cuemu;

const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined:
      return "cudaErrorStreamCaptureUnjoined";
    default:
      return "cudaError (other)";
  }
}
const char* cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }
cudaError_t cudaGetLastError() {
  auto e = last_error;
  last_error = cudaSuccess;
  return e;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetDeviceCount(int* n) {
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* d) {
  *d = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int d) { return d ? err(cudaErrorInvalidDevice) : cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  *p = {};
  std::snprintf(p->name, sizeof p->name, "cuemu (no GPU)");
  p->totalGlobalMem = config().device_bytes;
  p->sharedMemPerBlock = 48 << 10;
  p->sharedMemPerBlockOptin = 227 << 10;
  p->multiProcessorCount = config().sm_count;
  p->major = 9;
  p->maxThreadsPerBlock = 1024;
  p->warpSize = 32;
  p->l2CacheSize = 60 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int) {
  *v = a == cudaDevAttrMultiProcessorCount            ? config().sm_count
       : a == cudaDevAttrComputeCapabilityMajor       ? 9
       : a == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 227 << 10
                                                      : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  if (auto e = capture_breaks()) return e;
  run_until(all_idle);
  check_guards();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** p, std::size_t n) {
  if (auto e = capture_breaks()) return e;
  return err(heap_alloc(p, n));
}
cudaError_t cudaFree(void* p) {
  if (auto e = capture_breaks()) return e;
  run_until(all_idle);  // the real one synchronises too
  return err(heap_free(p));
}
cudaError_t cudaMallocAsync(void** p, std::size_t n, cudaStream_t s) {
  if (get(s)->cap) fail("cudaMallocAsync during capture: not modelled (allocate from the allocator's private pool)");
  return err(heap_alloc(p, n));
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t s) {
  enqueue(
      s, [p] { heap_free(p); }, "cudaFreeAsync");
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** p, std::size_t n) {
  *p = std::aligned_alloc(4096, (n + 4095) / 4096 * 4096);
  pin(*p, n);
  std::memset(*p, 0xff, n);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, std::size_t n, unsigned) { return cudaMallocHost(p, n); }
cudaError_t cudaFreeHost(void* p) {
  run_until(all_idle);
  if (p && !unpin(p)) return err(cudaErrorInvalidValue);
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* f, std::size_t* t) {
  *t = config().device_bytes;
  *f = *t - stats().bytes_in_use;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  *a = {};
  a->type = in_heap(p) ? cudaMemoryTypeDevice : is_pinned(p, 1) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  if (in_heap(p))
    a->devicePointer = const_cast<void*>(p);
  else
    a->hostPointer = const_cast<void*>(p);
  return cudaSuccess;
}

static void check_side(const void* p, std::size_t n, bool device, const char* what) {
  if (device && !device_range_ok(p, n))
    fail("%s: [%p, +%zu) is not inside one device allocation: %s", what, p, n, describe(p).c_str());
  if (!device && in_heap(p)) fail("%s: %p is a device pointer where a host pointer belongs", what, p);
}
static void do_copy(void* d, const void* s, std::size_t n) {
  if (in_heap(s) && check_on_read) check_on_read(real(s), n, "memcpy");
  std::memmove(real(d), real(s), n);
  if (in_heap(d) && check_on_written) check_on_written(real(d), n);
}
static cudaMemcpyKind resolve(void* d, const void* s, cudaMemcpyKind k) {
  if (k != cudaMemcpyDefault) return k;
  return in_heap(d)   ? (in_heap(s) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
         : in_heap(s) ? cudaMemcpyDeviceToHost
                      : cudaMemcpyHostToHost;
}
cudaError_t cudaMemcpyAsync(void* d, const void* s, std::size_t n, cudaMemcpyKind k, cudaStream_t st) {
  if (!n) return cudaSuccess;
  k = resolve(d, s, k);
  check_side(d, n, k == cudaMemcpyHostToDevice || k == cudaMemcpyDeviceToDevice, "cudaMemcpyAsync destination");
  check_side(s, n, k == cudaMemcpyDeviceToHost || k == cudaMemcpyDeviceToDevice, "cudaMemcpyAsync source");
  if (k == cudaMemcpyHostToDevice && !is_pinned(s, n)) {  // pageable: staged before the call returns
    auto stage = std::make_shared<std::vector<char>>(static_cast<const char*>(s), static_cast<const char*>(s) + n);
    enqueue(
        st, [=] { do_copy(d, stage->data(), n); }, "memcpy");
    return cudaSuccess;
  }
  if (k == cudaMemcpyDeviceToHost && !get(st)->cap) std::memset(d, 0xff, n);  // undefined until it has run
  enqueue(
      st, [=] { do_copy(d, s, n); }, "memcpy");
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* d, const void* s, std::size_t n, cudaMemcpyKind k) {
  if (auto e = capture_breaks()) return e;
  auto e = cudaMemcpyAsync(d, s, n, k, nullptr);
  run_until(all_idle);
  return e;
}
cudaError_t cudaMemsetAsync(void* d, int v, std::size_t n, cudaStream_t st) {
  if (!n) return cudaSuccess;
  check_side(d, n, true, "cudaMemsetAsync");
  enqueue(
      st,
      [=] {
        std::memset(real(d), v, n);
        if (check_on_written) check_on_written(real(d), n);
      },
      "memset");
  return cudaSuccess;
}
cudaError_t cudaMemset(void* d, int v, std::size_t n) { return cudaMemsetAsync(d, v, n, nullptr); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) {
  *s = new Stream;
  streams().push_back(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* s) { return cudaStreamCreateWithFlags(s, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  run_until([=] { return s->q.empty(); });
  streams().remove(s);
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t st) {
  Stream* s = get(st);
  if (auto e = capture_breaks()) return e;
  if (st)
    run_until([=] { return s->q.empty(); });
  else
    run_until(all_idle);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t st) {
  if (get(st)->cap) {
    get(st)->cap->bad = true;
    return err(cudaErrorStreamCaptureUnsupported);
  }
  step();
  return get(st)->q.empty() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void* d) {
  enqueue(
      s, [=] { f(d); }, "host function");
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  *e = new Event;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  run_until([=] { return e->done >= e->recorded; });
  for (auto* s : streams())
    for (Work& w : s->q)
      if (w.wait == e) w.wait = nullptr;  // it has got there
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t st) {
  Stream* s = get(st);
  if (s->cap) {
    e->cap = s->cap;
    e->cap_nodes = s->cap_last;
    return cudaSuccess;
  }
  e->cap = nullptr;
  uint64_t seq = ++e->recorded;
  push(s, Work{[=] {
         e->done = std::max(e->done, seq);
         e->at = std::chrono::steady_clock::now();
       }});
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t st, cudaEvent_t e, unsigned) {
  Stream* s = get(st);
  if (e->cap && std::find(capturing.begin(), capturing.end(), e->cap) != capturing.end()) {
    if (!s->cap) {
      s->cap = e->cap;
      s->cap_last = e->cap_nodes;
    }  // the fork joins the capture
    else
      s->cap_last.insert(s->cap_last.end(), e->cap_nodes.begin(), e->cap_nodes.end());
    return cudaSuccess;
  }
  if (s->cap) {
    s->cap->bad = true;
    return err(cudaErrorStreamCaptureUnsupported);
  }
  push(s, Work{[] {}, e, e->recorded});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  if (e->cap) {
    e->cap->bad = true;
    return err(cudaErrorStreamCaptureUnsupported);
  }
  run_until([=, n = e->recorded] { return e->done >= n; });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  if (e->cap) {
    e->cap->bad = true;
    return err(cudaErrorStreamCaptureUnsupported);
  }
  step();
  return e->done >= e->recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  if (a->done < a->recorded || b->done < b->recorded) return err(cudaErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(b->at - a->at).count();
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode m) {
  if (!s || s->cap) return err(cudaErrorStreamCaptureUnsupported);
  s->cap = new Graph;
  s->cap->mode = m;
  s->cap->origin = s;
  s->cap_last.clear();
  capturing.push_back(s->cap);
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* g) {
  Graph* c = s->cap;
  *g = nullptr;
  if (!c) return err(cudaErrorInvalidValue);
  capturing.remove(c);
  std::vector<bool> is_dep(c->nodes.size());  // every leaf must be reachable from the origin's end
  for (auto& n : c->nodes)
    for (unsigned d : n.deps) is_dep[d] = true;
  for (unsigned d : s->cap_last) is_dep[d] = true;
  bool joined = std::all_of(is_dep.begin(), is_dep.end(), [](bool b) { return b; });
  for (auto* t : streams())
    if (t->cap == c) {
      t->cap = nullptr;
      t->cap_last.clear();
    }
  if (c->bad) {
    delete c;
    return err(cudaErrorStreamCaptureInvalidated);
  }
  if (!joined) {
    delete c;
    return err(cudaErrorStreamCaptureUnjoined);
  }
  *g = c;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* r) {
  Graph* c = get(s)->cap;
  *r = !c ? cudaStreamCaptureStatusNone : c->bad ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* m) {
  std::swap(*m, thread_mode);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* e, cudaGraph_t g, unsigned long long) {
  *e = new GraphExec{g->nodes};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t s) {
  if (get(s)->cap) fail("cudaGraphLaunch during capture: not modelled");
  enqueue(
      s,
      [e] {  // any topological order
        std::vector<unsigned> left(e->nodes.size()), ready;
        std::vector<std::vector<unsigned>> out(e->nodes.size());
        for (unsigned i = 0; i < e->nodes.size(); ++i) {
          left[i] = unsigned(e->nodes[i].deps.size());
          for (unsigned d : e->nodes[i].deps) out[d].push_back(i);
          if (!left[i]) ready.push_back(i);
        }
        while (!ready.empty()) {
          unsigned k = config().order == Order::forward   ? 0
                       : config().order == Order::reverse ? unsigned(ready.size()) - 1
                                                          : rng().below(unsigned(ready.size()));
          unsigned i = ready[k];
          ready.erase(ready.begin() + k);
          e->nodes[i].fn();
          for (unsigned o : out[i])
            if (!--left[o]) ready.push_back(o);
        }
      },
      "graph");
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  delete g;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e) {
  run_until(all_idle);
  delete e;
  return cudaSuccess;
}
