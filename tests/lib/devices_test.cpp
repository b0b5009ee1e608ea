// One table of operators on every device, with and without gradients.
#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/join.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <cstring>
#include <tuple>

#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device ext(DeviceType::Extension);

/// A device whose memory only looks like another's: its kernels are the cpu's.
struct LentMemory final : Allocator {
  DataPtr allocate(std::size_t bytes) override { return cpu_allocator().allocate(bytes); }
  const char* name() const noexcept override { return "lent"; }
};

Tensor as_cpu(const Tensor& t) { return from_blob(t.impl()->data(), t.sizes(), t.strides(), {.dtype = t.dtype()}); }
TensorList as_cpu(const TensorList& ts) {
  TensorList out;
  for (const Tensor& t : ts) out.push_back(as_cpu(t));
  return out;
}
template <class T>
requires is_plain_argument<T>
const T& as_cpu(const T& v) { return v; }

/// While it lives, the operator has a kernel for the device.
template <auto& Op>
struct Lent;
template <class... Args, StructuredOp<Tensor(Args...)>& Op>
struct Lent<Op> {
  Lent() {
    Op.set_kernel(DispatchKey::Extension, [](Tensor& out, const Args&... args) {
      Tensor to = as_cpu(out);
      Op.compute(to, as_cpu(args)...);
    });
  }
  ~Lent() { Op.set_kernel(DispatchKey::Extension, nullptr); }
};

Tensor on(Device device, const Tensor& t) {
  Tensor out = empty(t.sizes(), t.dtype(), device);
  if (!device.is_meta()) std::memcpy(out.impl()->data(), t.data_ptr(), t.nbytes());
  return out;
}
/// Nothing where there are no values.
Values seen(const Tensor& t) {
  if (!t.defined() || t.device().is_meta()) return {};
  return values(t.device().is_cpu() ? t : as_cpu(t));
}

struct Case {
  const char* name;
  Tensor (*run)(const Tensor& x, const Tensor& y);
};
constexpr Case kCases[] = {
    {"add", [](const Tensor& x, const Tensor& y) { return x + y; }},
    {"mul of a row", [](const Tensor& x, const Tensor& y) { return x * y.select(0, 1); }},
    {"in place", [](const Tensor& x, const Tensor& y) { return (x * 1).mul_(y); }},
    {"in place through a view",
     [](const Tensor& x, const Tensor& y) {
       Tensor z = x * 1;
       z.t().narrow(0, 0, 2).mul_(y.t().narrow(0, 1, 2));
       return z;
     }},
    {"tanh", [](const Tensor& x, const Tensor&) { return x.tanh(); }},
    {"matmul", [](const Tensor& x, const Tensor& y) { return x.matmul(y.t()); }},
    {"sum", [](const Tensor& x, const Tensor& y) { return (x * y).sum({1}); }},
    {"cat",
     [](const Tensor& x, const Tensor& y) {
       return cat({x, y.narrow(0, 0, 1)}, 0);
     }},
    {"views",
     [](const Tensor& x, const Tensor&) {
       return x.t().unsqueeze(1).expand({3, 2, 2});
     }},
};

}  // namespace

TEST_CASE("an operator works the same on every device, with and without gradients", "[S140]") {
  LentMemory memory;
  set_allocator(DeviceType::Extension, &memory);
  {
    const std::tuple<Lent<ops::add>, Lent<ops::mul>, Lent<ops::mul_scalar>, Lent<ops::tanh>, Lent<ops::tanh_grad>,
                     Lent<ops::matmul>, Lent<ops::sum>, Lent<ops::cat>, Lent<ops::copy>, Lent<ops::fill>,
                     Lent<ops::zero>, Lent<ops::clone>, Lent<ops::contiguous>, Lent<ops::place_view>,
                     Lent<ops::read_view>>
        kernels;
    const Tensor a = tensor({{1.0, -2.0, 0.5}, {3.0, 0.25, -1.0}}), b = tensor({{2.0, 1.0, -1.0}, {0.5, 4.0, 3.0}});

    for (const Case& c : kCases) {
      const Tensor want = c.run(a, b);
      Tensor wx = a.clone().requires_grad_(), wy = b.clone().requires_grad_();
      c.run(wx, wy).sum().backward();
      for (const Device device : {Device(cpu), ext, Device(meta)}) {
        for (const bool with_grad : {false, true}) {
          INFO(c.name << " on device type " << int(device.type) << ", with grad: " << with_grad);
          Tensor x = on(device, a), y = on(device, b);
          if (with_grad) x.requires_grad_(), y.requires_grad_();
          const Tensor got = c.run(x, y);
          CHECK(got.device() == device);
          CHECK(got.sizes() == want.sizes());
          CHECK(got.requires_grad() == with_grad);
          if (!device.is_meta()) CHECK(seen(got) == values(want));
          if (!with_grad) continue;
          got.sum().backward();
          CHECK(x.grad().device() == device);
          CHECK(x.grad().sizes() == wx.grad().sizes());
          CHECK(y.grad().defined() == wy.grad().defined());
          if (device.is_meta()) continue;
          CHECK(seen(x.grad()) == values(wx.grad()));
          if (wy.grad().defined()) CHECK(seen(y.grad()) == values(wy.grad()));
        }
      }
    }
  }
  set_allocator(DeviceType::Extension, nullptr);
}
