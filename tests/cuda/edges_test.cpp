// Values and shapes at the edges of what CUDA kernels look at: each of these is the only test that notices when one
// place in a kernel is wrong. tests/cuda/mutate finds such places.
#include <taper/autograd/engine.h>
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/nn/optim.h>
#include <taper/operator.h>
#include <taper/ops/conv.h>
#include <taper/ops/dropout.h>
#include <taper/ops/embedding.h>
#include <taper/ops/index.h>
#include <taper/ops/loss.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/reduce.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>
#include <taper/philox.h>
#include <taper/random.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");
const TensorOptions kHere{.device = cpu};
constexpr double kInf = std::numeric_limits<double>::infinity();

struct ChecksLater {
  const bool before = cuda::immediate_checks();
  ChecksLater() { cuda::set_immediate_checks(false); }
  ~ChecksLater() { cuda::set_immediate_checks(before); }
};

Tensor here(const Tensor& t) { return t.cpu(); }
Tensor there(const Tensor& t) { return t.to(kCuda); }

/// What f makes of tensors on the cpu and of the same on cuda is the same, bit for bit.
template <class F, class... T>
bool same_on_cuda(F f, const T&... t) {
  return f(there(t)...).cpu().equal(f(t...));
}

}  // namespace

TEST_CASE("the mean of integers that meet at a cuda position is rounded down, also below zero", "[cuda]") {
  const Tensor at = tensor({0, 0, 1, 1, 2, 3, 3, 3}, kHere), zero = zeros({4}, kHere);
  for (const DType d : {int64, int32, int8, uint8}) {
    const Tensor values =
        (d == uint8 ? tensor({2, 4, 3, 4, 9, 1, 2, 4}, kHere) : tensor({-2, -4, -3, -4, -9, 1, 2, 3}, kHere)).to(d);
    CHECK(same_on_cuda([](auto z, auto i, auto v) { return scatter_reduce(z, 0, i, v, "mean", false); }, zero.to(d), at,
                       values));
  }
}

TEST_CASE("one wrong position of several makes a cuda read 0 and a write nothing, whichever it is", "[cuda]") {
  const ChecksLater later;
  const Tensor x = there(tensor({{1., 2., 3.}, {4., 5., 6.}}, kHere));
  const Tensor bad = there(tensor({1, 9}, kHere)), good = there(tensor({0, 1}, kHere));
  for (const bool first : {false, true}) {
    INFO("the first index is wrong: " << first);
    const Tensor row = first ? bad : good, column = first ? good : bad;
    Tensor y = x.clone();
    index_put_(y, {row, column}, there(tensor({7., 8.}, kHere)));
    CHECK_THROWS_AS(cuda::synchronize(), IndexError);
    CHECK(values(y) == (first ? Values{1, 2, 3, 7, 5, 6} : Values{1, 7, 3, 4, 5, 6}));
    index_put_(y, {row, column}, there(tensor({10., 10.}, kHere)), true);
    CHECK_THROWS_AS(cuda::synchronize(), IndexError);
    CHECK(values(y) == (first ? Values{1, 2, 3, 17, 5, 6} : Values{1, 17, 3, 4, 5, 6}));
    const Tensor read = x.index({row, column});
    CHECK_THROWS_AS(cuda::synchronize(), IndexError);
    CHECK(values(read) == (first ? Values{4, 0} : Values{2, 0}));
  }
}

TEST_CASE("a negative row of an embedding is out of range on cuda", "[cuda]") {
  const ChecksLater later;
  const Tensor rows = embedding(there(ones({2, 2}, kHere)), there(tensor({1, -1}, kHere)));
  CHECK(contains(message_of<IndexError>([] { cuda::synchronize(); }), "-1"));
  CHECK(values(rows) == Values{1, 1, 0, 0});
}

TEST_CASE("targets that are no class get no gradient on cuda and do not weigh", "[cuda]") {
  const ChecksLater later;
  const Tensor weight = there(tensor({1., 2., 4.}, kHere));
  for (const std::int64_t count : {4, 5000})  // what weighs is found by every block, or by a kernel of its own
    for (const std::int64_t wrong : {-1, 3}) {
      INFO(count << " targets, one of them " << wrong);
      Tensor target = zeros({count}, TensorOptions{.dtype = int64, .device = cpu});
      target[1].fill_(wrong);
      Tensor x = there(zeros({count, 3}, kHere)).requires_grad_();
      const Tensor loss = cross_entropy(x, there(target), {.weight = weight});
      loss.backward();
      CHECK_THROWS_AS(cuda::synchronize(), IndexError);
      const Tensor gradient = here(x.grad());
      CHECK(gradient[1].abs().sum().item<double>() == 0);
      CHECK(gradient[0][0].item<double>() == Approx(-2. / 3 / double(count - 1)));
    }
}

