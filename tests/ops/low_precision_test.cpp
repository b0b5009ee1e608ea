// float16, bfloat16, int8 and int16 through the operators: computed wide, rounded once.
#include <taper/taper.h>

#include <cmath>

#include "support/catch.h"
#include "support/message.h"
#include "support/values.h"

using namespace taper;

namespace {
constexpr DType k16[] = {float16, bfloat16};

/// The operator in 16 bits is the operator in float32, rounded.
template <class F>
void check_rounded(const char* what, const Tensor& x, F f) {
  for (const DType d : k16) {
    INFO(what << " in " << name_of(d));
    const Tensor low = x.to(d), got = f(low), want = f(low.to(float32)).to(d);
    CHECK(got.dtype() == d);
    CHECK(got.strides() == want.strides());
    CHECK(values(got) == values(want));
  }
}
}  // namespace

TEST_CASE("16-bit operators compute in float32 and round once", "[S122]") {
  Generator generator(3);
  const Tensor x = randn({37, 19}, TensorOptions{}, generator);
  check_rounded("exp", x, [](const Tensor& t) { return t.exp(); });
  check_rounded("a + 3 b", x, [](const Tensor& t) { return t.add(t.flip({0}), 3); });
  check_rounded("transposed product", x, [](const Tensor& t) { return t.t() * 0.3; });
  check_rounded("clamp", x, [](const Tensor& t) { return t.clamp(-0.3, 0.7); });
  check_rounded("where", x, [](const Tensor& t) { return where(t > 0, t, -1.5); });
  check_rounded("gelu", x, [](const Tensor& t) { return gelu(t); });
  check_rounded("sum", x, [](const Tensor& t) { return t.sum(1); });
  check_rounded("strided mean", x, [](const Tensor& t) { return t.slice(0, 1, 30, 3).mean(0); });
  check_rounded("max", x, [](const Tensor& t) { return t.max(); });
  check_rounded("softmax", x, [](const Tensor& t) { return softmax(t, 1); });
  check_rounded("matmul", x, [](const Tensor& t) { return t.matmul(t.t()); });
  check_rounded("index", x, [](const Tensor& t) { return t.index({tensor({3, 1, 3})}); });
  check_rounded("expanded", x, [](const Tensor& t) { return t.select(0, 2).expand({4, 19}) * t.slice(0, 0, 4); });
}

TEST_CASE("sums of 16-bit numbers do not stop growing", "[B33][S122]") {
  CHECK(ones({1000}, bfloat16).sum().item<double>() == 1000);
  CHECK(full({3}, 40000, float16).mean().item<double>() == 40000);
  const Tensor a = full({1, 40000}, 0.5, float16);
  CHECK(a.matmul(ones({40000, 1}, float16)).item<double>() == 20000);
  Tensor counts = zeros({1}, bfloat16);
  scatter_add_(counts, 0, zeros({1000}, int64), ones({1000}, bfloat16));
  CHECK(counts.item<double>() == 1000);
}

TEST_CASE("in-place and out forms write 16-bit destinations of any layout") {
  for (const DType d : k16) {
    Tensor memory = zeros({2, 6}, d);
    Tensor view = memory.slice(1, 0, 6, 2);
    view.add_(tensor({1, 2, 3}), 0.5).mul_(2);
    CHECK(values(memory) == Values{1, 0, 2, 0, 3, 0, 1, 0, 2, 0, 3, 0});
    view.copy_(view.flip({1}));
    CHECK(values(view) == Values{3, 2, 1, 3, 2, 1});
    Tensor wide = zeros({3});
    add_out(wide, view.select(0, 0), view.select(0, 1));
    CHECK(values(wide) == Values{6, 4, 2});
    Tensor whole = zeros({2}, int64);
    CHECK_THROWS_AS(whole.add_(ones({2}, d)), DTypeError);
  }
}

TEST_CASE("16-bit gradients have the dtype of their leaf", "[S122]") {
  for (const DType d : k16) {
    Tensor x = tensor({1, 2, 3}).to(d).requires_grad_();
    Tensor w = tensor({0.5, 0.25, 2}).requires_grad_();
    (x * w).sum().backward();
    CHECK(x.grad().dtype() == d);
    CHECK(w.grad().dtype() == float32);
    CHECK(values(x.grad()) == Values{0.5, 0.25, 2});
    CHECK(values(w.grad()) == Values{1, 2, 3});
  }
}

TEST_CASE("a model trains in bfloat16, statistics and optimizer state included") {
  manual_seed(5);
  nn::Sequential model(nn::Linear(4, 8), nn::BatchNorm1d(8), nn::ReLU(), nn::Linear(8, 2));
  model.to(bfloat16);
  const Tensor x = randn({16, 4}).to(bfloat16), y = randint(0, 2, {16});
  optim::Adam adam(model.parameters(), {.lr = 0.05});
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    adam.zero_grad();
    const Tensor loss = cross_entropy(model(x), y);
    loss.backward();
    adam.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  CHECK(last < 0.5 * first);
  for (const auto& [name, t] : model.state_dict()) {
    INFO(name);
    CHECK((t.dtype() == bfloat16 || t.dtype() == int64));
  }
  CHECK(values(model.state_dict().at("1.running_var")) != Values(8, 1.0));
}

TEST_CASE("int8 and int16 count, compare and wrap") {
  const Tensor a = tensor({100, -100, 7}, int8), b = tensor({100, -100, 2}, int8);
  CHECK(values(a + b) == Values{-56, 56, 9});
  CHECK((a + tensor({1, 1, 1}, uint8)).dtype() == int16);
  CHECK(values(a.sum()) == Values{7});
  CHECK(a.sum().dtype() == int64);
  CHECK(values(a.max()) == Values{100});
  CHECK(values(tensor({300, -3}, int16).abs()) == Values{300, 3});
  CHECK(values(tensor({{1, 2}, {3, 4}}, int16).matmul(tensor({{1}, {-1}}, int16))) == Values{-1, -1});
  CHECK(values(tensor({200.7, -1.5}, float32).to(int8)) == Values{-56, -1});
}

TEST_CASE("random numbers of 16 bits stay in their range") {
  for (const DType d : k16) {
    Generator generator(1);
    Tensor x = empty({100000}, d);
    uniform_(x, 0, 1, generator);
    CHECK(x.max().item<double>() < 1);
    CHECK(x.min().item<double>() >= 0);
    CHECK(x.to(float32).mean().item<double>() == Approx(0.5).margin(0.01));
    uniform_(x, -1, 0, generator);
    CHECK(x.max().item<double>() < 0);
    CHECK(normal_(x, 1, 2, generator).to(float32).mean().item<double>() == Approx(1).margin(0.05));
    const Tensor kept = dropout(ones({1000}, d), 0.5);
    CHECK(kept.dtype() == d);
  }
}

TEST_CASE("16-bit tensors print as PyTorch's") {
  CHECK(to_string(tensor({1.5, 2}).to(bfloat16)) == "tensor([1.5000, 2.0000], dtype=bfloat16)");
  CHECK(to_string(tensor({1, 2}, int8)) == "tensor([1, 2], dtype=int8)");
}
