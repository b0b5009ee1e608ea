#include <taper/autograd/gradcheck.h>
#include <taper/operator.h>
#include <taper/philox.h>
#include <taper/random.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "kernels/thread_count.h"
#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

struct Moments {
  double mean = 0, std = 0, skew = 0, kurtosis = 0, min = INFINITY, max = -INFINITY;
};
template <class T>
Moments moments(const Tensor& t) {
  const std::vector<T> v = t.to_vector<T>();
  Moments m;
  for (T x : v) m.mean += double(x), m.min = std::min(m.min, double(x)), m.max = std::max(m.max, double(x));
  m.mean /= double(v.size());
  double second = 0, third = 0, fourth = 0;
  for (T x : v) {
    const double d = double(x) - m.mean;
    second += d * d, third += d * d * d, fourth += d * d * d * d;
  }
  const double n = double(v.size());
  m.std = std::sqrt(second / n);
  m.skew = third / n / std::pow(m.std, 3);
  m.kurtosis = fourth / n / std::pow(m.std, 4);
  return m;
}

template <class T>
std::vector<T> first(std::vector<T> v, std::size_t n) {
  v.resize(n);
  return v;
}

/// A [2, 3] window into a larger tensor, its columns apart.
Tensor with_gaps(DType dtype) { return zeros({4, 8}, dtype).as_strided({2, 3}, {16, 2}, 1); }

}  // namespace

// The vectors that come with Random123.
TEST_CASE("Philox 4x32-10 gives the published numbers", "[random]") {
  const auto words = [](philox::Block counter, std::uint32_t key0, std::uint32_t key1) {
    const philox::Block b = philox::block(counter, key0, key1);
    return std::vector<std::uint32_t>(b.word, b.word + 4);
  };

  CHECK(words({{0, 0, 0, 0}}, 0, 0) == std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u) ==
        std::vector<std::uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0) ==
        std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("element i of a call is the same whatever the width", "[random][B79]") {
  const auto of_width = [](std::int64_t n) {
    manual_seed(7);
    return randn({1, n}).to_vector<float>();
  };
  const std::vector<float> widest = of_width(5000);

  for (const std::int64_t n : {1, 2, 3, 7, 8, 64, 65, 1023, 1024, 1025})
    CHECK(of_width(n) == first(widest, std::size_t(n)));
}

TEST_CASE("a tensor's numbers are what philox.h says of each element", "[random][B79]") {
  Generator generator(11);
  generator.next();
  const RandomStream s{11, 1};
  const std::vector<float> f = rand({9}, {}, generator).to_vector<float>();
  generator.set_state(s);
  const std::vector<double> d = rand({9}, {.dtype = float64}, generator).to_vector<double>();
  generator.set_state(s);
  const std::vector<float> n = randn({9}, {}, generator).to_vector<float>();

  for (std::uint64_t i = 0; i < 9; ++i) {
    const std::uint32_t high = philox::high(s, i / 4).word[i % 4], low = philox::low(s, i / 4).word[i % 4];
    CHECK(f[i] == float(high >> 8) / 16777216.f);
    CHECK(d[i] == double(philox::join(high, low) >> 11) / 9007199254740992.);
    CHECK(float(d[i]) == Approx(f[i]).margin(1e-7));
    const std::uint64_t even = i & ~std::uint64_t(1);
    const auto pair =
        philox::normal_pair(philox::high(s, even / 4).word[even % 4], philox::high(s, even / 4).word[even % 4 + 1]);
    CHECK(n[i] == (i % 2 == 0 ? pair.cos : pair.sin));
  }
}

// The hash was the same with and without vector instructions and fused multiply-add, at every optimization level.
TEST_CASE("numbers have the same bits on every machine", "[random]") {
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a over whole values
  const auto add = [&](auto v) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    hash = (hash ^ bits) * 1099511628211u;
  };
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const philox::Block high = philox::high({1, 2}, i), low = philox::low({1, 2}, i);
    for (int k = 0; k < 4; k += 2) {
      const auto f = philox::normal_pair(high.word[k], high.word[k + 1]);
      add(f.sin), add(f.cos);
      const auto d =
          philox::normal_pair(philox::join(high.word[k], low.word[k]), philox::join(high.word[k + 1], low.word[k + 1]));
      add(d.sin), add(d.cos);
      add(philox::exponential(high.word[k]));
      add(philox::uniform(high.word[k]));
    }
  }

  CHECK(hash == 0x8ed40f20629c75dc);
}

