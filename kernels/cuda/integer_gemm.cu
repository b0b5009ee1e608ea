#include "integer_gemm.h"
#include "launch.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void products(const IntegerGemm s, const T* a, const T* b, T* c) {
  const std::int64_t count = s.batch * s.m * s.n;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t(gridDim.x) * blockDim.x) {
    const std::int64_t column = i % s.n, row = i / s.n % s.m, matrix = i / s.n / s.m;
    const T* x = a + matrix * s.a_step + row * s.a_row;
    const T* y = b + matrix * s.b_step + column * s.b_column;
    std::uint64_t sum = s.accumulate ? std::uint64_t(c[i]) : 0;
    for (std::int64_t j = 0; j < s.k; ++j) sum += std::uint64_t(x[j * s.a_column]) * std::uint64_t(y[j * s.b_row]);
    c[i] = T(sum);
  }
}

}  // namespace

template <class T>
void integer_gemm(const Queue& queue, const IntegerGemm& shape, const T* a, const T* b, T* c) {
  launch(queue, "a product of integers", blocks_for(queue, std::uint64_t(shape.batch * shape.m * shape.n), kThreads),
         kThreads, 0, products<T>, shape, a, b, c);
}

template void integer_gemm(const Queue&, const IntegerGemm&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*);
template void integer_gemm(const Queue&, const IntegerGemm&, const std::int32_t*, const std::int32_t*, std::int32_t*);
template void integer_gemm(const Queue&, const IntegerGemm&, const std::int64_t*, const std::int64_t*, std::int64_t*);

}  // namespace taper::cuda_kernels
