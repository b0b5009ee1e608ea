// How a call finds its kernel, and the doors for other backends and other kinds of tensors.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/join.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

/// A tensor with state of its own.
struct LabelledImpl final : TensorImpl {
  LabelledImpl(const Tensor& t, int label)
      : TensorImpl(t.storage(), t.dtype(), t.impl()->geometry(), t.storage_offset()), label_(label) {
    ++alive;
  }
  ~LabelledImpl() override { --alive; }
  IntrusivePtr<TensorImpl> shallow_copy_and_detach(bool allow) const override {
    auto copy = make_intrusive<LabelledImpl>(Tensor(IntrusivePtr<TensorImpl>(const_cast<LabelledImpl*>(this))), label_);
    copy->allow_metadata_change(allow);
    return copy;
  }
  void shallow_copy_from(const TensorImpl& src) override {
    TensorImpl::shallow_copy_from(src);
    label_ = static_cast<const LabelledImpl&>(src).label_;
  }
  int label_;
  static inline int alive = 0;
};

struct OutsideMemory final : Allocator {
  DataPtr allocate(std::size_t bytes) override { return cpu_allocator().allocate(bytes); }
  const char* name() const noexcept override { return "outside"; }
};

TensorSpec infer_twice(const Tensor& x) { return x.spec(); }
void twice_on_extension(Tensor& out, const Tensor& x) {
  const auto* from = static_cast<const float*>(x.impl()->data());
  auto* to = static_cast<float*>(out.impl()->data());
  for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * from[i];
}
constinit StructuredOp<Tensor(Tensor)> twice{"twice", "x", infer_twice};

}  // namespace

TEST_CASE("a tensor's keys are its backend, and autograd once it has metadata", "[S138]") {
  Tensor t = zeros({2});
  CHECK(t.key_set() == DispatchKeySet(DispatchKey::CPU));
  t.requires_grad_();
  CHECK(t.key_set() == (DispatchKeySet(DispatchKey::CPU) | DispatchKey::Autograd));
  CHECK(contains(describe(t), "keys {CPU, Autograd}"));
  CHECK(zeros({2}, float32, meta).key_set().has(DispatchKey::Meta));
}

TEST_CASE("a call goes through autograd when any argument asks for it", "[S139]") {
  const Tensor a = ones({2});
  const Tensor b = ones({2}, {.requires_grad = true});
  CHECK((a + b).grad_fn());
  CHECK((b + a).grad_fn());
  CHECK_FALSE((a + a).grad_fn());
  const ExcludeKeysGuard below(DispatchKey::Autograd);
  CHECK_FALSE((a + b).grad_fn());
}

TEST_CASE("a subclass of the impl keeps its state and works in operations", "[S113][S141][S142][S143][S145]") {
  {
    const Tensor plain = tensor({1.0, 2.0});
    Tensor t = make_tensor<LabelledImpl>(plain, 7);
    CHECK(LabelledImpl::alive == 1);
    CHECK(values(t + plain) == Values{2, 4});
    t.requires_grad_();
    (t * t).sum().backward();
    CHECK(values(t.grad()) == Values{2, 4});

    const Tensor d = t.detach();
    CHECK(dynamic_cast<LabelledImpl*>(d.impl())->label_ == 7);
    CHECK(d.is_alias_of(t));
    CHECK_FALSE(d.requires_grad());
    CHECK(d.version() == t.version());
    Tensor frozen = d;
    CHECK_THROWS_AS(frozen.resize_({4}), Error);

    t.set_data(make_tensor<LabelledImpl>(tensor({5.0}), 9));
    CHECK(dynamic_cast<LabelledImpl*>(t.impl())->label_ == 9);
    CHECK(t.requires_grad());
    CHECK(contains(message_of<Error>([&] { t.set_data(plain); }), "kinds"));
  }
  CHECK(LabelledImpl::alive == 0);
}

TEST_CASE("a subclass of the impl that forgets to override the copies is refused when it is copied, not sliced",
          "[S144]") {
  struct Careless final : TensorImpl {
    using TensorImpl::TensorImpl;
    int state = 7;
  };
  const Tensor plain = tensor({1.0, 2.0});
  // make_tensor() would not compile; see careless_subclass.cpp.
  const Tensor t(make_intrusive<Careless>(plain.storage(), plain.dtype(), plain.impl()->geometry()));
  CHECK(contains(message_of<Error>([&] { (void)t.detach(); }), "does not override shallow_copy_and_detach()"));
  const Tensor w = ones({2}, {.requires_grad = true});
  CHECK_THROWS_AS(w * t, Error);  // which would keep it
  CHECK(contains(message_of<Error>([&] { Tensor(plain.clone()).set_data(t); }), "kinds"));
}

