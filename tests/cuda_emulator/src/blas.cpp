// cuBLAS by Eigen.  Arguments are checked like the library does, and beyond: every matrix
// must lie wholly inside one live device allocation, so most wrong leading dimensions,
// transposes and strides fail at once instead of giving plausible numbers.
#include <Eigen/Dense>

#include "cublasLt.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "internal.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
};

namespace {
using namespace cuemu;
using Matrix = Eigen::MatrixXd;  // of any type: products are summed in double

std::size_t size_of(cudaDataType t) { return t == CUDA_R_32F ? 4 : t == CUDA_R_64F ? 8 : 2; }
float tf32(float x) {  // 10 bits of mantissa, nearest
  uint32_t u = __float_as_uint(x);
  if ((u & 0x7f800000u) != 0x7f800000u) u = (u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu;
  return __uint_as_float(u);
}
float bf16(float x) { return float(__nv_bfloat16(x)); }

std::size_t extent(long long rows, long long cols, long long ld, cudaDataType t) {
  return rows && cols ? ((cols - 1) * ld + rows) * size_of(t) : 0;
}

// An element of a matrix as a number, whatever the type.
double get(const void* p, cudaDataType t, std::size_t i) {
  if (t == CUDA_R_64F) return static_cast<const double*>(p)[i];
  if (t == CUDA_R_32F) return static_cast<const float*>(p)[i];
  if (t == CUDA_R_16BF) return float(static_cast<const __nv_bfloat16*>(p)[i]);
  return float(static_cast<const __half*>(p)[i]);
}
void put(void* p, cudaDataType t, std::size_t i, double v) {
  if (t == CUDA_R_64F)
    static_cast<double*>(p)[i] = v;
  else if (t == CUDA_R_32F)
    static_cast<float*>(p)[i] = float(v);
  else if (t == CUDA_R_16BF)
    static_cast<__nv_bfloat16*>(p)[i] = float(v);
  else
    static_cast<__half*>(p)[i] = float(v);
}
Matrix load(const void* p, cudaDataType t, long long r, long long c, long long ld, bool trans, cublasComputeType_t ct) {
  Matrix m(r, c);
  if (t == CUDA_R_32F)
    m = Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>>(static_cast<const float*>(p), r, c,
                                                                   Eigen::OuterStride<>(ld))
            .cast<double>();
  else if (t == CUDA_R_64F)
    m = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(static_cast<const double*>(p), r, c,
                                                          Eigen::OuterStride<>(ld));
  else
    for (long long j = 0; j < c; ++j)
      for (long long i = 0; i < r; ++i) m(i, j) = get(p, t, j * ld + i);
  if (t == CUDA_R_32F && ct == CUBLAS_COMPUTE_32F_FAST_TF32)
    m = m.unaryExpr([](double v) { return double(tf32(float(v))); }).eval();
  if (t == CUDA_R_32F && ct == CUBLAS_COMPUTE_32F_FAST_16BF)
    m = m.unaryExpr([](double v) { return double(bf16(float(v))); }).eval();
  if (trans) m.transposeInPlace();
  return m;
}
void read_check(const void* p, cudaDataType t, long long r, long long c, long long ld, const char* what) {
  if (check_on_read)
    for (long long j = 0; j < c; ++j)
      check_on_read(static_cast<const char*>(p) + j * ld * size_of(t), r * size_of(t), what);
}
void mark_written(const void* p, cudaDataType t, long long r, long long c, long long ld) {
  if (check_on_written)
    for (long long j = 0; j < c; ++j)
      check_on_written(static_cast<const char*>(p) + j * ld * size_of(t), r * size_of(t));
}
void need(const void* p, std::size_t bytes, const char* what) {
  if (bytes && !device_range_ok(p, bytes))
    fail(
        "%s: matrix [%p, +%zu bytes) is not inside one device allocation (leading dimension, shape or stride wrong?): "
        "%s",
        what, p, bytes, describe(p).c_str());
}

struct Gemm {
  bool ta, tb;
  long long m, n, k;
  double alpha, beta;
  const void *A, *B;
  void* C;
  cudaDataType at, bt, ct;
  long long lda, ldb, ldc;
  cublasComputeType_t comp;
  Matrix product() const {
    read_check(A, at, ta ? k : m, ta ? m : k, lda, "cuBLAS A");
    read_check(B, bt, tb ? n : k, tb ? k : n, ldb, "cuBLAS B");
    return load(A, at, ta ? k : m, ta ? m : k, lda, ta, comp) * load(B, bt, tb ? n : k, tb ? k : n, ldb, tb, comp);
  }
  void run() const {
    Matrix p = product();
    if (beta != 0) read_check(C, ct, m, n, ldc, "cuBLAS C");
    for (long long j = 0; j < n; ++j)
      for (long long i = 0; i < m; ++i)
        put(C, ct, j * ldc + i,
            alpha * p(i, j) + (beta != 0 ? beta * get(C, ct, j * ldc + i) : 0.0));  // beta 0: C is not read
    mark_written(C, ct, m, n, ldc);
  }
};

cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, long long m, long long n, long long k,
                    double alpha, const void* A, cudaDataType at, long long lda, long long sa, const void* B,
                    cudaDataType bt, long long ldb, long long sb, double beta, void* C, cudaDataType ct, long long ldc,
                    long long sc, long long batch, cublasComputeType_t comp, const char* what) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || k < 0 || batch < 0) return CUBLAS_STATUS_INVALID_VALUE;
  long long ra = ta == CUBLAS_OP_N ? m : k, ca = ta == CUBLAS_OP_N ? k : m, rb = tb == CUBLAS_OP_N ? k : n,
            cb = tb == CUBLAS_OP_N ? n : k;
  if (lda < std::max(1ll, ra) || ldb < std::max(1ll, rb) || ldc < std::max(1ll, m)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!m || !n || !batch) return CUBLAS_STATUS_SUCCESS;
  ++counters.products;
  auto es = size_of(at);
  need(A, extent(ra, ca, lda, at) + (batch - 1) * sa * es, what);
  need(B, extent(rb, cb, ldb, bt) + (batch - 1) * sb * size_of(bt), what);
  need(C, extent(m, n, ldc, ct) + (batch - 1) * sc * size_of(ct), what);
  const bool side_by_side = sc >= m && (batch - 1) * sc + m <= ldc;  // columns of each between columns of the others
  if (batch > 1 && std::llabs(sc) < (n - 1) * ldc + m && !side_by_side)
    fail("%s: the batches of C overlap (stride %lld)", what, sc);
  A = real(A);
  B = real(B);
  C = real(C);
  Gemm g{ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, alpha, beta, A, B, C, at, bt, ct, lda, ldb, ldc, comp};
  enqueue(
      h->stream,
      [=] {
        for (long long b = 0; b < batch; ++b) {
          Gemm q = g;
          q.A = static_cast<const char*>(A) + b * sa * size_of(at);
          q.B = static_cast<const char*>(B) + b * sb * size_of(bt);
          q.C = static_cast<char*>(C) + b * sc * size_of(ct);
          q.run();
        }
      },
      what);
  return CUBLAS_STATUS_SUCCESS;
}
cublasComputeType_t mode(cublasHandle_t h) {
  return h && h->math == CUBLAS_TF32_TENSOR_OP_MATH ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}
