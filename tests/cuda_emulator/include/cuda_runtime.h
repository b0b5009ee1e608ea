// cuemu: a test-only stand-in for <cuda_runtime.h>.  Put this folder FIRST on the
// include path and compile .cu files as ordinary C++20 with g++ (-x c++).
// Single-threaded and deterministic: one block at a time, a block's threads are fibers.
#pragma once
#define __CUEMU__ 1
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

// ---- keywords --------------------------------------------------------------------
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// There is no __shared__ here: g++ 12 drops attributes of static variables in templates.  Use a
// macro that declares the array with __shared__ under nvcc and calls static_shared() here.
#define CUEMU_SITE const char *site_file = __builtin_FILE(), int site_line = __builtin_LINE()

// ---- vector types ----------------------------------------------------------------
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

// ---- the emulator's core (src/sched.cpp, src/check.cpp) ----------------------------
namespace cuemu {
struct KernelBase {  // one launch: the kernel and its arguments, by value
  virtual ~KernelBase() = default;
  virtual void run_thread() = 0;  // the body of one CUDA thread
  std::size_t bytes = 0;          // of the whole object: the checker lets kernels read it
  const void* entry = nullptr;    // the kernel function, to name it in messages
};
void barrier(int pred, int* count_out, const char* file, int line);
enum Op { kSync = 1, kShfl, kGather };
// Warp collectives.  Each lane gives its bits; shuffle returns those of lane src, gather all.
void warp_sync(unsigned mask, const char* file, int line);
uint64_t warp_shuffle(unsigned mask, uint64_t bits, unsigned src, const char* file, int line);
struct WarpValues {
  uint64_t val[32];
  unsigned valid;
};
void warp_gather(unsigned mask, uint64_t bits, WarpValues& out, const char* file, int line);
unsigned lane();
unsigned active_lanes();
void* dynamic_shared();
// The running block's copy of a static shared array; key tells arrays (and instances) apart.
void* static_shared(const void* key, std::size_t n, const char* name);
void fence();
void dependency_sync();
void atomic_access(const void* p, std::size_t n);  // marks an atomic for the checker
[[noreturn]] void fail(const char* fmt, ...);
template <class T>
uint64_t to_bits(T v) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t b = 0;
  std::memcpy(&b, &v, sizeof v);
  return b;
}
template <class T>
T from_bits(uint64_t b) {
  T v;
  std::memcpy(&v, &b, sizeof v);
  return v;
}
}  // namespace cuemu

// ---- barriers and warp intrinsics ----------------------------------------------------
inline void __syncthreads(CUEMU_SITE) { cuemu::barrier(0, nullptr, site_file, site_line); }
inline int __syncthreads_count(int p, CUEMU_SITE) {
  int c;
  cuemu::barrier(p != 0, &c, site_file, site_line);
  return c;
}
inline int __syncthreads_or(int p, CUEMU_SITE) {
  int c;
  cuemu::barrier(p != 0, &c, site_file, site_line);
  return c != 0;
}
inline int __syncthreads_and(int p, CUEMU_SITE) {
  int c;
  cuemu::barrier(p == 0, &c, site_file, site_line);
  return c == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, CUEMU_SITE) { cuemu::warp_sync(mask, site_file, site_line); }