TEST_CASE("the number of threads changes no bit", "[random]") {
  const auto all = [](int threads) {
    const ThreadCount guard(threads);
    manual_seed(3);
    std::vector<double> v = randn({100003}, {.dtype = float64}).to_vector<double>();
    for (const float x : rand({100003}).to_vector<float>()) v.push_back(x);
    for (const std::int64_t x : randint(-5, 1 << 20, {100003}).to_vector<std::int64_t>()) v.push_back(double(x));
    return v;
  };

  CHECK(all(1) == all(4));
}

TEST_CASE("layout in memory changes no number", "[random]") {
  for (const DType dtype : {float32, float64}) {
    manual_seed(5);
    const std::vector<double> dense = rand({2, 3}, {.dtype = dtype}).to(float64).to_vector<double>();
    manual_seed(5);
    Tensor gaps = with_gaps(dtype);
    gaps.uniform_();

    CHECK(gaps.to(float64).to_vector<double>() == dense);
    // Nothing beside the window was touched.
    CHECK(gaps.as_strided({4, 4}, {8, 2}, 0).to(float64).to_vector<double>() == std::vector<double>(16, 0));
  }
}

TEST_CASE("a large tensor of any strides is filled as a dense one", "[random]") {
  manual_seed(5);
  const std::vector<float> dense = randn({300, 70}).to_vector<float>();
  manual_seed(5);
  Tensor transposed = empty_strided({300, 70}, {1, 300});
  transposed.normal_();

  CHECK(transposed.to_vector<float>() == dense);
}

TEST_CASE("float64 numbers are the float32 ones with more digits", "[random]") {
  manual_seed(1);
  const std::vector<float> narrow = randn({1000}).to_vector<float>();
  manual_seed(1);
  const std::vector<double> wide = randn({1000}, {.dtype = float64}).to_vector<double>();

  for (std::size_t i = 0; i < 1000; ++i) CHECK(narrow[i] == Approx(wide[i]).epsilon(1e-5).margin(1e-7));
}

TEST_CASE("distributions have their moments", "[random]") {
  manual_seed(2026);
  const std::int64_t n = 400000;
  // Five standard errors of a mean of n numbers of deviation 1; other moments of a normal vary by sqrt(k!) as much.
  const double e = 5 / std::sqrt(double(n));

  for (const DType dtype : {float32, float64}) {
    const auto of = [&](const Tensor& t) { return moments<double>(t.to(float64)); };
    const Moments u = of(rand({n}, {.dtype = dtype}));
    CHECK(u.mean == Approx(0.5).margin(e * 0.29));
    CHECK(u.std == Approx(std::sqrt(1 / 12.)).margin(e * 0.2));
    CHECK(u.min >= 0);
    CHECK(u.max < 1);
    CHECK(u.max > 0.9999);
    const Moments g = of(randn({n}, {.dtype = dtype}));
    CHECK(g.mean == Approx(0).margin(e));
    CHECK(g.std == Approx(1).margin(e));
    CHECK(g.skew == Approx(0).margin(3 * e));
    CHECK(g.kurtosis == Approx(3).margin(10 * e));
    Tensor t = empty({n}, dtype);
    const Moments shifted = of(t.normal_(3, 0.5));
    CHECK(shifted.mean == Approx(3).margin(e));
    CHECK(shifted.std == Approx(0.5).margin(e));
    const Moments x = of(exponential_(t, 2));
    CHECK(x.mean == Approx(0.5).margin(e));
    CHECK(x.std == Approx(0.5).margin(2 * e));
    CHECK(x.min > 0);
  }
  Tensor t = empty({n}, uint8);
  CHECK(moments<std::uint8_t>(t.bernoulli_(0.3)).mean == Approx(0.3).margin(e));
  const Moments i = moments<std::int64_t>(randint(-3, 4, {n}));
  CHECK(i.mean == Approx(0).margin(2 * e));
  CHECK(i.min == -3);
  CHECK(i.max == 3);
  const Moments wide = moments<std::int64_t>(randint(std::int64_t(1) << 40, {n}));
  CHECK(wide.mean / std::ldexp(1, 40) == Approx(0.5).margin(e));
}

TEST_CASE("uniform_ never returns its upper end", "[random]") {
  manual_seed(0);
  Tensor t = empty({200000});
  // Between 1 and the next number there is nothing to choose.
  const float next = std::nextafter(1.f, 2.f);
  t.uniform_(1, next);
  CHECK(moments<float>(t).max == 1);
  t.uniform_(-2, -1.999999);
  CHECK(moments<float>(t).max < -1.999999f);
  t.uniform_(4, 4);
  CHECK(moments<float>(t).min == 4);
  CHECK(moments<float>(t).max == 4);
}