TEST_CASE("without weight decay an infinite parameter stays infinite on cuda", "[cuda]") {
  const auto stays = [](Tensor p, auto&& optimizer) {
    p.set_grad(there(tensor({1., 1.}, kHere)));
    optimizer.step();
    return values(p)[0] == kInf;
  };
  const Tensor p = there(tensor({kInf, 1.}, kHere)).requires_grad_();
  CHECK(stays(p, optim::SGD({p}, {.lr = 0.1})));
  CHECK(stays(p, optim::Adam({p}, {.lr = 0.1})));
}

TEST_CASE("a gradient of NaN stays in amsgrad's largest square on cuda", "[cuda]") {
  Tensor p = there(tensor({1., 1.}, kHere)).requires_grad_();
  optim::Adam optimizer({p}, {.lr = 0.1, .amsgrad = true});
  for (const double g : {1., std::numeric_limits<double>::quiet_NaN(), 1.}) {
    p.set_grad(there(tensor({g, 1.}, kHere)));
    optimizer.step();
  }
  const Values largest = values(optimizer.state_dict().at("state.0.max_exp_avg_sq"));
  CHECK(std::isnan(largest[0]));
  CHECK_FALSE(std::isnan(largest[1]));
}

TEST_CASE("of elements that are all minus infinity cuda chooses the first under the window", "[cuda]") {
  const Tensor x = full({1, 1, 3, 3}, -kInf, kHere);
  const MaxPool2dOptions options{.stride = 2, .padding = 1};
  CHECK(same_on_cuda([&](auto t) { return max_pool2d_with_indices(t, 3, options).second; }, x));
  CHECK(same_on_cuda(
      [&](const Tensor& t) {
        const Tensor leaf = t.detach().requires_grad_();
        max_pool2d(leaf, 3, options).backward(ones({1, 1, 2, 2}, TensorOptions{.device = t.device()}));
        return leaf.grad();
      },
      x));
}

TEST_CASE("a window that sees only padding chooses nothing on cuda, in second derivatives too", "[cuda]") {
  struct Case {
    std::int64_t h, w, kernel;
  };
  for (const Case c : {Case{1, 4, 2}, Case{4, 1, 2}, Case{1, 300, 20}})  // windows of up to 256 elements, and larger
    for (const bool last : {false, true}) {
      INFO(c.h << " x " << c.w << (last ? ", channels last" : ""));
      const IntPair kernel = c.kernel == 2 ? IntPair(2) : IntPair(2, 140);
      const MaxPool2dOptions options{.stride = 1, .padding = {1, c.kernel == 2 ? 1 : 3}, .dilation = 2};
      const auto second = [&](const Tensor& t) {
        const Tensor x = t.detach().requires_grad_();
        const Tensor y = max_pool2d(x, kernel, options);
        const Tensor g = ones(y.sizes(), TensorOptions{.device = t.device()}).requires_grad_();
        const Tensor first = autograd::grad({y}, {x}, {g}, {.create_graph = true})[0];
        return autograd::grad({first}, {g}, {x.detach()})[0];
      };
      Tensor x =
          arange(2 * 3 * c.h * c.w, TensorOptions{.dtype = float32, .device = cpu}).add(1).view({2, 3, c.h, c.w});
      if (last) x = x.contiguous(MemoryFormat::channels_last);
      CHECK(same_on_cuda(second, x));
    }
}

TEST_CASE("convolutions with groups of few channels have the cpu's gradients on cuda", "[cuda]") {
  for (const bool last : {false, true}) {
    const auto noise = [](IntSpan sizes) { return randn(sizes, kHere); };
    manual_seed(3);
    const Tensor w = noise({6, 2, 3, 2}), b = noise({6});
    Tensor x = noise({2, 6, 5, 7});
    if (last) x = x.contiguous(MemoryFormat::channels_last);
    for (const Conv2dOptions& o :
         {Conv2dOptions{.padding = 1, .groups = 3},
          Conv2dOptions{.stride = {2, 3}, .padding = {0, 2}, .dilation = {2, 1}, .groups = 3}}) {
      const auto gradient = [&](const Tensor& image, const Tensor& weight, const Tensor& bias) {
        const Tensor leaf = image.detach().requires_grad_();
        const Tensor y = conv2d(leaf, weight, bias, o);
        y.square().sum().backward();
        return leaf.grad();
      };
      CHECK(gradient(there(x), there(w), there(b)).cpu().allclose(gradient(x, w, b), 1e-4, 1e-5));
    }
  }
}

