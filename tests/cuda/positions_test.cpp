// Positions on CUDA devices: results that are the cpu's to the last bit, and errors that do not make the host wait.
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/ops/embedding.h>
#include <taper/ops/index.h>
#include <taper/ops/loss_elementwise.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/sort.h>
#include <taper/ops/statistics.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");
const TensorOptions kHere{.device = cpu};

struct ChecksLater {
  const bool before = cuda::immediate_checks();
  ChecksLater() { cuda::set_immediate_checks(false); }
  ~ChecksLater() { cuda::set_immediate_checks(before); }
};

Tensor noise(IntSpan sizes) { return randn(sizes, kHere); }
Tensor draws(std::int64_t below, IntSpan sizes) { return randint(below, sizes, kHere); }
Tensor on_cuda(const Tensor& t) { return t.to(kCuda); }

/// What f makes of tensors on the cpu and of the same on cuda is the same, bit for bit.
template <class F, class... T>
bool same_on_cuda(F f, const T&... t) {
  return f(on_cuda(t)...).cpu().equal(f(t...));
}

}  // namespace

TEST_CASE("cuda adds at positions in the cpu's order, for any number of them", "[cuda]") {
  manual_seed(5);
  const Tensor table = noise({17, 5});
  for (const std::int64_t n : {1, 31, 33, 255, 1027, 5000}) {
    INFO("positions: " << n);
    const Tensor at = draws(17, {n}), rows = noise({n, 5});
    CHECK(same_on_cuda([](auto t, auto i, auto r) { return index_add(t, 0, i, r); }, table, at, rows));
    CHECK(same_on_cuda([](auto t, auto i, auto r) { return scatter_add(t, 0, i.unsqueeze(1).expand(r.sizes()), r); },
                       table, at, rows));
    CHECK(same_on_cuda([](auto t, auto i, auto r) { return scatter_reduce(t, 1, i, r, "mean"); }, noise({3, 17}),
                       draws(17, {3, n}), noise({3, n})));
  }
}

TEST_CASE("more long lines of positions than cuda has blocks are added up right", "[cuda]") {
  manual_seed(4);
  CHECK(same_on_cuda([](auto t, auto i, auto r) { return scatter_add(t, 1, i, r); }, noise({70, 7}),
                     draws(7, {70, 1030}), noise({70, 1030})));
}

TEST_CASE("of several writes to one cuda element the last remains, for any number of them", "[cuda]") {
  manual_seed(6);
  const Tensor table = noise({40, 3});
  for (const std::int64_t n : {1, 33, 1027, 5000}) {
    INFO("positions: " << n);
    CHECK(same_on_cuda([](auto t, auto i, auto r) { return index_copy(t, 0, i, r); }, table, draws(40, {n}),
                       noise({n, 3})));
    CHECK(same_on_cuda(
        [](auto t, auto i, auto j, auto r) {
          return index_put(t, {i, j}, r);
        },
        table, draws(40, {n, 2}), draws(3, {1, 2}), noise({n, 2})));
    CHECK(same_on_cuda([](auto t, auto i, auto r) { return scatter(t, 0, i, r); }, table, draws(40, {n, 3}),
                       noise({n, 3})));
  }
}

TEST_CASE("positions of cuda tensors may be narrow, strided, negative and many", "[cuda]") {
  manual_seed(7);
  const Tensor x = noise({6, 7, 8}), i = draws(12, {9, 4}).sub(6), j = draws(7, {4});
  CHECK(same_on_cuda([](auto t, auto a) { return t.index({a.t()}); }, x, i));
  CHECK(same_on_cuda([](auto t, auto a, auto b) { return t.index({a.to(int32), b}); }, x, i, j));
  CHECK(same_on_cuda([](auto t, auto a, auto b) { return t.index({a, Slice(), b}); }, x.transpose(1, 2), i, j));
  CHECK(same_on_cuda([](auto t, auto a) { return index_put(t, {a.t()}, t.narrow(0, 0, 1), true); }, x, i));
  CHECK(same_on_cuda([](auto t, auto b) { return t.index_select(1, b); }, x.permute({2, 1, 0}), j));
  CHECK(same_on_cuda([](auto t) { return nonzero(t.permute({2, 1, 0}).gt(0)); }, x));
  CHECK(same_on_cuda([](auto t) { return nonzero(t.reshape(-1).expand({20, 336}).gt(1)); }, x));
}

