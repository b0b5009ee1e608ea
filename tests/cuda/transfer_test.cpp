// Copies between the host and CUDA devices, and what they make the host wait for.
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/data.h>
#include <taper/nn/linear.h>
#include <taper/ops/copy.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/statistics.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

#if __has_include(<cuemu.h>)  // the emulator's own header is never beside the toolkit's
#include <cuda_runtime.h>
#endif

using namespace taper;

namespace {

const Device kCuda("cuda");
Tensor counting(IntSpan sizes, DType dtype = float32) {
  const std::int64_t n = SizesAndStrides::contiguous(sizes).numel();
  return arange(n, TensorOptions{.dtype = dtype, .device = cpu}).view(sizes);
}

}  // namespace

TEST_CASE("to and from cuda keeps values, dtype and the order of dimensions", "[cuda]") {
  for (const DType dtype : kAllDTypes) {
    const Tensor x = counting({2, 3, 4}, int64).to(dtype);
    const Tensor moved = x.to("cuda");
    CHECK(moved.device() == kCuda);
    CHECK(moved.dtype() == dtype);
    CHECK(moved.cpu().equal(x));
  }
  const Tensor x = counting({2, 3, 4}).permute({2, 0, 1});
  CHECK(x.cuda().strides() == x.strides());
  CHECK(x.cuda().cpu().equal(x));
  CHECK(x.narrow(1, 1, 1).cuda().cpu().equal(x.narrow(1, 1, 1)));
  CHECK(counting({0, 3}).cuda().sizes() == IntSpan({0, 3}));
}

TEST_CASE("copy_ crosses devices, converts and broadcasts", "[cuda]") {
  Tensor there = zeros({2, 3}, {.dtype = float64, .device = kCuda});
  there.copy_(counting({3}, int32));
  CHECK(values(there) == Values{0, 1, 2, 0, 1, 2});

  Tensor here = zeros({2, 3}, {.dtype = int64, .device = cpu});
  here.t().copy_(there.t() * 2);
  CHECK(values(here) == Values{0, 2, 4, 0, 2, 4});

  there.select(1, 1).copy_(tensor({7.0, 8.0}, {.device = cpu}));
  CHECK(values(there) == Values{0, 7, 2, 0, 8, 2});
}

TEST_CASE("gradients come back to the device their tensor is on", "[cuda]") {
  Tensor x = tensor({1.0, 2.0}, {.device = cpu, .requires_grad = true});
  const Tensor y = x.cuda() * tensor({3.0, 4.0}, {.device = kCuda});

  y.sum().backward();

  CHECK(x.grad().device() == cpu);
  CHECK(values(x.grad()) == Values{3, 4});
}

TEST_CASE("a number on the cpu goes with cuda tensors, and so does its gradient", "[cuda]") {
  const Tensor x = tensor({1.0, 2.0}, {.device = kCuda});
  const Tensor factor = tensor(3.0, {.device = cpu, .requires_grad = true});

  (x * factor).sum().backward();

  CHECK(factor.grad().device() == cpu);
  CHECK(factor.grad().item<double>() == 3);
}

TEST_CASE("operands on different devices are refused with both devices", "[cuda][S32][S166][S169]") {
  const Tensor here = ones({2}, {.device = cpu}), there = ones({2}, {.device = kCuda});

  const std::string message = message_of<DeviceError>([&] { here + there; });

  CHECK(contains(message, "cuda:0"));
  CHECK(contains(message, "on cpu"));
  CHECK(contains(message_of<DeviceError>([&] { (void)there.data<float>(); }), "copy it with x.to(taper::cpu)"));
}