inline void __threadfence() { cuemu::fence(); }
// Programmatic dependent launch: with that launch attribute a kernel may touch device memory
// only after this call (the checker insists).
inline void cudaGridDependencySynchronize() { cuemu::dependency_sync(); }
inline void cudaTriggerProgrammaticLaunchCompletion() {}
inline void __threadfence_block() {}
template <class T>
T __shfl_sync(unsigned m, T v, int src, int width = 32, CUEMU_SITE) {
  unsigned l = cuemu::lane(), s = (l & ~(width - 1)) | (src & (width - 1));
  return cuemu::from_bits<T>(cuemu::warp_shuffle(m, cuemu::to_bits(v), s, site_file, site_line));
}
template <class T>
T __shfl_xor_sync(unsigned m, T v, int x, int width = 32, CUEMU_SITE) {
  unsigned l = cuemu::lane(), s = l ^ x;
  if (s >= ((l & ~(width - 1)) + width)) s = l;
  return cuemu::from_bits<T>(cuemu::warp_shuffle(m, cuemu::to_bits(v), s, site_file, site_line));
}
template <class T>
T __shfl_down_sync(unsigned m, T v, unsigned d, int width = 32, CUEMU_SITE) {
  unsigned l = cuemu::lane(), s = l + d;
  if ((l & (width - 1)) + d >= unsigned(width)) s = l;
  return cuemu::from_bits<T>(cuemu::warp_shuffle(m, cuemu::to_bits(v), s, site_file, site_line));
}
template <class T>
T __shfl_up_sync(unsigned m, T v, unsigned d, int width = 32, CUEMU_SITE) {
  unsigned l = cuemu::lane(), s = (l & (width - 1)) < d ? l : l - d;
  return cuemu::from_bits<T>(cuemu::warp_shuffle(m, cuemu::to_bits(v), s, site_file, site_line));
}
inline unsigned __ballot_sync(unsigned m, int p, CUEMU_SITE) {
  cuemu::WarpValues w;
  cuemu::warp_gather(m, p != 0, w, site_file, site_line);
  unsigned r = 0;
  for (int i = 0; i < 32; ++i)
    if ((w.valid >> i & 1) && w.val[i]) r |= 1u << i;
  return r;
}
inline int __any_sync(unsigned m, int p, CUEMU_SITE) { return __ballot_sync(m, p, site_file, site_line) != 0; }
inline int __all_sync(unsigned m, int p, CUEMU_SITE) { return __ballot_sync(m, !p, site_file, site_line) == 0; }
inline unsigned __activemask() { return cuemu::active_lanes(); }
template <class T>
unsigned __match_any_sync(unsigned m, T v, CUEMU_SITE) {
  cuemu::WarpValues w;
  cuemu::warp_gather(m, cuemu::to_bits(v), w, site_file, site_line);
  unsigned r = 0;
  for (int i = 0; i < 32; ++i)
    if ((w.valid >> i & 1) && w.val[i] == cuemu::to_bits(v)) r |= 1u << i;
  return r;
}
template <class T>
T __reduce_add_sync(unsigned m, T v, CUEMU_SITE) {
  cuemu::WarpValues w;
  cuemu::warp_gather(m, cuemu::to_bits(v), w, site_file, site_line);
  T r = 0;
  for (int i = 0; i < 32; ++i)
    if (w.valid >> i & 1) r += cuemu::from_bits<T>(w.val[i]);
  return r;
}

// ---- atomics (one OS thread: plain operations, but known to the race checker) ---------
#define CUEMU_NOCHECK __attribute__((no_sanitize("thread"), noinline))
namespace cuemu {
template <class T, class F>
CUEMU_NOCHECK T rmw(T* p, F f) {
  atomic_access(p, sizeof(T));
  T old = *p;
  *p = f(old);
  return old;
}
}  // namespace cuemu
template <class T>
T atomicAdd(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return T(o + v); });
}
template <class T>
T atomicSub(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return T(o - v); });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return o < v ? v : o; });
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return v < o ? v : o; });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T) { return v; });
}
template <class T>
T atomicOr(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return T(o | v); });
}
template <class T>
T atomicAnd(T* p, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return T(o & v); });
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> c, std::type_identity_t<T> v) {
  return cuemu::rmw(p, [=](T o) { return o == c ? v : o; });
}
inline unsigned atomicInc(unsigned* p, unsigned lim) {
  return cuemu::rmw(p, [=](unsigned o) { return o >= lim ? 0u : o + 1; });
}

