// The host part: error checks, one stream, a caching allocator with private pools, cuBLAS.
// Plain C++; the same source with the real CUDA runtime and with the emulator.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

#ifdef __CUEMU__
#include <cuemu.h>
#endif

namespace self_test {
inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}
inline void check(cublasStatus_t s, const char* what) {
  if (s != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(s));
}

// One stream, so a freed block may be reused at once by later work of that stream.
class Allocator {
 public:
  ~Allocator() { release_cached(); }
  void* alloc(std::size_t n);
  void free(void* p) noexcept;
  void release_cached() noexcept;  // give free segments back to the driver
  // While a graph is captured, and as long as it lives, its blocks come from a pool of its own.
  void begin_pool(int id) { pool_ = id; }
  void end_pool() { pool_ = 0; }
  std::size_t reserved() const { return reserved_; }
  int driver_calls() const { return driver_calls_; }

 private:
  struct Block {
    char* p;
    std::size_t size;
    int pool;
    Block *prev, *next;
    bool used;
    std::size_t asked;
  };
  struct BySize {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->p < b->p;
    }
  };
#ifdef __CUEMU__
  static constexpr std::size_t kGap = 512;  // unusable bytes between neighbours, for the checker
#else
  static constexpr std::size_t kGap = 0;
#endif
  static constexpr std::size_t kRound = 512, kSmall = 1 << 20, kSegment = 2 << 20;
  void* segment(std::size_t n);
  std::map<int, std::set<Block*, BySize>> free_;
  std::unordered_map<void*, Block*> used_;
  int pool_ = 0, driver_calls_ = 0;
  std::size_t reserved_ = 0;
};

struct Device {
  cudaStream_t stream{};
  cublasHandle_t blas{};
  Allocator mem;
  void* workspace{};  // fixed, so that captured GEMMs keep a valid one
  Device();
  ~Device();
  void sync() { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }
};
Device& device();

template <class T>
class Buffer {  // device memory, owned
 public:
  Buffer() = default;
  explicit Buffer(std::size_t n) : p_(static_cast<T*>(device().mem.alloc(n * sizeof(T)))), n_(n) {}
  Buffer(Buffer&& o) noexcept : p_(o.p_), n_(o.n_) { o.p_ = nullptr; }
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    return *this;
  }
  ~Buffer() {
    if (p_) device().mem.free(p_);
  }
  T* get() const { return p_; }
  std::size_t size() const { return n_; }
  void upload(const T* h) {
    check(cudaMemcpyAsync(p_, h, n_ * sizeof(T), cudaMemcpyHostToDevice, device().stream), "upload");
  }
  void download(T* h) const {
    check(cudaMemcpyAsync(h, p_, n_ * sizeof(T), cudaMemcpyDeviceToHost, device().stream), "download");
    device().sync();
  }
  void zero() { check(cudaMemsetAsync(p_, 0, n_ * sizeof(T), device().stream), "zero"); }

 private:
  T* p_ = nullptr;
  std::size_t n_ = 0;
};

// Row-major C[m,n] = alpha * op(A) op(B) + beta * C, for `batch` matrices.
void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, const float* b, float beta, float* c,
          int batch = 1, long long sa = 0, long long sb = 0, long long sc = 0);
}  // namespace self_test
