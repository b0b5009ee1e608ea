// Products by cuBLASLt, which adds a bias where it writes the result: a launch and a pass over the result less.
#include "biased_gemm.h"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>

#include "blas.h"
#include "errors.h"

namespace taper::cuda_kernels {
namespace {

/// What an algorithm is chosen by: device, sizes, leading dimensions, transpositions, type of the computation and
/// alignments. Types and epilogue are always the same here.
using Key = std::array<std::int64_t, 13>;

/// What cuBLASLt has to be told of a product, and the algorithm that it chose.
struct Plan {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
  bool is_possible = false;
  cublasLtMatmulAlgo_t algorithm{};

  Plan() = default;
  ~Plan() {
    for (cublasLtMatrixLayout_t layout : {left, right, result})
      if (layout != nullptr) (void)cublasLtMatrixLayoutDestroy(layout);
    if (product != nullptr) (void)cublasLtMatmulDescDestroy(product);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_cublas(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  }
};

/// Choosing costs tens of microseconds. Never freed: a destructor would meet a driver that has shut down.
struct Plans {
  static constexpr std::size_t kMost = 1024;  // shapes that change all the time must not fill memory

  std::mutex mutex;
  std::map<int, cublasLtHandle_t> handles;  // by device
  std::map<Key, Plan> by_key;
};
Plans& plans() {
  static Plans* const all = new Plans;
  return *all;
}

cublasLtHandle_t handle_for(Plans& all, int device) {
  cublasLtHandle_t& handle = all.handles[device];
  if (handle == nullptr) check_cublas(cublasLtCreate(&handle), "cublasLtCreate");
  return handle;
}

/// The largest power of 2 that divides the address, up to what cuBLASLt asks about.
std::uint32_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return std::uint32_t(std::min<std::uintptr_t>(address & (~address + 1), 256));
}

/// What a kernel may count on.
struct Alignments {
  std::uint32_t left, right, result, bias;
};

void choose(Plan& plan, cublasLtHandle_t handle, const Alignments& aligned) {
  cublasLtMatmulPreference_t preference = nullptr;
  check_cublas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    (void)cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned.left);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned.right);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned.result);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned.result);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, plan.product, plan.left, plan.right, plan.result,
                                                               plan.result, preference, 1, &found, &count);
  (void)cublasLtMatmulPreferenceDestroy(preference);
  plan.is_possible = status == CUBLAS_STATUS_SUCCESS && count > 0 && found.state == CUBLAS_STATUS_SUCCESS;
  if (plan.is_possible) plan.algorithm = found.algo;
}

}  // namespace

bool biased_gemm(const char* op, const OnDevice& on, const Gemm& g, const float* a, const float* b, const float* bias,
                 float* c) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) > kMost) return false;
  // Row-major C = A B is column-major C^T = B^T A^T: there the bias goes along the rows, as cuBLASLt has it.
  const Alignments aligned{alignment_of(b), alignment_of(a), alignment_of(c), alignment_of(bias)};
  const cublasComputeType_t compute = float_compute_type();
  const Workspace workspace = workspace_of(on);
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);  // until the work is given: the plan holds the address of the bias
  const cublasLtHandle_t handle = [&] {
    const RelaxedCapture relaxed;
    return handle_for(all, on.state().index());
  }();
  if (all.by_key.size() >= Plans::kMost) all.by_key.clear();
  const auto [found, is_new] =
      all.by_key.try_emplace(Key{on.state().index(), g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.trans_a + 2 * g.trans_b,
                                 int(compute), aligned.left, aligned.right, aligned.result, aligned.bias});
  Plan& plan = found->second;
  if (is_new) {
    try {
      const RelaxedCapture relaxed;
      const auto layout = [](cublasLtMatrixLayout_t& to, std::int64_t rows, std::int64_t columns,
                             std::int64_t leading) {
        check_cublas(cublasLtMatrixLayoutCreate(&to, CUDA_R_32F, std::uint64_t(rows), std::uint64_t(columns), leading),
                     "cublasLtMatrixLayoutCreate");
      };
      check_cublas(cublasLtMatmulDescCreate(&plan.product, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
      plan.set(CUBLASLT_MATMUL_DESC_TRANSA, g.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
      plan.set(CUBLASLT_MATMUL_DESC_TRANSB, g.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
      plan.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      plan.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);  // its alignment counts when an algorithm is chosen
      g.trans_b ? layout(plan.left, g.k, g.n, g.ldb) : layout(plan.left, g.n, g.k, g.ldb);
      g.trans_a ? layout(plan.right, g.m, g.k, g.lda) : layout(plan.right, g.k, g.m, g.lda);
      layout(plan.result, g.n, g.m, g.ldc);
      choose(plan, handle, aligned);
    } catch (...) {
      all.by_key.erase(found);
      throw;
    }
  }
  if (!plan.is_possible) return false;
  plan.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float one = 1, zero = 0;
  check_cublas(cublasLtMatmul(handle, plan.product, &one, b, plan.left, a, plan.right, &zero, c, plan.result, c,
                              plan.result, &plan.algorithm, workspace.memory, workspace.bytes, on.stream()),
               op);
  return true;
}

}  // namespace taper::cuda_kernels
