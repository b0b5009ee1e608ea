// What programs see of CUDA where there is none.
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/ops/copy.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

TEST_CASE("without a cuda device everything says why", "[no_cuda]") {
  if (cuda::is_available()) return;

  CHECK(cuda::device_count() == 0);
  CHECK_FALSE(cuda::why_unavailable().empty());
  const Tensor x = ones({2}, {.device = cpu});
  CHECK(contains(message_of<DeviceError>([&] { x.to("cuda"); }), cuda::why_unavailable()));
  CHECK(contains(message_of<DeviceError>([&] { x.cuda(); }), "cuda:0"));
  CHECK_THROWS_AS(x.pin_memory(), DeviceError);
  CHECK_THROWS_AS(cuda::Stream(), DeviceError);
  CHECK_FALSE(x.is_pinned());
  CHECK(cuda::memory_allocated() == 0);
  CHECK(cuda::sync_count() == 0);
  cuda::empty_cache();
}

TEST_CASE("factories make tensors on the default device of their thread", "[no_cuda]") {
  const Device before = default_device();
  set_default_device(meta);
  const Tensor x = ones({2}), y = empty({2}, float64), z = zeros({2}, {.device = cpu});
  float host[2] = {1, 2};
  const Tensor blob = from_blob(host, {2}, {.device = cpu});
  set_default_device(before);

  CHECK(x.device() == meta);
  CHECK(y.device() == meta);
  CHECK(z.device() == cpu);
  CHECK(blob.device() == cpu);
}
