// Random numbers on CUDA devices are those of the cpu.
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/ops/dropout.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include "cuda/host/device.h"
#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");

/// f(device) draws the same on both.
template <class F>
bool draws_the_same(F f) {
  manual_seed(11);
  const Tensor there = f(kCuda);
  manual_seed(11);
  return there.cpu().equal(f(Device(cpu)));
}

}  // namespace

TEST_CASE("cuda draws the cpu's random numbers, bit for bit", "[cuda]") {
  for (const DType d : {float32, float64, float16, bfloat16})
    for (const std::int64_t n : {0, 1, 2, 3, 31, 1027}) {
      INFO(name_of(d) << ", elements: " << n);
      CHECK(draws_the_same([&](Device device) { return rand({n}, {.dtype = d, .device = device}); }));
      CHECK(draws_the_same([&](Device device) { return randn({n}, {.dtype = d, .device = device}); }));
      CHECK(draws_the_same([&](Device device) {
        Tensor x = empty({n, 2}, {.dtype = d, .device = device}).t();
        uniform_(x, -2, 3);
        return x;
      }));
      CHECK(draws_the_same([&](Device device) {
        Tensor x = empty({n}, {.dtype = d, .device = device});
        exponential_(x, 0.5);
        return x;
      }));
      CHECK(draws_the_same([&](Device device) { return bernoulli(full({n}, 0.3, {.dtype = d, .device = device})); }));
      CHECK(draws_the_same([&](Device device) {
        return dropout(ones({n, 3}, {.dtype = d, .device = device}).t(), 0.4);
      }));
    }
}

TEST_CASE("cuda draws the cpu's random integers, events and permutations", "[cuda]") {
  for (const DType d : {int64, int32, uint8, int8, int16, bool_, float32})
    CHECK(draws_the_same([&](Device device) { return randint(0, 2, {37}, {.dtype = d, .device = device}); }));
  CHECK(draws_the_same([&](Device device) { return randint(-5, 1 << 20, {37}, {.device = device}); }));
  for (const DType d : {int64, uint8, bool_, float16, float64})
    CHECK(draws_the_same([&](Device device) { return zeros({37}, {.dtype = d, .device = device}).bernoulli_(0.3); }));
  CHECK(draws_the_same([&](Device device) { return randperm(100, {.device = device}); }));
}

TEST_CASE("random numbers of a captured graph go on by what the cuda device holds", "[cuda]") {
  const Tensor first = from_vector(std::vector<std::int64_t>{4, 13}).to(kCuda);  // seed and stream
  Generator generator;
  generator.set_state({4, 10});
  const DefaultGeneratorGuard guard(generator);
  cuda_kernels::CapturedRandom::first = generator.state();
  cuda_kernels::CapturedRandom::at = static_cast<const RandomStream*>(first.impl()->data());
  const Tensor drawn = rand({9}, {.device = kCuda}), second = rand({9}, {.device = kCuda});
  cuda_kernels::CapturedRandom::at = nullptr;

  generator.set_state({4, 13});
  CHECK(drawn.equal(rand({9}, {.device = kCuda})));
  CHECK(second.equal(rand({9}, {.device = kCuda})));
}
