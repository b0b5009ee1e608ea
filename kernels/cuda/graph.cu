#include "graph.h"
#include "launch.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = 256;

/// As many as fit into the arguments of a kernel.
struct Words {
  static constexpr std::uint32_t kMost = 960;
  std::uint32_t count;
  std::uint32_t word[kMost];
};

__global__ void write(const Words words, std::uint32_t* to) {
  for (std::uint32_t i = threadIdx.x; i < words.count; i += blockDim.x) to[i] = words.word[i];
}

}  // namespace

void write_words(const Queue& queue, std::uint32_t* to, const std::uint32_t* words, std::uint32_t count) {
  for (std::uint32_t begin = 0; begin < count; begin += Words::kMost) {
    Words part{};
    part.count = count - begin < Words::kMost ? count - begin : Words::kMost;
    for (std::uint32_t i = 0; i < part.count; ++i) part.word[i] = words[begin + i];
    launch(queue, "write_words", 1, kThreads, 0, write, part, to + begin);
  }
}

}  // namespace taper::cuda_kernels