TEST_CASE("integers have the same values in every dtype", "[random]") {
  const auto as = [](DType dtype) {
    manual_seed(9);
    return randint(0, 100, {50}, {.dtype = dtype}).to(int64).to_vector<std::int64_t>();
  };
  const std::vector<std::int64_t> v = as(int64);

  for (const DType dtype : {uint8, int32, float32, float64}) CHECK(as(dtype) == v);
  CHECK(*std::max_element(v.begin(), v.end()) < 100);
  manual_seed(9);
  Tensor b = empty({64}, bool_);
  b.random_(0, 2);
  const auto ones = b.to(int64).to_vector<std::int64_t>();
  CHECK(std::accumulate(ones.begin(), ones.end(), std::int64_t(0)) == Approx(32).margin(16));
}

TEST_CASE("integers reach both ends of the widest range", "[random]") {
  const std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> v = randint(low, high, {1000}).to_vector<std::int64_t>();

  CHECK(*std::min_element(v.begin(), v.end()) < low / 2);
  CHECK(*std::max_element(v.begin(), v.end()) > high / 2);
}

TEST_CASE("randperm holds every index once", "[random]") {
  manual_seed(4);
  for (const std::int64_t n : {0, 1, 2, 1000, 5000}) {
    std::vector<std::int64_t> v = randperm(n).to_vector<std::int64_t>();
    if (n >= 1000) CHECK(!std::is_sorted(v.begin(), v.end()));
    std::sort(v.begin(), v.end());
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    CHECK(v == all);
  }
  CHECK(randperm(5, {.dtype = int32}).dtype() == int32);
}

TEST_CASE("randperm gives each order equally often", "[random]") {
  manual_seed(12);
  std::array<int, 6> count{};
  for (int i = 0; i < 6000; ++i) {
    const auto v = randperm(3).to_vector<std::int64_t>();
    ++count[std::size_t(v[0] * 2 + (v[1] > v[2]))];
  }

  for (const int c : count) CHECK(c == Approx(1000).margin(150));  // five standard deviations
}

TEST_CASE("the same seed gives the same numbers, the next call others", "[random]") {
  manual_seed(42);
  const auto a = rand({4}).to_vector<float>(), b = rand({4}).to_vector<float>();
  manual_seed(42);

  CHECK(rand({4}).to_vector<float>() == a);
  CHECK(rand({4}).to_vector<float>() == b);
  CHECK(a != b);
  manual_seed(43);
  CHECK(rand({4}).to_vector<float>() != a);
}

TEST_CASE("a generator goes on from a saved state", "[random]") {
  Generator generator(8);
  rand({3}, {}, generator);
  const RandomStream state = generator.state();
  const auto expected = rand({3}, {}, generator).to_vector<float>();

  Generator other;
  other.set_state(state);
  CHECK(other.seed() == 8);
  CHECK(rand({3}, {}, other).to_vector<float>() == expected);
  Generator copy(other);
  CHECK(rand({3}, {}, copy).to_vector<float>() == rand({3}, {}, other).to_vector<float>());
  CHECK_THROWS_WITH(other.set_state({0, std::uint64_t(1) << 63}), Contains("2^63"));
}

TEST_CASE("a generator of one's own leaves the default one alone", "[random]") {
  manual_seed(1);
  const auto expected = rand({2}).to_vector<float>();
  manual_seed(1);
  Generator own(99);
  rand({100}, {}, own);

  CHECK(rand({2}).to_vector<float>() == expected);
}

TEST_CASE("threads that share a generator get different streams", "[random]") {
  Generator generator(5);
  constexpr int kThreads = 4, kCalls = 2000;
  std::array<std::vector<std::uint64_t>, kThreads> taken;
  std::vector<std::thread> threads;
  for (auto& mine : taken)
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) mine.push_back(generator.next().stream);
    });
  for (auto& t : threads) t.join();

  std::vector<std::uint64_t> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  CHECK(all.size() == kThreads * kCalls);
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(generator.state().stream == kThreads * kCalls);
}

TEST_CASE("random tensors are new, and like their model", "[random]") {
  const Tensor t = rand({2, 3}, {.dtype = float64, .requires_grad = true});
  CHECK(t.dtype() == float64);
  CHECK(t.requires_grad());
  CHECK(t.is_leaf());
  CHECK(t.version() == 0);
  CHECK(t.is_contiguous());
  CHECK(t.storage()->bytes() == 48);

  const Tensor like = randn_like(t);
  CHECK(like.dtype() == float64);
  CHECK(!like.requires_grad());
  CHECK(rand_like(t, float32).dtype() == float32);
  CHECK(rand_like(empty_strided({2, 3}, {1, 2})).strides() == IntSpan{1, 2});
  CHECK(randint_like(t, 0, 3).dtype() == float64);
  CHECK(randint(3, {2}).dtype() == int64);
}