TEST_CASE("waits for cuda are counted by their cause", "[cuda][S130][S131]") {
  const Tensor x = ones({4}, {.device = kCuda});
  cuda::reset_sync_counts();

  const Tensor y = (x + 1).mul(2);
  CHECK(cuda::sync_count() == 0);
  CHECK(y.sum().item<float>() == 16);
  CHECK(values(y.cpu()) == Values(4, 4));
  CHECK(cuda::sync_count() == 2);
  CHECK_FALSE(to_string(y).empty());
  CHECK(cuda::sync_count() == 3);
  cuda::synchronize();

  std::uint64_t items = 0, copies = 0;
  for (const cuda::SyncCount& c : cuda::sync_counts()) {
    if (c.cause == "item") items += c.times;
    if (c.cause == "copy to cpu") copies += c.times;
  }
  CHECK(items == 1);
  CHECK(copies == 2);
  CHECK(cuda::sync_count() == 4);
}

TEST_CASE("ForbidSync turns a wait into an error that names its cause", "[cuda][S130]") {
  const Tensor x = ones({4}, {.device = kCuda});
  const cuda::ForbidSync forbidden;

  const Tensor y = x * 2;
  CHECK(contains(message_of<cuda::SyncError>([&] { y.sum().item<float>(); }), "item: would make the host wait"));
  CHECK_THROWS_AS(y.cpu(), cuda::SyncError);
  CHECK_THROWS_AS(cuda::synchronize(), cuda::SyncError);
}

TEST_CASE("non_blocking copies from and to pinned memory do not wait", "[cuda][S129]") {
  const Tensor source = counting({1000}).pin_memory();
  Tensor back;
  {
    const cuda::ForbidSync forbidden;
    const Tensor there = source.to(kCuda, {.non_blocking = true});
    back = zeros({1000}, {.device = cpu}).detach();
    Tensor twice = there * 2;
    Tensor other = empty({1000}, {.device = kCuda});
    other.copy_(source, /*non_blocking=*/true);
    back = Tensor();
    (void)twice;
  }
  Tensor target = zeros({1000}, {.device = cpu}).pin_memory();
  target.copy_(source.cuda() * 3, /*non_blocking=*/true);
  cuda::current_stream().synchronize();
  CHECK(target.equal(source * 3));
}

TEST_CASE("streams run their own work in order, and events order streams", "[cuda][S137]") {
  const cuda::Stream side;
  CHECK(side.device() == kCuda);
  CHECK_FALSE(side == cuda::current_stream());
  const Tensor x = ones({5000}, {.device = kCuda});
  cuda::Event ready;
  Tensor y = x * 2;
  ready.record();
  Tensor z;
  {
    const cuda::StreamGuard guard(side);
    CHECK(cuda::current_stream() == side);
    ready.wait();
    z = y + 1;
  }
  CHECK(cuda::current_stream() == cuda::default_stream());
  cuda::current_stream().wait_stream(side);
  CHECK(values(z + y) == Values(5000, 5));
  CHECK(ready.query());
}

TEST_CASE("events measure time between two points of a stream", "[cuda]") {
  cuda::Event begin(true), end(true);
  const Tensor x = ones({1000}, {.device = kCuda});
  begin.record();
  const Tensor y = x + x;
  end.record();
  end.synchronize();

  CHECK(begin.elapsed_time(end) >= 0);
  cuda::Event plain;
  CHECK_THROWS_AS(plain.elapsed_time(end), ValueError);
}

TEST_CASE("a device that is not there is refused by name", "[cuda][S125]") {
  const int n = cuda::device_count();
  const std::string message = message_of<DeviceError>([&] { empty({2}, {.device = Device(DeviceType::CUDA, n)}); });

  CHECK(contains(message, "there is no cuda:" + std::to_string(n)));
}

TEST_CASE("tensors on cuda print their values and their device", "[cuda]") {
  CHECK(to_string(tensor({1.0, 2.0}, {.device = kCuda})) == "tensor([1., 2.], device=cuda:0)");
}

TEST_CASE("more dimensions than a cuda kernel takes are walked in parts", "[cuda]") {
  IntVec sizes(11, 2), order(11);
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = std::int64_t(d % 2 == 0 ? d / 2 : 10 - d / 2);
  const Tensor x = counting(sizes), y = x.permute(order);

  CHECK((x.cuda() + y.cuda()).cpu().equal(x + y));
}