TEST_CASE("a position out of range on cuda is thrown when the host next waits", "[cuda]") {
  const ChecksLater later;
  const Tensor x = on_cuda(tensor({{1., 2., 3.}, {4., 5., 6.}}, kHere)), bad = on_cuda(tensor({1, 5}, kHere));
  Tensor read;

  {
    const cuda::ForbidSync no_waiting;
    read = x.index_select(0, bad);
  }

  const std::string message = message_of<IndexError>([&] { read.cpu(); });
  CHECK(contains(message, "index_select: index 5 is out of range for dim 0, which has size 2; cuda:0 found this"));
  CHECK(contains(message, "TAPER_CUDA_CHECKS=immediate"));
  CHECK(values(read) == Values{4, 5, 6, 0, 0, 0});  // thrown once
}

TEST_CASE("index_select, index_add and index_copy refuse negative positions on cuda as on the cpu", "[cuda]") {
  const ChecksLater later;
  const Tensor x = on_cuda(tensor({1., 2., 3.}, kHere)), bad = on_cuda(tensor({1, -1}, kHere));
  const Tensor source = on_cuda(tensor({10., 20.}, kHere));
  const auto check_refuses = [&](const std::string& op, const auto& f, const Values& without) {
    INFO(op);
    Tensor result;
    {
      const cuda::ForbidSync no_waiting;
      result = f();
    }
    CHECK(contains(message_of<IndexError>([] { cuda::synchronize(); }),
                   op + ": index -1 is out of range for dim 0, which has size 3; negative positions do not count"));
    CHECK(values(result) == without);  // reads 0, writes nothing
  };
  check_refuses("index_select", [&] { return x.index_select(0, bad); }, {2, 0});
  check_refuses("index_add", [&] { return x.index_add(0, bad, source); }, {1, 12, 3});
  check_refuses("index_add_", [&] { return x.clone().index_add_(0, bad, source); }, {1, 12, 3});
  check_refuses("index_copy", [&] { return x.index_copy(0, bad, source); }, {1, 10, 3});
  check_refuses("index_copy_", [&] { return x.clone().index_copy_(0, bad, source); }, {1, 10, 3});

  CHECK(values(x.index({bad})) == Values{2, 3});  // here they count from the end
  CHECK(values(x.take(bad)) == Values{2, 3});
  CHECK_NOTHROW(cuda::synchronize());
}

TEST_CASE("only the first of what cuda finds wrong is thrown, and writes stay inside their tensor", "[cuda]") {
  const ChecksLater later;
  Tensor x = on_cuda(zeros({4}, kHere));
  const Tensor ones_there = on_cuda(ones({3}, kHere));

  index_put_(x, {on_cuda(tensor({0, 4, 1}, kHere))}, ones_there);
  index_put_(x, {on_cuda(tensor({2, -5, 1}, kHere))}, ones_there, true);
  scatter_(x, 0, on_cuda(tensor({3, 9, -1}, kHere)), ones_there);
  embedding(on_cuda(ones({2, 2}, kHere)), on_cuda(tensor({-1}, kHere)));
  bernoulli(on_cuda(tensor({0.5, 2.0}, kHere)));

  CHECK(contains(message_of<IndexError>([] { cuda::synchronize(); }), "index_put: index 4 is out of range for dim 0"));
  CHECK_NOTHROW(cuda::synchronize());
  CHECK(values(x) == Values{1, 2, 1, 1});
  bernoulli(on_cuda(tensor({0.5, 2.0}, kHere)));
  CHECK(contains(message_of<ValueError>([] { cuda::current_stream().synchronize(); }), "one of them is 2"));
}