double scalar(const void* p, cublasComputeType_t comp = CUBLAS_COMPUTE_32F) {
  if (in_heap(p)) fail("cuBLAS: alpha/beta is a device pointer in host pointer mode");
  return comp == CUBLAS_COMPUTE_64F ? *static_cast<const double*>(p) : double(*static_cast<const float*>(p));
}
}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* h) {
  *h = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t h) {
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t h, cudaStream_t* s) {
  *s = h->stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t m) {
  h->math = m;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t h, cublasPointerMode_t m) {
  if (m) fail("cuBLAS: device pointer mode is not modelled");
  h->mode = m;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void* p, std::size_t n) {
  need(p, n, "cublasSetWorkspace");
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t s) {
  return s == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : s == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                            : "CUBLAS_STATUS (other)";
}

cublasStatus_t cublasSgemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                           const float* al, const float* A, int lda, const float* B, int ldb, const float* be, float* C,
                           int ldc) {
  return gemm(h, ta, tb, m, n, k, scalar(al), A, CUDA_R_32F, lda, 0, B, CUDA_R_32F, ldb, 0, scalar(be), C, CUDA_R_32F,
              ldc, 0, 1, mode(h), "cublasSgemm");
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                         int k, const float* al, const float* A, int lda, long long sa, const float* B,
                                         int ldb, long long sb, const float* be, float* C, int ldc, long long sc,
                                         int batch) {
  return gemm(h, ta, tb, m, n, k, scalar(al), A, CUDA_R_32F, lda, sa, B, CUDA_R_32F, ldb, sb, scalar(be), C, CUDA_R_32F,
              ldc, sc, batch, mode(h), "cublasSgemmStridedBatched");
}
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            const void* al, const void* A, cudaDataType at, int lda, const void* B, cudaDataType bt,
                            int ldb, const void* be, void* C, cudaDataType ct, int ldc, cublasComputeType_t comp,
                            cublasGemmAlgo_t) {
  return gemm(h, ta, tb, m, n, k, scalar(al, comp), A, at, lda, 0, B, bt, ldb, 0, scalar(be, comp), C, ct, ldc, 0, 1,
              comp, "cublasGemmEx");
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                          int k, const void* al, const void* A, cudaDataType at, int lda, long long sa,
                                          const void* B, cudaDataType bt, int ldb, long long sb, const void* be,
                                          void* C, cudaDataType ct, int ldc, long long sc, int batch,
                                          cublasComputeType_t comp, cublasGemmAlgo_t) {
  return gemm(h, ta, tb, m, n, k, scalar(al, comp), A, at, lda, sa, B, bt, ldb, sb, scalar(be, comp), C, ct, ldc, sc,
              batch, comp, "cublasGemmStridedBatchedEx");
}