TEST_CASE("an out-of-tree backend brings memory and kernels of its own", "[S146]") {
  OutsideMemory memory;
  set_allocator(DeviceType::Extension, &memory);
  const Device ext(DeviceType::Extension);
  twice.set_kernel(DispatchKey::Extension, twice_on_extension);
  {
    Tensor x = empty({2}, float32, ext);
    static_cast<float*>(x.impl()->data())[0] = 1;
    static_cast<float*>(x.impl()->data())[1] = 2;
    const Tensor y = twice(x);
    CHECK(y.device() == ext);
    CHECK(static_cast<const float*>(y.data_ptr())[1] == 4);
    const auto text = message_of<NotImplementedError>([&] { (void)x.exp(); });
    CHECK(contains(text, "exp"));
    CHECK(contains(text, "extension"));
  }
  set_allocator(DeviceType::Extension, nullptr);
  CHECK_THROWS_AS(empty({2}, float32, ext), DeviceError);
  CHECK(contains(message_of<NotImplementedError>([] { (void)twice(ones({2})); }), "no kernel for cpu"));
}

TEST_CASE("operands on different devices are refused before anything is computed", "[S165][P7]") {
  const Tensor a = ones({2}), m = ones({2}, float32, meta);
  const auto text = full_message_of<DeviceError>([&] { (void)a.add(m); });
  CHECK(contains(text, "add"));
  CHECK(contains(text, "'other'"));
  CHECK(contains(text, "float32[2] on cpu"));
  CHECK(contains(text, "float32[2] on meta"));
  CHECK((m + tensor(1.0)).device() == meta);
}

TEST_CASE("an out destination is resized when empty and must match otherwise") {
  const Tensor a = tensor({1.0, 2.0}), b = tensor({10.0, 20.0});
  Tensor out = empty({0});
  add_out(out, a, b);
  CHECK(values(out) == Values{11, 22});
  CHECK(out.version() > 0);
  Tensor wrong = empty({3});
  CHECK(contains(message_of<ShapeError>([&] { add_out(wrong, a, b); }), "out is float32[3] on cpu"));
  Tensor integer = empty({2}, int64);
  CHECK_THROWS_AS(add_out(integer, a, b), DTypeError);
  const Tensor tracked = ones({2}, {.requires_grad = true});
  CHECK_THROWS_AS(add_out(out, tracked, b), AutogradError);
}

TEST_CASE("every operator says which backends it has") {
  (void)(ones({2}) + ones({2}));
  int n = 0;
  for (const OpEntry* op = OpEntry::first(); op; op = op->next()) {
    ++n;
    INFO(op->name());
    CHECK_FALSE(op->filled().empty());
  }
  CHECK(n > 20);
}

TEST_CASE("an operator without a rule refuses a tensor that requires grad", "[B44][P3]") {
  const Tensor a = ones({2}, {.requires_grad = true});
  const auto text = message_of<AutogradError>([&] { (void)twice(a + a); });
  CHECK(contains(text, "twice"));
  const NoGradGuard no_grad;
  CHECK_THROWS_AS(twice(a), NotImplementedError);  // reaches the kernel
}

TEST_CASE("an error of an operator says what every operand is", "[S165]") {
  const auto said = [](auto&& f) {
    const std::string message = full_message_of<Error>(f);
    const auto at = message.find("\n  operands of ");
    return at == std::string::npos ? "nothing" : message.substr(at + 3);
  };
  const Tensor x = zeros({4, 3}).t(), f64 = zeros({2}, float64);
  CHECK(said([&] { matmul(x, x); }) ==
        "operands of matmul: a float32[3, 4] on cpu, strides [1, 3]; b float32[3, 4] on cpu, strides [1, 3]");
  CHECK(said([&] {
          cat({x, f64, zeros({})}, 0);
        }) ==
        "operands of cat: tensors float32[3, 4] on cpu, strides [1, 3]; tensors float64[2] on cpu, strides [1]; "
        "tensors float32[] on cpu, strides []");
  CHECK(said([&] { x.view({12}); }) == "operands of view: self float32[3, 4] on cpu, strides [1, 3]");
  CHECK(said([&] { x.split_with_sizes({5}); }) ==
        "operands of split_with_sizes: self float32[3, 4] on cpu, strides [1, 3]");
  Tensor out = zeros({7});
  CHECK(said([&] { add_out(out, x, x); }) ==
        "operands of add: self float32[3, 4] on cpu, strides [1, 3]; other float32[3, 4] on cpu, strides [1, 3]");
  Tensor y = zeros({2});
  CHECK(said([&] { y.add_(x); }) ==
        "operands of add: self float32[2] on cpu, strides [1]; other float32[3, 4] on cpu, strides [1, 3]");
  CHECK(said([&] { zeros({2}, int64).add_(0.5); }) == "operands of add: self int64[2] on cpu, strides [1]");
  Tensor leaf = zeros({2});
  leaf.requires_grad_();
  CHECK(said([&] { leaf.add_(1); }) == "operands of add: self float32[2] on cpu, strides [1]");
}