TEST_CASE("checks of cuda positions are immediate where that is asked for, and change nothing", "[cuda]") {
  const ChecksLater later;
  Tensor x = on_cuda(zeros({4}, kHere));
  cuda::set_immediate_checks(true);
  cuda::reset_sync_counts();

  const std::string message = message_of<IndexError>([&] {
    index_put_(x, {on_cuda(tensor({0, 4}, kHere))}, on_cuda(ones({2}, kHere)));
  });

  CHECK(contains(message, "index_put: index 4 is out of range for dim 0 of float32[4] on cuda:0, which has size 4"));
  CHECK(cuda::sync_counts()[0].cause == "check of positions");
  CHECK(values(x) == Values(4, 0));
}

TEST_CASE("numbers that an operator cannot take are found on cuda without waiting, each kind with its own words",
          "[cuda]") {
  const ChecksLater later;
  const auto there = [](std::initializer_list<TensorData> numbers) {
    return on_cuda(tensor(numbers, {.dtype = float32, .device = cpu}));
  };
  const auto check_finds = [&](const char* words, const auto& f) {
    INFO(words);
    {
      const cuda::ForbidSync no_waiting;
      f();
    }
    const std::string message = message_of<ValueError>([] { cuda::synchronize(); });
    CHECK(contains(message, words));
    CHECK(contains(message, "TAPER_CUDA_CHECKS=immediate"));
    CHECK_NOTHROW(cuda::synchronize());
  };
  const Tensor half = there({0.5, 0.5});
  check_finds("binary_cross_entropy: input must hold probabilities", [&] {
    binary_cross_entropy(there({0.5, 2}), half);
  });
  check_finds("an element is nan", [&] { binary_cross_entropy(there({0.5, std::nan("")}), half); });
  check_finds("an element is -2", [&] { binary_cross_entropy(there({0.5, -2}).to(bfloat16), half.to(bfloat16)); });
  check_finds("gaussian_nll_loss: var must hold variances, 0 or more; an element is -1", [&] {
    gaussian_nll_loss(half, half, there({1, -1}));
  });
  check_finds("normal: std must hold standard deviations", [&] { normal(half, there({1, -1})); });
  check_finds("multinomial: p must hold finite numbers, 0 or more; an element is -3", [&] {
    there({0.5, -3, 1}).multinomial(1);
  });
  check_finds("multinomial: p must hold finite numbers, 0 or more; an element is inf", [&] {
    there({0.5, std::numeric_limits<double>::infinity()}).multinomial(1);
  });
  check_finds("multinomial: each row of p must have as many elements above 0", [&] {
    there({0, 1, 0}).multinomial(2);
  });
  check_finds("quantile: q must lie in [0, 1]; an element is 1.5", [&] { half.quantile(there({0.5, 1.5})); });

  binary_cross_entropy(there({0, 1}), half);  // both ends are allowed
  there({0, 1, 0}).multinomial(1);
  CHECK_NOTHROW(cuda::synchronize());
}

TEST_CASE("a training step with an embedding does not wait for the cuda device", "[cuda]") {
  const ChecksLater later;
  const Tensor here = noise({10, 4}), at_here = draws(6, {6, 2}), choice_here = draws(4, {6, 2, 1});
  const auto step = [](const Tensor& weight, const Tensor& at, const Tensor& choice) {
    const Tensor rows = embedding(weight, at);
    const Tensor filled = index_put(rows, {at.select(1, 0)}, rows.narrow(0, 0, 1).exp());
    (rows.gather(2, choice).sum() + filled.sum()).backward();
    return weight.grad();
  };
  const Tensor weight = on_cuda(here).requires_grad_(), at = on_cuda(at_here), choice = on_cuda(choice_here);
  Tensor gradient;

  {
    const cuda::ForbidSync no_waiting;
    gradient = step(weight, at, choice);
  }

  Tensor copy = here.clone().requires_grad_();
  CHECK(gradient.cpu().allclose(step(copy, at_here, choice_here), 1e-6));
}
