// Memory of CUDA devices: the caching allocator and pinned memory.
#include <taper/allocator.h>
#include <taper/autograd/engine.h>
#include <taper/autograd/memory_view.h>
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/nn/linear.h>
#include <taper/nn/optim.h>
#include <taper/ops/conv.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>

#include <string>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");
Tensor on_cuda(IntSpan sizes) { return empty(sizes, {.device = kCuda}); }

}  // namespace

TEST_CASE("a freed cuda block serves the next request of its size", "[cuda][S33]") {
  cuda::empty_cache();
  const void* first = on_cuda({1000}).data_ptr();
  const std::uint64_t asked = cuda::memory_stats().driver_allocations;

  const Tensor again = on_cuda({1000});

  CHECK(again.data_ptr() == first);
  CHECK(cuda::memory_stats().driver_allocations == asked);
}

TEST_CASE("cuda blocks are split from a segment, and neighbours that are free become one again", "[cuda][S33]") {
  cuda::empty_cache();
  const std::size_t before = cuda::memory_reserved();
  {
    const Tensor a = on_cuda({1000}), b = on_cuda({50000}), c = on_cuda({7});
    CHECK(cuda::memory_reserved() - before == std::size_t(2) << 20);  // one segment of small blocks
    CHECK(cuda::memory_stats().active_blocks >= 3);
  }
  const Tensor whole = on_cuda({(1 << 20) / 4});

  CHECK(cuda::memory_reserved() - before == std::size_t(2) << 20);
}

TEST_CASE("cuda memory is counted while it is used, and the highest is remembered", "[cuda][S155][S156]") {
  cuda::reset_peak_memory_stats();
  const std::size_t before = cuda::memory_allocated();
  {
    const Tensor a = on_cuda({1 << 16});
    CHECK(cuda::memory_allocated() - before >= std::size_t(1) << 18);
    CHECK(cuda::memory_reserved() >= cuda::memory_allocated());
  }
  CHECK(cuda::memory_allocated() == before);
  CHECK(cuda::max_memory_allocated() - before >= std::size_t(1) << 18);
  CHECK(contains(cuda::memory_summary(), "allocated, highest"));
  CHECK(contains(cuda::memory_summary(), "not counted here: what CUDA's context and libraries take"));
}

TEST_CASE("empty_cache gives free cuda segments back to the driver", "[cuda][S155]") {
  { const Tensor a = on_cuda({6 << 20}); }
  const std::size_t cached = cuda::memory_reserved();

  cuda::empty_cache();

  CHECK(cuda::memory_reserved() + (std::size_t(24) << 20) <= cached);
}

TEST_CASE("a request that cuda cannot serve empties the cache and tries again", "[cuda]") {
  const std::size_t total = cuda::device_properties().total_memory;
  if (total > std::size_t(1) << 30) return;  // only where memory is small enough to be filled, as it is emulated
  const std::uint64_t retries = cuda::memory_stats().retries;
  const auto most = std::int64_t(total / 2 / sizeof(float));
  { const Tensor a = on_cuda({most}); }

  const Tensor b = on_cuda({most + (std::int64_t(2) << 20)});  // does not fit beside what is cached

  CHECK(cuda::memory_stats().retries == retries + 1);
}

TEST_CASE("running out of cuda memory says how much there is and what to do", "[cuda]") {
  const std::string message = message_of<OutOfMemoryError>([] { on_cuda({std::int64_t(1) << 40}); });

  CHECK(contains(message, "cuda:0 allocator: cannot allocate 4194304.0 MiB"));
  CHECK(contains(message, "in use"));
  CHECK(contains(message, "left on the device"));
  CHECK(contains(message, "smaller batch"));
}

TEST_CASE("a cuda block that another stream uses is not handed out before that stream is done", "[cuda]") {
  cuda::empty_cache();
  const cuda::Stream side;
  const Tensor source = ones({1000}, {.device = kCuda});
  Tensor sum;
  const void* place = nullptr;
  {
    const Tensor x = source * 3;
    place = x.data_ptr();
    const cuda::StreamGuard guard(side);
    side.wait_stream(cuda::default_stream());
    sum = x + 1;
    cuda::record_stream(x, side);
  }
  const Tensor other = on_cuda({1000});  // on the main stream, while `side` may not have read x yet
  if (other.data_ptr() == place) CHECK(side.query());

  side.synchronize();
  CHECK(values(sum) == Values(1000, 4));
}

