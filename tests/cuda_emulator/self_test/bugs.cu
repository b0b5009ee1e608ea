// Planted bugs.  Each runs in a child process; it is caught if the emulator aborts with a
// message or the result is wrong.  Run under several schedules, in both build modes.
#include <cuda_pipeline_primitives.h>
#include <cuemu.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "launch.cuh"
using namespace self_test;
using Vec = std::vector<float>;
namespace {
__global__ void transpose_no_barrier(const float* x, float* y, int n) {
  TAPER_SHARED(float, tile, [32][33]);
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * n + threadIdx.x];
  // BUG: no __syncthreads()
  y[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void scan_no_second_barrier(const float* x, float* y) {  // y[i] = x[0] + .. + x[i], 128 threads
  TAPER_SHARED(float, s, [128]);
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned d = 1; d < 128; d *= 2) {
    float v = threadIdx.x >= d ? s[threadIdx.x - d] : 0.0f;
    // BUG: others may still read s[threadIdx.x]
    s[threadIdx.x] += v;
    __syncthreads();
  }
  y[threadIdx.x] = s[threadIdx.x];
}
__global__ void fill(float* y, unsigned n, float v) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = v;
}  // BUG: <=
__global__ void fill_far(float* y, unsigned n, float v) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) y[n + (8u << 20)] = v;
}
__global__ void good_fill(float* y, unsigned n, float v) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = v;
}
__global__ void copy(const float* x, float* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void count(float* total) { *total += 1.0f; }  // BUG: not atomic
__global__ void uninit_shared(float* y) {
  TAPER_SHARED(float, s, [64]);
  if (threadIdx.x < 63) s[threadIdx.x] = 1.0f;  // BUG: s[63] is never written
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
struct Args {
  const float* x;
  int n;
};
__global__ void from_struct(Args a, float* y) {
  if (threadIdx.x < unsigned(a.n)) y[threadIdx.x] = a.x[threadIdx.x];
}
__global__ void divergent(const float* x, float* y) {
  if (threadIdx.x >= 40) return;  // BUG: returns before the barrier
  y[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
}
__global__ void two_barriers(float* y) {
  if (threadIdx.x % 2)
    __syncthreads();  // BUG: different barriers
  else
    __syncthreads();
  y[threadIdx.x] = 1;
}
__global__ void partial_shuffle(const float* x, float* y) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) v += __shfl_down_sync(0xffffffffu, v, 16);  // BUG: half the mask is absent
  y[threadIdx.x] = v;
}
__global__ void no_syncwarp(const float* x, float* y) {
  TAPER_SHARED(float, s, [32]);
  s[threadIdx.x] = x[threadIdx.x];
  // BUG: no __syncwarp()
  y[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void dynamic_user(float* y, int n) {
  TAPER_DYNAMIC_SHARED(float, s);
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = float(i);
  __syncthreads();
  if (threadIdx.x == 0) y[0] = s[n - 1];
}
__global__ void no_fence(float* parts, unsigned* done, float* out) {
  TAPER_SHARED(bool, last, [1]);
  parts[blockIdx.x] = 1.0f;
  last[0] = atomicAdd(done, 1u) == gridDim.x - 1;  // BUG: no __threadfence() before it
  if (last[0]) {
    float s = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) s += parts[i];
    *out = s;
  }
}

__global__ void misaligned(const float* x, float* y) {
  if (threadIdx.x == 0) *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(x + 1);
}  // BUG: x + 1
__global__ void shared_index(float* y) {
  TAPER_SHARED(float, a, [2][32]);
  TAPER_SHARED(float, b, [32]);
  b[threadIdx.x] = 2.0f;
  __syncthreads();
  a[threadIdx.x / 16 + 1][threadIdx.x % 16] = 1.0f;  // BUG: the first index reaches 2
  __syncthreads();
  y[threadIdx.x] = b[threadIdx.x];
}

template <bool Wait>
__global__ void async_copy(const float* x, float* y) {
  TAPER_SHARED(float, s, [128]);
  __pipeline_memcpy_async(s + threadIdx.x * 4, x + threadIdx.x * 4, 16);
  __pipeline_commit();
  if (Wait) __pipeline_wait_prior(0);  // BUG without it
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[threadIdx.x * 4 + k] = s[127 - threadIdx.x * 4 - k];
  if (!Wait) __pipeline_wait_prior(0);
}
__global__ void early(const float* x, float* y) {
  float v = x[threadIdx.x];
  cudaGridDependencySynchronize();
  y[threadIdx.x] = v;
}  // BUG: read before the sync

bool same(const Vec& a, const Vec& b) {
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!(std::fabs(a[i] - b[i]) < 1e-3f)) return false;
  return true;
}
Buffer<float> up(const Vec& v) {
  Buffer<float> b(v.size());
  b.upload(v.data());
  return b;
}
Vec down(const Buffer<float>& b) {
  Vec v(b.size());
  b.download(v.data());
  return v;
}
Vec ramp(int n) {
  Vec v(n);
  for (int i = 0; i < n; ++i) v[i] = float(i % 17) + 0.5f;
  return v;
}

struct Bug {
  const char* name;
  std::function<bool()> run;
};  // false: the result was wrong
std::vector<Bug> bugs{
    {"missing __syncthreads",
     [] {
       auto x = ramp(1024);
       auto d = up(x);
       Buffer<float> y(1024);
       launch(1, dim3(32, 32), 0, transpose_no_barrier, d.get(), y.get(), 32);
       Vec r(1024);
       for (int i = 0; i < 1024; ++i) r[i] = x[i % 32 * 32 + i / 32];
       return same(down(y), r);
     }},
    {"missing second barrier",
     [] {
       auto x = ramp(128);
       auto d = up(x);
       Buffer<float> y(128);
       launch(1, 128, 0, scan_no_second_barrier, d.get(), y.get());
       for (int i = 1; i < 128; ++i) x[i] += x[i - 1];
       return same(down(y), x);
     }},
    {"out-of-bounds write by one",
     [] {
       float* p;
       cudaMalloc(&p, 1000 * 4);
       launch(4, 256, 0, fill, p, 1000u, 1.0f);
       cudaDeviceSynchronize();
       return true;
     }},
    {"the same, cached sub-block",
     [] {
       Buffer<float> a(1024), b(1024);
       launch(5, 256, 0, fill, a.get(), 1024u, 1.0f);
       device().sync();
       return true;
     }},
    {"out-of-bounds write far away",
     [] {
       float* p;
       cudaMalloc(&p, 1000 * 4);
       launch(1, 32, 0, fill_far, p, 1000u, 1.0f);
       cudaDeviceSynchronize();
       return true;
     }},
    {"host reads device memory",
     [] {
       Buffer<float> a(10);
       a.zero();
       device().sync();
       return a.get()[3] == 0.0f;
     }},
    {"kernel reads host memory",
     [] {
       static float h[32];
       Buffer<float> y(32);
       launch(1, 32, 0, copy, static_cast<const float*>(h), y.get(), 32u);
       device().sync();
       return true;
     }},
    {"the same, in a struct",
     [] {
       Vec h(32);
       Buffer<float> y(32);
       launch(1, 32, 0, from_struct, Args{h.data(), 32}, y.get());
       device().sync();
       return true;
     }},
    {"wrong leading dimension",
     [] {  // row-major [12,5] x [5,7] with 12 for the 7 that is right
       Vec a = ramp(60), b = ramp(35), r(84);
       auto da = up(a), db = up(b);
       Buffer<float> c(84);
       float one = 1, zero = 0;
       for (int i = 0; i < 12; ++i)
         for (int j = 0; j < 7; ++j)
           for (int k = 0; k < 5; ++k) r[i * 7 + j] += a[i * 5 + k] * b[k * 7 + j];
       check(cublasSgemm(device().blas, CUBLAS_OP_N, CUBLAS_OP_N, 7, 12, 5, &one, db.get(), 12, da.get(), 5, &zero,
                         c.get(), 7),
             "gemm");
       return same(down(c), r);
     }},
    {"the same, refused by cuBLAS",
     [] {
       auto a = up(ramp(60)), b = up(ramp(35));
       Buffer<float> c(84);
       float one = 1, zero = 0;
       check(cublasSgemm(device().blas, CUBLAS_OP_N, CUBLAS_OP_N, 7, 12, 5, &one, b.get(), 5, a.get(), 5, &zero,
                         c.get(), 7),
             "gemm");
       return true;
     }},
    {"leading dimension, direct alloc",
     [] {
       float *a, *b, *c, one = 1, zero = 0;
       cudaMalloc(&a, 240);
       cudaMalloc(&b, 140);
       cudaMalloc(&c, 336);
       cudaMemset(a, 0, 240);
       cudaMemset(b, 0, 140);
       check(cublasSgemm(device().blas, CUBLAS_OP_N, CUBLAS_OP_N, 7, 12, 5, &one, b, 12, a, 5, &zero, c, 7), "gemm");
       device().sync();
       return true;
     }},
    {"unwritten shared memory",
     [] {
       Buffer<float> y(64);
       launch(1, 64, 0, uninit_shared, y.get());
       return same(down(y), Vec(64, 1.0f));
     }},
    {"unwritten device memory",
     [] {
       Buffer<float> a(100), b(100);
       launch(1, 64, 0, good_fill, a.get(), 100u, 1.0f);
       launch(1, 128, 0, copy, static_cast<const float*>(a.get()), b.get(), 100u);
       return same(down(b), Vec(100, 1.0f));
     }},
    {"accumulation without atomics",
     [] {
       Buffer<float> t(1);
       t.zero();
       launch(8, 64, 0, count, t.get());
       return same(down(t), {512});
     }},
    {"return before a barrier",
     [] {
       auto x = up(ramp(64));
       Buffer<float> y(64);
       y.zero();
       launch(1, 64, 0, divergent, x.get(), y.get());
       device().sync();
       return true;
     }},
    {"two different barriers",
     [] {
       Buffer<float> y(64);
       launch(1, 64, 0, two_barriers, y.get());
       device().sync();
       return true;
     }},
    {"shuffle with absent lanes",
     [] {
       auto x = up(ramp(32));
       Buffer<float> y(32);
       launch(1, 32, 0, partial_shuffle, x.get(), y.get());
       device().sync();
       return true;
     }},
    {"missing __syncwarp",
     [] {
       auto x = ramp(32);
       auto d = up(x);
       Buffer<float> y(32);
       launch(1, 32, 0, no_syncwarp, d.get(), y.get());
       Vec r(x.rbegin(), x.rend());
       return same(down(y), r);
     }},
    {"too little dynamic shared memory",
     [] {
       Buffer<float> y(1);
       launch(1, 32, 60 * 4, dynamic_user, y.get(), 64);
       device().sync();
       return true;
     }},
    {"(no bug: asynchronous copy)",
     [] {
       auto x = ramp(128);
       auto d = up(x);
       Buffer<float> y(128);
       launch(1, 32, 0, async_copy<true>, d.get(), y.get());
       return same(down(y), Vec(x.rbegin(), x.rend()));
     }},
    {"asynchronous copy not waited for",
     [] {
       auto x = ramp(128);
       auto d = up(x);
       Buffer<float> y(128);
       launch(1, 32, 0, async_copy<false>, d.get(), y.get());
       return same(down(y), Vec(x.rbegin(), x.rend()));
     }},
    {"overlapped launch reads too early",
     [] {
       auto x = up(ramp(32));
       Buffer<float> y(32);
       cudaLaunchAttribute a{};
       a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
       a.val.programmaticStreamSerializationAllowed = 1;
       cudaLaunchConfig_t c{};
       c.gridDim = 1;
       c.blockDim = 32;
       c.stream = device().stream;
       c.attrs = &a;
       c.numAttrs = 1;
       cudaLaunchKernelEx(&c, early, static_cast<const float*>(x.get()), y.get());
       device().sync();
       return true;
     }},
    {"misaligned float4",
     [] {
       auto x = up(ramp(8));
       Buffer<float> y(8);
       launch(1, 32, 0, misaligned, x.get(), y.get());
       device().sync();
       return true;
     }},
    {"static shared array overrun",
     [] {
       Buffer<float> y(32);
       launch(1, 32, 0, shared_index, y.get());
       return same(down(y), Vec(32, 2.0f));
     }},
    {"missing __threadfence",
     [] {
       Buffer<float> p(8), o(1);
       Buffer<unsigned> d(1);
       d.zero();
       launch(8, 1, 0, no_fence, p.get(), d.get(), o.get());
       return same(down(o), {8});
     }},
    {"use after free, driver",
     [] {
       float* p;
       cudaMalloc(&p, 400);
       launch(1, 128, 0, good_fill, p, 100u, 1.0f);
       cudaFree(p);
       launch(1, 128, 0, good_fill, p, 100u, 1.0f);
       device().sync();
       return true;
     }},
    {"use after free, cached block",
     [] {
       float* p;
       {
         Buffer<float> b(100);
         p = b.get();
       }
       launch(1, 128, 0, good_fill, p, 100u, 1.0f);
       device().sync();
       return true;
     }},
    {"no event between two streams",
     [] {
       cudaStream_t s;
       cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
       Buffer<float> b(1000);
       float* h;
       cudaMallocHost(&h, 4000);
       launch(4, 256, 0, good_fill, b.get(), 1000u, 3.0f);
       cudaMemcpyAsync(h, b.get(), 4000, cudaMemcpyDeviceToHost, s);
       cudaStreamSynchronize(s);
       return same(Vec(h, h + 1000), Vec(1000, 3.0f));
     }},
    {"read before synchronising",
     [] {
       Buffer<float> b(1000);
       float* h;
       cudaMallocHost(&h, 4000);
       launch(4, 256, 0, good_fill, b.get(), 1000u, 3.0f);
       cudaMemcpyAsync(h, b.get(), 4000, cudaMemcpyDeviceToHost, device().stream);
       return same(Vec(h, h + 1000), Vec(1000, 3.0f));
     }},
    {"pinned source overwritten early",
     [] {
       Buffer<float> b(4);
       float* h;
       cudaMallocHost(&h, 16);
       for (int i = 0; i < 4; ++i) h[i] = 1;
       cudaMemcpyAsync(b.get(), h, 16, cudaMemcpyHostToDevice, device().stream);
       for (int i = 0; i < 4; ++i) h[i] = 2;
       return same(down(b), Vec(4, 1.0f));
     }},
    {"synchronisation inside capture",
     [] {
       Buffer<float> b(4);
       cudaGraph_t g;
       cudaStreamBeginCapture(device().stream, cudaStreamCaptureModeGlobal);
       b.zero();
       cudaStreamSynchronize(device().stream);
       check(cudaStreamEndCapture(device().stream, &g), "end capture");
       return true;
     }},
    {"graph replayed after free",
     [] {
       cudaGraph_t g;
       cudaGraphExec_t e;
       {
         Buffer<float> b(100);
         cudaStreamBeginCapture(device().stream, cudaStreamCaptureModeThreadLocal);
         launch(1, 128, 0, good_fill, b.get(), 100u, 1.0f);
         cudaStreamEndCapture(device().stream, &g);
       }
       cudaGraphInstantiate(&e, g, 0);
       cudaGraphLaunch(e, device().stream);
       device().sync();
       return true;
     }},
    {"too many threads in a block",
     [] {
       Buffer<float> b(100);
       launch(1, 2048, 0, good_fill, b.get(), 100u, 1.0f);
       return true;
     }},
};
}  // namespace