TEST_CASE("empty, 0-dim and meta tensors are random too", "[random]") {
  CHECK(rand({0, 3}).numel() == 0);
  CHECK(randn({}).dim() == 0);
  CHECK(rand({5}, {.device = meta}).device() == meta);
  Tensor t = empty({0});
  CHECK(t.normal_().numel() == 0);
  Tensor strided = zeros({4}).as_strided({0, 2}, {2, 2});
  CHECK(strided.uniform_().numel() == 0);
}

TEST_CASE("in-place random operators count as writes", "[random]") {
  Tensor t = zeros({3});
  t.uniform_();
  CHECK(t.version() == 1);
  t.normal_().bernoulli_().random_(0, 5);
  CHECK(t.version() == 4);
}

TEST_CASE("bernoulli takes a probability per element", "[random]") {
  manual_seed(6);
  const Tensor p = tensor({0.0, 1.0, 0.25});
  double sum = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto v = bernoulli(p).to_vector<float>();
    CHECK(v[0] == 0);
    CHECK(v[1] == 1);
    sum += v[2];
  }

  CHECK(sum / 4000 == Approx(0.25).margin(0.035));
  CHECK_THROWS_WITH(bernoulli(tensor({0.5, 1.5})), Contains("bernoulli") && Contains("1.5"));
  CHECK_THROWS_AS(bernoulli(tensor({NAN})), ValueError);
  CHECK_THROWS_WITH(bernoulli(tensor({1, 0})), Contains("int64[2] on cpu"));
}

TEST_CASE("what is overwritten by random numbers has gradient 0", "[random]") {
  const Tensor x = tensor({1.0, 2.0}, {.requires_grad = true});
  Tensor y = x.clone();
  y.uniform_();
  CHECK(y.requires_grad());
  y.backward(ones({2}));
  CHECK((!x.grad().defined() || x.grad().to_vector<float>() == std::vector<float>{0, 0}));

  Tensor leaf = zeros({2}, {.requires_grad = true});
  CHECK_THROWS_AS(leaf.normal_(), AutogradError);
  const NoGradGuard guard;
  leaf.normal_();
  CHECK(leaf.requires_grad());
}

TEST_CASE("wrong arguments of random operators are refused and change nothing", "[random]") {
  Tensor t = tensor({1.0, 2.0});
  Tensor i = tensor({1, 2});

  CHECK_THROWS_WITH(t.uniform_(2, 1), Contains("uniform_: the range from 2 to 1 is empty"));
  CHECK_THROWS_AS(t.uniform_(-3e38, 3e38), ValueError);
  CHECK_THROWS_AS(t.uniform_(NAN, 1), ValueError);
  CHECK_THROWS_WITH(t.normal_(0, -1), Contains("normal_: std") && Contains("-1"));
  CHECK_THROWS_WITH(t.bernoulli_(1.5), Contains("bernoulli_: p is a probability"));
  CHECK_THROWS_AS(t.bernoulli_(NAN), ValueError);
  CHECK_THROWS_WITH(exponential_(t, 0), Contains("exponential_: lambd"));
  CHECK_THROWS_WITH(i.uniform_(), Contains("uniform_") && Contains("int64"));
  CHECK_THROWS_AS(i.normal_(), DTypeError);
  CHECK_THROWS_WITH(i.random_(5, 5), Contains("random_: no integer is from 5 on and below 5"));
  CHECK_THROWS_AS(t.random_(0, (1 << 24) + 2), ValueError);
  CHECK_NOTHROW(empty({1}).random_(0, (1 << 24) + 1));
  CHECK_THROWS_WITH(randint(0, 300, {2}, {.dtype = uint8}), Contains("uint8 does not hold"));
  CHECK_THROWS_WITH(randint(3, 3, {2}), Contains("randint"));
  CHECK_THROWS_WITH(rand({2, -1}), Contains("rand: sizes [2, -1]"));
  CHECK_THROWS_WITH(rand({2}, {.dtype = int64}), Contains("rand: makes floating numbers"));
  CHECK_THROWS_AS(randperm(-1), ValueError);
  CHECK_THROWS_AS(randperm(300, {.dtype = uint8}), ValueError);
  Tensor overlapping = zeros({1}).as_strided({3}, {0});
  CHECK_THROWS_AS(overlapping.uniform_(), ShapeError);
  CHECK(t.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(i.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2});
  CHECK(t.version() == 0);
}
