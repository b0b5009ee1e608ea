#include <cmath>

#include "launch.cuh"
#include "optim.h"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256, kPerThread = 4, kPerBlock = kThreads * kPerThread;

/// The tensor whose elements this block steps.
__device__ __forceinline__ std::uint32_t tensor_of_block(const StepTensors& ts) {
  std::uint32_t low = 0, high = ts.count;  // the last tensor that begins at or before this block
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (ts.first_block[middle] <= blockIdx.x ? low : high) = middle;
  }
  return low;
}
/// Calls update(tensor, i) for the elements of this block, which are of that tensor.
template <class F>
__device__ __forceinline__ void for_elements_of_block(const StepTensors& ts, std::uint32_t tensor, const F& update) {
  const StepTensor& t = ts.tensor[tensor];
  const std::int64_t begin = std::int64_t(blockIdx.x - ts.first_block[tensor]) * kPerBlock + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < kPerThread; ++k)
    if (const std::int64_t i = begin + k * kThreads; i < t.count) update(t, i);
}

// The factors of a tensor: the same for all, or of each from the device.
template <class F>
struct Shared {
  F factors;
  __device__ __forceinline__ const F& of(std::uint32_t) const { return factors; }
};
template <class F>
struct Listed {
  const F* factors;
  __device__ __forceinline__ F of(std::uint32_t tensor) const { return factors[tensor]; }
};

template <class T, class Given>
__global__ void sgd(const StepTensors ts, const Given given) {
  using F = SgdFactors<T>;
  const std::uint32_t tensor = tensor_of_block(ts);
  const F& f = given.of(tensor);
  for_elements_of_block(ts, tensor, [&](const StepTensor& t, std::int64_t i) {
    T* const p = static_cast<T*>(t.param);
    const T param = p[i];
    T g = f.sign * static_cast<const T*>(t.grad)[i];
    if (f.flags & F::decays) g += f.decay * param;  // not without decay: 0 * inf would be NaN
    if (f.flags & F::has_momentum) {
      T* const buffer = static_cast<T*>(t.state[0]);
      const T moved = f.flags & F::first ? g : f.keep * buffer[i] + f.take * g;
      buffer[i] = moved;
      g = f.flags & F::nesterov ? g + f.keep * moved : moved;
    }
    p[i] = param - f.lr * g;
  });
}

template <class T, class Given>
__global__ void adam(const StepTensors ts, const Given given) {
  using F = AdamFactors<T>;
  const std::uint32_t tensor = tensor_of_block(ts);
  const F& f = given.of(tensor);
  for_elements_of_block(ts, tensor, [&](const StepTensor& t, std::int64_t i) {
    T *const p = static_cast<T*>(t.param), *const m = static_cast<T*>(t.state[0]),
             *const v = static_cast<T*>(t.state[1]);
    const T param = p[i];
    T g = f.sign * static_cast<const T*>(t.grad)[i];
    if (f.flags & F::decays) g += f.decay * param;
    const T mean = f.beta1 * m[i] + f.rest1 * g;
    const T square = f.beta2 * v[i] + f.rest2 * g * g;
    m[i] = mean;
    v[i] = square;
    T largest = square;
    if (f.flags & F::keeps_largest) {
      T* const most = static_cast<T*>(t.state[2]);
      // As maximum(): a NaN on either side stays.
      largest = square > most[i] || square != square ? square : most[i];
      most[i] = largest;
    }
    p[i] = f.shrink * param - f.step_size * (mean / (std::sqrt(largest) * f.root_scale + f.eps));
  });
}

template <class F>
void start(const Queue& queue, const char* name, StepTensors& ts, void (*with_shared)(StepTensors, Shared<F>),
           void (*with_listed)(StepTensors, Listed<F>), const F& all, const F* each) {
  std::uint32_t blocks = 0;
  for (std::uint32_t i = 0; i < ts.count; ++i) {
    ts.first_block[i] = blocks;
    blocks += std::uint32_t((ts.tensor[i].count + kPerBlock - 1) / kPerBlock);
  }
  if (blocks == 0) return;
  if (each == nullptr)
    launch(queue, name, blocks, kThreads, 0, with_shared, ts, Shared<F>{all});
  else
    launch(queue, name, blocks, kThreads, 0, with_listed, ts, Listed<F>{each});
}

}  // namespace

template <class T>
void sgd_steps(const Queue& queue, StepTensors& ts, const SgdFactors<T>& all, const SgdFactors<T>* each) {
  using F = SgdFactors<T>;
  start<F>(queue, "sgd_step_", ts, sgd<T, Shared<F>>, sgd<T, Listed<F>>, all, each);
}
template <class T>
void adam_steps(const Queue& queue, StepTensors& ts, const AdamFactors<T>& all, const AdamFactors<T>* each) {
  using F = AdamFactors<T>;
  start<F>(queue, "adam_step_", ts, adam<T, Shared<F>>, adam<T, Listed<F>>, all, each);
}

template void sgd_steps(const Queue&, StepTensors&, const SgdFactors<float>&, const SgdFactors<float>*);
template void sgd_steps(const Queue&, StepTensors&, const SgdFactors<double>&, const SgdFactors<double>*);
template void adam_steps(const Queue&, StepTensors&, const AdamFactors<float>&, const AdamFactors<float>*);
template void adam_steps(const Queue&, StepTensors&, const AdamFactors<double>&, const AdamFactors<double>*);

}  // namespace taper::cuda_kernels
