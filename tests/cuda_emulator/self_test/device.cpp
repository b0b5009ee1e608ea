#include "device.h"

namespace self_test {
void* Allocator::segment(std::size_t n) {
  void* p = nullptr;
  ++driver_calls_;
  // During capture cudaMalloc is refused unless this thread is in relaxed mode.
  cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&m);
  cudaError_t e = cudaMalloc(&p, n);
  if (e == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    if (pool_ == 0) release_cached();
    e = cudaMalloc(&p, n);
  }
  cudaThreadExchangeStreamCaptureMode(&m);
  if (e == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw std::bad_alloc();
  }
  check(e, "cudaMalloc");
  reserved_ += n;
  return p;
}

void* Allocator::alloc(std::size_t n) {
  if (n == 0) return nullptr;
  std::size_t want = (n + kRound - 1) / kRound * kRound + kGap;
  auto& fr = free_[pool_];
  Block key{nullptr, want, pool_, nullptr, nullptr, false, 0};
  auto it = fr.lower_bound(&key);
  Block* b;
  if (it != fr.end() && (want >= kSmall || (*it)->size <= kSegment)) {
    b = *it;
    fr.erase(it);
  } else {
    std::size_t seg = want < kSmall ? kSegment : want;
    b = new Block{static_cast<char*>(segment(seg)), seg, pool_, nullptr, nullptr, false, 0};
#ifdef __CUEMU__
    cuemu::annotate_segment(b->p, seg);
#endif
  }
  if (b->size - want >= kRound) {  // split
    Block* r = new Block{b->p + want, b->size - want, b->pool, b, b->next, false, 0};
    if (b->next) b->next->prev = r;
    b->next = r;
    b->size = want;
    fr.insert(r);
  }
  b->used = true;
  b->asked = n;
  used_[b->p] = b;
#ifdef __CUEMU__
  cuemu::annotate_alloc(b->p, n, device().stream);
#endif
  return b->p;
}

void Allocator::free(void* p) noexcept {
  auto u = used_.find(p);
  Block* b = u->second;
  used_.erase(u);
#ifdef __CUEMU__
  cuemu::annotate_free(p, b->asked, device().stream);
#endif
  b->used = false;
  auto& fr = free_[b->pool];
  if (Block* q = b->next; q && !q->used) {
    fr.erase(q);
    b->size += q->size;
    b->next = q->next;
    if (q->next) q->next->prev = b;
    delete q;
  }
  if (Block* q = b->prev; q && !q->used) {
    fr.erase(q);
    q->size += b->size;
    q->next = b->next;
    if (b->next) b->next->prev = q;
    delete b;
    b = q;
  }
  fr.insert(b);
}

void Allocator::release_cached() noexcept {
  auto& fr = free_[0];
  for (auto it = fr.begin(); it != fr.end();) {
    Block* b = *it;
    if (!b->prev && !b->next) {
      cudaFree(b->p);
      reserved_ -= b->size;
      it = fr.erase(it);
      delete b;
    } else
      ++it;
  }
}

Device::Device() {
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cublasCreate(&blas), "cublasCreate");
  check(cublasSetStream(blas, stream), "cublasSetStream");
  check(cudaMalloc(&workspace, 4 << 20), "workspace");
  check(cublasSetWorkspace(blas, workspace, 4 << 20), "cublasSetWorkspace");
}
Device::~Device() {
  cudaStreamSynchronize(stream);
  cublasDestroy(blas);
  cudaStreamDestroy(stream);
  cudaFree(workspace);
}
Device& device() {
  static Device d;
  return d;
}

void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, const float* b, float beta, float* c,
          int batch, long long sa, long long sb, long long sc) {
  // Row-major C is column-major C^T = op(B)^T op(A)^T.
  auto opa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, opb = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
  int lda = ta ? m : k, ldb = tb ? k : n;
  if (batch == 1)
    check(cublasSgemm(device().blas, opb, opa, n, m, k, &alpha, b, ldb, a, lda, &beta, c, n), "cublasSgemm");
  else
    check(cublasSgemmStridedBatched(device().blas, opb, opa, n, m, k, &alpha, b, ldb, sb, a, lda, sa, &beta, c, n, sc,
                                    batch),
          "cublasSgemmStridedBatched");
}
}  // namespace self_test