// ---- device math -------------------------------------------------------------------
using std::isfinite;
using std::isinf;
using std::isnan;
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __saturatef(float x) { return x < 0 ? 0.f : x > 1 ? 1.f : x; }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __float_as_int(float x) { return cuemu::from_bits<int>(cuemu::to_bits(x)); }
inline float __int_as_float(int x) { return cuemu::from_bits<float>(cuemu::to_bits(x)); }
inline unsigned __float_as_uint(float x) { return cuemu::from_bits<unsigned>(cuemu::to_bits(x)); }
inline float __uint_as_float(unsigned x) { return cuemu::from_bits<float>(cuemu::to_bits(x)); }
template <class T>
T __ldg(const T* p) {
  return *p;
}

// ---- host API: types -----------------------------------------------------------------
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorUnknown = 999,
};
using cudaError = cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0 };
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76
};
enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttributeValue {
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
namespace cuemu {
struct Stream;
struct Event;
struct Graph;
struct GraphExec;
}  // namespace cuemu
using cudaStream_t = cuemu::Stream*;
using cudaEvent_t = cuemu::Event*;
using cudaGraph_t = cuemu::Graph*;
using cudaGraphExec_t = cuemu::GraphExec*;
using cudaHostFn_t = void (*)(void*);
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
  int multiProcessorCount, major, minor, maxThreadsPerBlock, warpSize, l2CacheSize;
};

// ---- host API: functions (src/runtime.cpp) ---------------------------------------------
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMallocAsync(void**, std::size_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMallocHost(void**, std::size_t);
cudaError_t cudaHostAlloc(void**, std::size_t, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total);
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemset(void*, int, std::size_t);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t = nullptr);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus*);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
template <class T>
cudaError_t cudaMalloc(T** p, std::size_t n) {
  return cudaMalloc(reinterpret_cast<void**>(p), n);
}
template <class T>
cudaError_t cudaMallocHost(T** p, std::size_t n) {
  return cudaMallocHost(reinterpret_cast<void**>(p), n);
}
template <class T>
cudaError_t cudaFuncSetAttribute(T*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

namespace cuemu {
// At launch: pointers among the arguments must be null, device memory or pinned memory;
// device handles become the addresses that the kernel may use.
void prepare_arg(void* arg, std::size_t n, bool is_pointer, int arg_no, const void* kernel);
cudaError_t enqueue_kernel(const cudaLaunchConfig_t*, std::shared_ptr<KernelBase>);
// What is left in gaps of structs could look like pointers. Where a struct has two arrays of structs with gaps, g++ 12
// clears those of the first only.
template <class T>
void clear_padding([[maybe_unused]] T& v) {
#if __has_builtin(__builtin_clear_padding)
  if constexpr (!std::is_empty_v<T>) __builtin_clear_padding(&v);  // an empty one has no byte of its own in a tuple
#endif
}
template <class... P>
struct Kernel final : KernelBase {
  void (*fn)(P...);
  std::tuple<std::decay_t<P>...> args;
  template <class... A>
  Kernel(void (*f)(P...), A&&... a) : fn(f), args(std::forward<A>(a)...) {
    bytes = sizeof *this;
    entry = reinterpret_cast<const void*>(f);
  }
  void run_thread() override { std::apply(fn, args); }
};
}  // namespace cuemu
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* cfg, void (*k)(P...), A&&... a) {
  static_assert((std::is_trivially_copyable_v<std::decay_t<P>> && ...), "kernel arguments are copied as bytes");
  auto kn = std::make_shared<cuemu::Kernel<P...>>(k, std::forward<A>(a)...);
  int i = 0;
  std::apply(
      [&](auto&... v) {
        (cuemu::clear_padding(v), ...);
        (cuemu::prepare_arg(&v, sizeof v, std::is_pointer_v<std::remove_reference_t<decltype(v)>>, i++, kn->entry),
         ...);
      },
      kn->args);
  return cuemu::enqueue_kernel(cfg, std::move(kn));
}