// ---- cublasLt -------------------------------------------------------------------------
struct cublasLtContext {};
struct cublasLtMatmulDescOpaque {
  cublasComputeType_t comp;
  int ta = 0, tb = 0, epi = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr, *aux = nullptr;
  int64_t aux_ld = 0;
};
struct cublasLtLayoutOpaque {
  cudaDataType t;
  long long r, c, ld;
};
struct cublasLtPrefOpaque {
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C, D, as the library assumes
};
cublasStatus_t cublasLtCreate(cublasLtHandle_t* h) {
  *h = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) {
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t c, cudaDataType_t) {
  *d = new cublasLtMatmulDescOpaque{c};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t a, const void* v,
                                              std::size_t n) {
  auto copy = [&](void* to, std::size_t want) {
    if (n != want) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, v, n);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (a) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return copy(&d->ta, 4);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return copy(&d->tb, 4);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return copy(&d->epi, 4);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return copy(&d->bias, 8);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return copy(&d->aux, 8);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return copy(&d->aux_ld, 8);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType t, uint64_t r, uint64_t c,
                                          int64_t ld) {
  if (ld < int64_t(r)) return CUBLAS_STATUS_INVALID_VALUE;
  *l = new cublasLtLayoutOpaque{t, (long long)r, (long long)c, ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
  delete l;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = new cublasLtPrefOpaque;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t a, const void* v,
                                                    std::size_t n) {
  if (a == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return n == sizeof(std::size_t) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  if (n != sizeof(uint32_t)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&p->alignment[a - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], v, n);
  return CUBLAS_STATUS_SUCCESS;
}
// An algorithm of the emulator says what it was chosen for: a product that it is used for later must be such a one.
static uint64_t alignment_of(const void* p) { return uint64_t(p) & -uint64_t(p); }
static void describe_product(cublasLtMatmulAlgo_t& algo, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t la,
                             cublasLtMatrixLayout_t lb, cublasLtMatrixLayout_t ld) {
  uint64_t hash = 1469598103934665603ull;
  for (auto v : {(long long)d->comp, (long long)d->ta, (long long)d->tb, (long long)d->epi, la->r, la->c, la->ld, lb->r,
                 lb->c, lb->ld, ld->r, ld->c, ld->ld, (long long)la->t, (long long)lb->t, (long long)ld->t})
    hash = (hash ^ uint64_t(v)) * 1099511628211ull;
  algo.data[0] = hash;
}
static void check_algorithm(const cublasLtMatmulAlgo_t* algo, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t la,
                            cublasLtMatrixLayout_t lb, cublasLtMatrixLayout_t ld, const void* A, const void* B,
                            const void* C, const void* D) {
  if (!algo) return;
  cublasLtMatmulAlgo_t now{};
  describe_product(now, d, la, lb, ld);
  if (algo->data[0] != now.data[0]) fail("cublasLtMatmul: the algorithm was chosen for another product");
  const void* pointers[] = {A, B, C, D, d->bias};
  for (int i = 0; i < 5; ++i)
    if (pointers[i] && alignment_of(pointers[i]) < algo->data[i + 1])
      fail("cublasLtMatmul: %s is %p, but the algorithm was chosen for addresses that are multiples of %llu",
           i == 0   ? "A"
           : i == 1 ? "B"
           : i == 2 ? "C"
           : i == 3 ? "D"
                    : "the bias",
           pointers[i], (unsigned long long)algo->data[i + 1]);
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t la,
                                              cublasLtMatrixLayout_t lb, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t ld, cublasLtMatmulPreference_t p, int,
                                              cublasLtMatmulHeuristicResult_t* r, int* got) {
  *got = 0;
  if (!config().lt_algorithms) return CUBLAS_STATUS_NOT_SUPPORTED;
  *r = {};
  describe_product(r->algo, d, la, lb, ld);
  for (int i = 0; i < 4; ++i) r->algo.data[i + 1] = p ? p->alignment[i] : 256;
  r->algo.data[5] = d->bias ? std::min<uint64_t>(alignment_of(d->bias), 16) : 0;
  *got = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void* al, const void* A,
                              cublasLtMatrixLayout_t la, const void* B, cublasLtMatrixLayout_t lb, const void* be,
                              const void* C, cublasLtMatrixLayout_t lc, void* D, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t* algo, void* ws, std::size_t wsn, cudaStream_t s) {
  long long m = ld->r, n = ld->c, k = d->ta ? la->r : la->c;
  if ((d->ta ? la->c : la->r) != m || (d->tb ? lb->c : lb->r) != k || (d->tb ? lb->r : lb->c) != n || lc->r != m ||
      lc->c != n)
    return CUBLAS_STATUS_INVALID_VALUE;
  check_algorithm(algo, d, la, lb, ld, A, B, C, D);
  ++counters.lt_products;
  need(A, extent(la->r, la->c, la->ld, la->t), "cublasLtMatmul A");
  need(B, extent(lb->r, lb->c, lb->ld, lb->t), "cublasLtMatmul B");
  need(D, extent(m, n, ld->ld, ld->t), "cublasLtMatmul D");
  if (wsn) need(ws, wsn, "cublasLtMatmul workspace");
  int e = d->epi;
  long long bias_n = e == CUBLASLT_EPILOGUE_BGRADB ? n : m;
  bool uses_bias = e & (4 | 16 | 256 | 512), uses_aux = e & 128;
  if (uses_bias) need(d->bias, bias_n * 4, "cublasLtMatmul bias");
  if (uses_aux) {  // a bit per element, the leading dimension in elements and a multiple of 128
    if (d->aux_ld < m || d->aux_ld % 128) return CUBLAS_STATUS_INVALID_VALUE;
    need(d->aux, d->aux_ld / 8 * n, "cublasLtMatmul aux");
  }
  A = real(A);
  B = real(B);
  C = real(C);
  D = real(D);
  Gemm g{d->ta != 0, d->tb != 0, m,     n,     k,      scalar(al), scalar(be), A,      B,
         D,          la->t,      lb->t, ld->t, la->ld, lb->ld,     ld->ld,     d->comp};
  auto* bias = real(static_cast<float*>(d->bias));
  auto* aux = real(static_cast<uint8_t*>(d->aux));
  auto aux_ld = d->aux_ld;
  auto ct = lc->t;
  auto cld = lc->ld;
  enqueue(
      s,
      [=] {
        if ((e & 4) && check_on_read) check_on_read(bias, bias_n * 4, "cublasLtMatmul bias");
        Matrix p = g.product() * g.alpha;
        if (g.beta != 0)
          for (long long j = 0; j < n; ++j)
            for (long long i = 0; i < m; ++i) p(i, j) += g.beta * get(C, ct, j * cld + i);
        auto bit = [&](long long i, long long j) -> std::pair<uint8_t*, int> {
          long long b = j * aux_ld + i;
          return {aux + b / 8, int(b % 8)};
        };
        for (long long j = 0; j < n; ++j)
          for (long long i = 0; i < m; ++i) {
            double v = p(i, j);
            if (e & 4) v += bias[i];
            if (e & 2) {
              if (uses_aux) {
                auto [q, sh] = bit(i, j);
                *q = uint8_t((*q & ~(1 << sh)) | ((v > 0) << sh));
              }
              v = v > 0 ? v : 0;
            }
            if (e & 8) {
              auto [q, sh] = bit(i, j);
              v = *q >> sh & 1 ? v : 0;
            }
            p(i, j) = v;
            put(D, g.ct, j * g.ldc + i, v);
          }
        mark_written(D, g.ct, m, n, g.ldc);
        if ((e & 2) && uses_aux && check_on_written) check_on_written(aux, aux_ld / 8 * n);
        if (e & 16)
          for (long long i = 0; i < m; ++i) bias[i] = float(p.row(i).sum());
        if (e == CUBLASLT_EPILOGUE_BGRADA) {
          Matrix a = load(A, g.at, g.ta ? k : m, g.ta ? m : k, g.lda, g.ta, CUBLAS_COMPUTE_32F);
          for (long long i = 0; i < m; ++i) bias[i] = float(a.row(i).sum());
        }
        if (e == CUBLASLT_EPILOGUE_BGRADB) {
          Matrix b = load(B, g.bt, g.tb ? n : k, g.tb ? k : n, g.ldb, g.tb, CUBLAS_COMPUTE_32F);
          for (long long i = 0; i < n; ++i) bias[i] = float(b.col(i).sum());
        }
        if ((e & (16 | 256 | 512)) && check_on_written) check_on_written(bias, bias_n * 4);
      },
      "cublasLtMatmul");
  return CUBLAS_STATUS_SUCCESS;
}