TEST_CASE("an event happens on cuda up to the very word that its probability allows", "[cuda]") {
  const RandomStream stream{42, 7};
  Generator generator;
  const DefaultGeneratorGuard guard(generator);
  const auto restart = [&] { generator.set_state(stream); };
  const std::uint32_t word = philox::high(stream, 0).word[0];
  const double below = double(word) * 0x1p-32, at = (double(word) + 1) * 0x1p-32;  // it happens from `at` on
  const TensorOptions doubles{.dtype = float64, .device = kCuda};

  for (const double p : {below, at}) {
    const double happens = p == at ? 1 : 0;
    INFO((happens != 0 ? "likely enough" : "not likely enough"));
    restart();
    CHECK(values(zeros({4}, doubles).bernoulli_(p))[0] == happens);
    restart();
    CHECK(values(bernoulli(full({4}, p, doubles)))[0] == happens);
    restart();
    CHECK((values(dropout(ones({4}, doubles), 1 - p))[0] != 0) == (happens != 0));
  }
}

TEST_CASE("an event of probability 0 does not happen on cuda with the smallest word either", "[cuda]") {
  const RandomStream stream{0, 371492825};
  REQUIRE(philox::high(stream, 0).word[1] == 0);
  Generator generator;
  const DefaultGeneratorGuard guard(generator);
  generator.set_state(stream);
  CHECK(values(zeros({4}, {.device = kCuda}).bernoulli_(0))[1] == 0);
}

TEST_CASE("on cuda probabilities of 0 and 1 leave nothing to chance, and others are found wrong", "[cuda]") {
  const ChecksLater later;
  CHECK(values(zeros({9}, {.device = kCuda}).bernoulli_(0)) == Values(9, 0));
  CHECK(values(bernoulli(there(tensor({0., 1., 0., 1.}, kHere)))) == Values{0, 1, 0, 1});
  for (const double p : {-0.5, 1.5}) {
    const Tensor wrong = bernoulli(there(tensor({1., p}, kHere)));
    CHECK_THROWS_AS(cuda::synchronize(), ValueError);
    CHECK(values(wrong) == Values{1, 0});
  }
}

TEST_CASE("cuda kernels take operands with as many dimensions as they have room for", "[cuda]") {
  const auto cube = [](int rank) { return randn(std::vector<std::int64_t>(std::size_t(rank), 3), kHere); };
  const auto with_gaps = [](Tensor x) {
    for (std::int64_t d = 0; d < x.dim(); ++d) x = x.narrow(d, 0, 2);
    return x;
  };
  CHECK(same_on_cuda([&](auto t) { return with_gaps(t).triu(); }, cube(8)));
  CHECK(same_on_cuda([&](auto t) { return with_gaps(t).amax(); }, cube(8)));
  CHECK(same_on_cuda([&](auto t) { return with_gaps(t).amax(8); }, cube(9)));
  CHECK(same_on_cuda([&](auto t) { return std::get<0>(with_gaps(t).cummax(0)); }, cube(9)));
}

TEST_CASE("of equals that different lanes of a cuda warp have found the first counts", "[cuda]") {
  Tensor x = zeros({2, 1000}, kHere);
  for (const std::int64_t at : {8, 16, 24, 300}) x[0][at].fill_(1), x[1][at].fill_(-1);
  CHECK(values(there(x).argmax(1))[0] == 8);
  CHECK(values(there(x).argmin(1))[1] == 8);
}

TEST_CASE("a norm by the largest or smallest size is NaN on cuda where an element is", "[cuda]") {
  const Tensor x = there(tensor({2., std::nan(""), 3.}, kHere));
  CHECK(std::isnan(x.norm(kInf).item<double>()));
  CHECK(std::isnan(x.norm(-kInf).item<double>()));
}

TEST_CASE("an infinite factor of a recurrence makes infinity on cuda", "[cuda]") {
  CHECK(same_on_cuda([](auto x, auto factor) { return ops::recurrence(x, factor, std::int64_t{0}); },
                     tensor({1., 1., 2., 3.}, kHere), tensor({2., kInf, kInf, 2.}, kHere)));
}

TEST_CASE("the largest integer is no NaN to a median on cuda", "[cuda]") {
  for (const DType d : {int32, int64}) {
    const std::int64_t most =
        d == int32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
    const Tensor x = from_vector(std::vector<std::int64_t>{most, 1, 3, most, 2}).to(d);
    CHECK(there(x).median().item<std::int64_t>() == 3);
    CHECK(std::get<0>(there(x).median(0)).item<std::int64_t>() == 3);
  }
}

TEST_CASE("a layer norm of which the bias alone wants a gradient gives it on cuda", "[cuda]") {
  const Tensor bias = there(zeros({3}, kHere)).requires_grad_();
  const Tensor x = there(tensor({{1., 2., 4.}, {0., 5., 1.}}, kHere));
  layer_norm(x, {3}, there(ones({3}, kHere)), bias).sum().backward();
  CHECK(values(bias.grad()) == Values{2, 2, 2});
}
