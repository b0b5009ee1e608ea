// Products of matrices on CUDA devices: bias by cuBLASLt or by hand, and how exactly they multiply.
#include <taper/autograd/engine.h>
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/matmul_precision.h>
#include <taper/ops/conv.h>
#include <taper/ops/copy.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

#if __has_include(<cuemu.h>)  // on a real device nobody says what cuBLASLt has a kernel for
#include <cuemu.h>
#define TAPER_EMULATED 1
#endif

using namespace taper;

namespace {

const Device kCuda("cuda");

/// Numbers without a pattern, on the cpu.
Tensor wave(IntSpan sizes, double phase = 0, DType dtype = float32) {
  const std::int64_t n = SizesAndStrides::contiguous(sizes).numel();
  const Tensor i = arange(n, {.dtype = float64, .device = cpu});
  return i.mul(0.7).add(i.square().mul(1e-3)).add(phase).sin().to(dtype).view(sizes);
}
/// The largest difference, by the largest number of `want`.
double error_of(const Tensor& got, const Tensor& want) {
  const Tensor wide = want.detach().cpu().to(float64);
  return got.detach().cpu().to(float64).sub(wide).abs().max().item<double>() / wide.abs().max().item<double>();
}

struct WithPrecision {
  explicit WithPrecision(const char* name) { set_float32_matmul_precision(name); }
  ~WithPrecision() { set_float32_matmul_precision(before); }
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;
  const std::string before = get_float32_matmul_precision();
};

/// linear() of operands in all layouts, `width` features wide, and its gradients.
void check_linear(std::int64_t width) {
  const auto check = [&](const char* name, IntSpan x, IntSpan weight, IntSpan bias, const auto& f) {
    INFO(name << ", " << width << " features");
    const auto on = [&](Device device) {
      TensorList leaves;
      for (const IntSpan sizes : {x, weight, bias})
        leaves.push_back(wave(sizes, double(leaves.size())).to(device).requires_grad_());
      const Tensor y = f(leaves[0], leaves[1], leaves[2]);
      TensorList all = autograd::grad({y}, leaves, {wave(y.sizes(), 3).to(device)});
      all.push_back(y);
      return all;
    };
    const TensorList want = on(cpu), got = on(kCuda);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(got[i].sizes() == want[i].sizes());
      CHECK(error_of(got[i], want[i]) < 1e-5);
    }
  };
  using In = const Tensor&;
  const auto plain = [](In x, In w, In b) { return linear(x, w, b); };
  check("matrix", {5, width}, {9, width}, {9}, plain);
  check("vector", {width}, {9, width}, {9}, plain);
  check("batch", {2, 3, width}, {9, width}, {9}, plain);
  check("one row", {1, width}, {9, width}, {9}, plain);
  check("transposed", {width, 5}, {width, 9}, {9}, [](In x, In w, In b) { return linear(x.t(), w.t(), b); });
  check("rows of wider matrices", {5, width + 3}, {9, width + 1}, {9},
        [&](In x, In w, In b) { return linear(x.narrow(1, 1, width), w.narrow(1, 1, width), b); });
  check("a bias that starts anywhere", {5, width}, {9, width}, {11},
        [](In x, In w, In b) { return linear(x, w, b.narrow(0, 1, 9)); });
  check("a bias with a stride", {5, width}, {9, width}, {9, 2},
        [](In x, In w, In b) { return linear(x, w, b.select(1, 0)); });
  check("one bias for all", {5, width}, {9, width}, {1}, [](In x, In w, In b) { return linear(x, w, b.expand({9})); });
}

}  // namespace

TEST_CASE("linear with a bias agrees with the cpu on cuda, whoever adds the bias", "[cuda]") {
#ifdef TAPER_EMULATED
  const auto products = [] { return cuemu::stats().lt_products; };
  std::uint64_t before = products();
  check_linear(6);
  CHECK(products() == before + 7);  // all but two biases lie as cuBLASLt wants them
  cuemu::config().lt_algorithms = false;
  before = products();
  check_linear(7);  // other shapes: what has been chosen once stays
  CHECK(products() == before);
  cuemu::config().lt_algorithms = true;
  check_linear(7);
  CHECK(products() == before);
#else
  check_linear(6);
#endif
}

TEST_CASE("linear with a bias is captured into a cuda graph at its first call", "[cuda][graph]") {
  Tensor x = wave({4, 21}).to(kCuda), y;
  const Tensor w = wave({3, 21}, 1).to(kCuda), b = wave({3}, 2).to(kCuda);
  linear(wave({1, 2}).to(kCuda), wave({2, 2}).to(kCuda), wave({2}).to(kCuda));
  cuda::Graph graph;
  graph.capture([&] { y = linear(x, w, b); });
  x.copy_(wave({4, 21}, 5));
  graph.replay();
  CHECK(error_of(y, linear(wave({4, 21}, 5), w.cpu(), b.cpu())) < 1e-5);
}

TEST_CASE("float32_matmul_precision rounds the operands of products on cuda, not those on the cpu", "[cuda]") {
  struct Case {
    const char* precision;
    double most, least;  // error
  };
  const Tensor a = wave({33, 64}), b = wave({64, 20}, 1), bias = wave({20}, 2);
  const Tensor x = wave({2, 3, 90, 90}, 3), filters = wave({32, 3, 5, 5}, 4);  // too large for the direct kernel
  const Tensor exact = a.to(float64).matmul(b.to(float64)), on_cpu = a.matmul(b);
  const Tensor exact_conv = conv2d(x.to(float64), filters.to(float64));
  for (const Case& c : {Case{"highest", 1e-6, 0}, Case{"high", 1e-3, 1e-5}, Case{"medium", 1e-2, 1e-3}}) {
    INFO(c.precision);
    const WithPrecision precision(c.precision);
    CHECK(get_float32_matmul_precision() == c.precision);
    const auto check_error = [&](const Tensor& got, const Tensor& want) {
      const double error = error_of(got, want);
      CHECK(error < c.most);
#ifdef TAPER_EMULATED  // it rounds always, a device where that is faster
      CHECK(error >= c.least);
#endif
    };
    check_error(a.to(kCuda).matmul(b.to(kCuda)), exact);
    check_error(linear(a.to(kCuda), b.to(kCuda).t(), bias.to(kCuda)), exact.add(bias));
    check_error(conv2d(x.to(kCuda), filters.to(kCuda)), exact_conv);
    CHECK(error_of(a.to(kCuda).to(float64).matmul(b.to(kCuda).to(float64)), exact) < 1e-14);
    CHECK(a.matmul(b).equal(on_cpu));
  }
}