int main(int argc, char**) {
  bool verbose = argc > 1;  // any argument: whole messages
  int missed = 0, total = 0;
  std::pair<cuemu::Order, int> plans[] = {
      {cuemu::Order::forward, 1}, {cuemu::Order::reverse, 1}, {cuemu::Order::random, 1}, {cuemu::Order::random, 2}};
  for (auto& b : bugs) {
    std::string marks, first;
    bool caught = false;
    for (auto [o, seed] : plans) {
      int fd[2];
      if (pipe(fd)) return 2;
      std::fflush(nullptr);
      pid_t pid = fork();
      if (pid == 0) {
        dup2(fd[1], 2);
        close(fd[0]);
        cuemu::config().order = o;
        cuemu::config().seed = std::uint64_t(seed);
        try {
          bool ok = b.run();
          device().sync();
          if (!ok) std::fprintf(stderr, "the result is wrong\n");
          std::fflush(nullptr);
          _exit(ok ? 0 : 3);
        } catch (const std::exception& e) {
          std::fprintf(stderr, "exception: %s\n", e.what());
          _exit(4);
        }
      }
      close(fd[1]);
      std::string out;
      char buf[512];
      ssize_t n;
      while ((n = read(fd[0], buf, sizeof buf)) > 0) out.append(buf, std::size_t(n));
      close(fd[0]);
      int st;
      waitpid(pid, &st, 0);
      bool bad = !(WIFEXITED(st) && WEXITSTATUS(st) == 0);
      marks += !bad ? '-' : WIFSIGNALED(st) ? 'E' : WEXITSTATUS(st) == 3 ? 'W' : 'X';
      if (bad && !caught) first = out.substr(0, out.find('\n'));
      caught = caught || bad;
    }
    bool control = b.name[0] == '(';  // no bug in it: must pass
    total += !control;
    missed += caught == control;
    std::printf("%-34s %s  %s\n", b.name, marks.c_str(),
                caught == control ? "MISSED"
                : caught          ? (verbose ? first : first.substr(0, 150)).c_str()
                                  : "passes");
  }
  std::printf("(one mark per schedule: E error reported, W wrong result, X exception, - not seen)\n");
  std::printf("%s mode: %zu bugs caught, %d missed\n", cuemu::check_mode() ? "check" : "fast",
              std::size_t(total - missed), missed);
  return cuemu::check_mode() && missed;
}