TEST_CASE("a cuda tensor can be resized and keeps what fits", "[cuda]") {
  Tensor x = tensor({1.0, 2.0, 3.0}).to("cuda");

  x.resize_({5});

  CHECK(values(x.narrow(0, 0, 3)) == Values{1, 2, 3});
}

TEST_CASE("pinned memory is memory of the host that says so, and its blocks are used again", "[cuda][S25][S133]") {
  const Tensor x = tensor({1.0, 2.0, 3.0}, {.device = cpu});
  const void* place = nullptr;
  {
    const Tensor pinned = x.pin_memory();
    place = pinned.data_ptr();
    CHECK(pinned.device() == cpu);
    CHECK(pinned.is_pinned());
    CHECK(pinned.narrow(0, 1, 2).is_pinned());
    CHECK(pinned.pin_memory().is_same(pinned));
    CHECK(values(pinned) == Values{1, 2, 3});
  }
  CHECK_FALSE(x.is_pinned());
  CHECK(x.pin_memory().data_ptr() == place);
  CHECK(place != x.data_ptr());
  CHECK(contains(message_of<DeviceError>([] { (void)on_cuda({2}).pin_memory(); }), "only memory of the host"));
}

TEST_CASE("cpu, pinned and cuda memory have allocators of their own, and cuda blocks are aligned", "[cuda][S26][S30]") {
  const Tensor here = ones({3}, {.device = cpu});
  const std::string of_cpu = here.storage()->allocator()->name();
  const std::string of_cuda = on_cuda({3}).storage()->allocator()->name();
  CHECK(of_cpu != of_cuda);
  CHECK(of_cuda == "cuda:0");
  CHECK(here.pin_memory().is_pinned());

  TensorList blocks;
  for (std::int64_t n = 1; n <= 4099; n += 41) {
    blocks.push_back(empty({n}, {.dtype = uint8, .device = kCuda}));
    CHECK(reinterpret_cast<std::uintptr_t>(blocks.back().impl()->data()) % 256 == 0);
  }
}

TEST_CASE("what cuda kernels need for themselves is given back", "[cuda][S163]") {
  const Tensor x = ones({2, 8, 90, 90}, {.device = kCuda}), w = ones({40, 8, 5, 5}, {.device = kCuda});
  static_cast<void>(conv2d(x, w));  // whatever is made once
  const std::size_t before = cuda::memory_allocated();
  const Tensor y = conv2d(x, w);
  const std::size_t with_result = cuda::memory_allocated();
  const Tensor other = empty_like(y);
  CHECK(with_result - before == cuda::memory_allocated() - with_result);
}

TEST_CASE("memory_use gives each category its bytes on cuda", "[cuda][S154]") {
  nn::Linear model(999, 1);
  model.to(kCuda);
  optim::Adam optimizer(model.parameters());
  const Tensor loss = model(ones({4, 999}, {.device = kCuda})).sum();
  CHECK(memory_use({model, optimizer, loss}, kCuda).saved_activations == 4 * 999 * 4);
  loss.backward();
  optimizer.step();

  const MemoryUse use = memory_use({model, optimizer, loss}, kCuda);
  CHECK(use.parameters == 4000);
  CHECK(use.gradients == 4000);
  CHECK(use.optimizer_state == 8000);
  CHECK(use.elsewhere == 0);
  CHECK(use.parameters + use.gradients + use.optimizer_state + use.saved_activations + use.other_tensors ==
        std::int64_t(cuda::memory_allocated()));
  CHECK(contains(use.str(), "memory of cuda:0\n"));
  CHECK(memory_use({model}).elsewhere == 8000);  // with the gradients
  CHECK_THROWS_AS(memory_use({model}, meta), DeviceError);
}