TEST_CASE("a model on cuda refuses an input on the cpu, naming every operand", "[cuda][S126][S127][S132]") {
  nn::Linear model(3, 2);
  model.to(kCuda);
  const Tensor x = ones({1, 3}, {.device = cpu});
  const std::string message = full_message_of<DeviceError>([&] { model(x); });

  for (const char* part : {"x float32[1, 3] on cpu", "weight float32[2, 3] on cuda:0", "bias float32[2] on cuda:0"})
    CHECK(contains(message, part));
  CHECK(contains(message_of<DeviceError>([&] { (void)x.cuda().data<float>(); }), "copy it with x.to(taper::cpu)"));
}

TEST_CASE("device_report lists parameters and buffers by device", "[cuda][S127]") {
  struct Model final : nn::Module {
    nn::Linear fc{2, 3};
    nn::BatchNorm1d norm{3};
    void members(nn::MemberVisitor& v) override { v("fc", fc), v("norm", norm); }
  } model;
  model.to(kCuda);
  model.norm.to(cpu);

  CHECK(model.device_report() ==
        "cuda:0: 2 parameters, 0 buffers\n"
        "  parameter fc.weight: float32[3, 2]\n"
        "  parameter fc.bias: float32[3]\n"
        "cpu: 2 parameters, 3 buffers\n"
        "  parameter norm.weight: float32[3]\n"
        "  parameter norm.bias: float32[3]\n"
        "  buffer norm.running_mean: float32[3]\n"
        "  buffer norm.running_var: float32[3]\n"
        "  buffer norm.num_batches_tracked: int64[]\n");
}

TEST_CASE("a loader delivers batches on the cpu, whatever the default device", "[cuda]") {
  const Device before = default_device();
  set_default_device(kCuda);
  data::DataLoader loader(data::TensorDataset(counting({3, 2}), counting({3})), {.batch_size = 2});
  auto batch = loader.begin();
  set_default_device(before);
  CHECK((*batch).data.equal(counting({2, 2})));
  CHECK((*batch).target.equal(counting({2})));
}

TEST_CASE("a loader can deliver batches in pinned memory", "[cuda][S134]") {
  const Tensor rows = counting({10, 3});
  data::DataLoader loader(data::TensorDataset(rows), {.batch_size = 4, .pin_memory = true});
  std::int64_t n = 0;
  for (auto& [x, target] : loader) {
    CHECK(x.is_pinned());
    CHECK_FALSE(target.defined());
    const cuda::ForbidSync forbidden;
    CHECK(x.to(kCuda, {.non_blocking = true}).device() == kCuda);
    CHECK(x.equal(rows.narrow(0, n, x.size(0))));
    n += x.size(0);
  }
  CHECK(n == 10);
  for (auto& batch : data::DataLoader(data::TensorDataset(rows), {.batch_size = 4}))
    CHECK_FALSE(batch.data.is_pinned());
}

#if __has_include(<cuemu.h>)
TEST_CASE("memory that the program pinned itself has been read when the copy to cuda returns", "[cuda]") {
  void* pinned = nullptr;
  REQUIRE(cudaHostAlloc(&pinned, 4 * sizeof(float), cudaHostAllocDefault) == cudaSuccess);
  float* numbers = static_cast<float*>(pinned);
  std::fill(numbers, numbers + 4, 1.f);

  const Tensor there = from_blob(pinned, {4}, {.dtype = float32, .device = cpu}).to(kCuda);
  std::fill(numbers, numbers + 4, 2.f);

  CHECK(values(there) == Values(4, 1));
  cudaFreeHost(pinned);
}
#endif

TEST_CASE("a quantile that is none is refused on cuda before anything runs", "[cuda]") {
  const bool before = cuda::immediate_checks();
  cuda::set_immediate_checks(false);
  const Tensor x = ones({3}, {.device = kCuda});
  CHECK(contains(message_of<ValueError>([&] { (void)x.quantile(1.5); }), "q must lie in [0, 1], got 1.5"));
  cuda::set_immediate_checks(before);
}
