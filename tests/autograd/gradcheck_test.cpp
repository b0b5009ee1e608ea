// gradcheck itself: what it finds, what it says, and what it refuses to call a success.
#include <taper/autograd/gradcheck.h>
#include <taper/autograd/hooks.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;
using autograd::AtKink;
using autograd::gradcheck;
using autograd::GradcheckOptions;
using autograd::gradgradcheck;

namespace {

Tensor leaf(const Tensor& t) { return t.to(float64).detach().requires_grad_(); }
Tensor leaf(std::initializer_list<TensorData> values) { return tensor(values, float64).requires_grad_(); }

/// x, but its gradient becomes what `wrong` makes of it.
Tensor with_gradient(const Tensor& x, Tensor (*wrong)(const Tensor& g)) {
  const Tensor y = x.mul(1);
  if (y.requires_grad()) register_hook(y, wrong);
  return y;
}

TensorList mixed(const TensorList& in) { return {in[0].mul(in[1]).sin(), in[0].sum(1).exp()}; }

}  // namespace

TEST_CASE("gradcheck takes inputs of any layout", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  CAPTURE(fast);
  const GradcheckOptions options{.fast_mode = fast};
  const Tensor base = linspace(-1, 1, 24, {.dtype = float64}).view({4, 6});
  const Tensor other = leaf(linspace(0.5, 2, 12, {.dtype = float64}).view({3, 4}));
  const Tensor inputs[] = {
      leaf(base.narrow(0, 0, 2).reshape({3, 4})),                 // contiguous
      leaf(base.narrow(1, 0, 3).t()),                             // transposed
      leaf(base.view({3, 8}).slice(1, 1, 8, 2)),                  // with steps and an offset
      leaf(base.narrow(1, 0, 1).reshape({1, 4}).expand({3, 4})),  // one row three times
      base.narrow(1, 0, 3).requires_grad_().exp().t(),            // not a leaf
  };
  for (const Tensor& x : inputs) {
    CAPTURE(describe(x));
    const Values before = values(x);
    CHECK(gradcheck(mixed, {x, other}, options));
    CHECK(gradgradcheck(mixed, {x, other}, options));
    CHECK(values(x) == before);
  }
  // Two inputs that show the same memory are two variables.
  const Tensor x = leaf(base.narrow(0, 0, 2).reshape({3, 4}));
  CHECK(gradcheck(mixed, {x, x.detach().requires_grad_()}, options));
  CHECK(gradcheck(mixed, {x, x.detach()}, options));
}

TEST_CASE("gradcheck names the derivative that is furthest off, with both values", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}});
  const auto f = [](const TensorList& in) {
    const Tensor y = with_gradient(in[0], [](const Tensor& g) {
      return g * tensor({{1.0, 1, 1}, {1, 1.5, 1}}, float64);
    });
    return y.square();
  };
  try {
    gradcheck(f, {x}, {.fast_mode = fast});
    FAIL("a wrong gradient passed");
  } catch (const GradcheckError& e) {
    CHECK(e.input == "input 0");
    CHECK(e.output == "output 0");
    CHECK(e.element == IntVec{1, 1});
    CHECK(e.output_element == IntVec{1, 1});
    CHECK(e.analytic == Approx(15));
    CHECK(e.numeric == Approx(10));
    CHECK_FALSE(e.at_kink);
    CHECK(contains(e.what(),
                   "the gradient of output 0 at [1, 1] by input 0 at [1, 1] (float64[2, 3] on cpu) is 15 but "
                   "differences say 1"));
  }
  CHECK_FALSE(gradcheck(f, {x}, {.fast_mode = fast, .raise_exception = false}));
}

TEST_CASE("fast mode finds one wrong derivative among many", "[gradcheck]") {
  const Tensor x = leaf(linspace(-1, 1, 400, {.dtype = float64}));
  const Tensor off = ones({400}, float64);
  off.select(0, 123).fill_(1.01);
  const auto f = [&](const TensorList& in) {
    const Tensor y = in[0].mul(1);
    if (y.requires_grad()) register_hook(y, [&](const Tensor& g) { return g * off; });
    return y.exp();
  };
  const auto message = message_of<GradcheckError>([&] { gradcheck(f, {x}, {.fast_mode = true}); });
  CHECK(contains(message, "by input 0 at [123]"));
}

TEST_CASE("gradcheck recognises points without a derivative", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  CAPTURE(fast);
  GradcheckOptions refuse, accept;
  refuse.fast_mode = accept.fast_mode = fast;
  accept.at_kink = AtKink::accept_between;
  const Tensor x = leaf({1.0, 0.0, -2.0});

  const auto magnitude = [](const TensorList& in) { return in[0].abs(); };
  try {
    gradcheck(magnitude, {x}, refuse);
    FAIL("a kink passed");
  } catch (const GradcheckError& e) {
    CHECK(e.at_kink);
    CHECK(e.element == IntVec{1});
    CHECK(contains(e.what(), "does not exist: the slope is -1 to the left and 1 to the right"));
  }
  CHECK(gradcheck(magnitude, {x}, accept));
  CHECK(gradcheck([](const TensorList& in) { return in[0].relu(); }, {x}, accept));
  // A jump: relu's slope.
  CHECK(gradcheck([](const TensorList& in) { return in[0].relu().square(); }, {x}, refuse));
  CHECK_THROWS_AS(gradgradcheck([](const TensorList& in) { return in[0].relu().square(); }, {x}, refuse),
                  GradcheckError);
  CHECK(gradgradcheck([](const TensorList& in) { return in[0].relu().square(); }, {x}, accept));
  // Not defined to the left.
  CHECK_THROWS_AS(gradcheck([](const TensorList& in) { return in[0].abs().add(in[0]).sqrt(); }, {x}, refuse),
                  GradcheckError);

  // A choice that is no choice is wrong at a kink too.
  const auto beyond = [](const TensorList& in) {
    return with_gradient(in[0], [](const Tensor& g) { return g + 1.5; }).abs();
  };
  CHECK(contains(message_of<GradcheckError>([&] { gradcheck(beyond, {leaf({0.0})}, accept); }),
                 "is 1.5, which is not between the slopes to the left, -1, and to the right, 1"));
}

TEST_CASE("a function that bends sharply has a derivative all the same", "[gradcheck]") {
  const Tensor x = leaf({0.0, 1e-3});
  CHECK(gradcheck([](const TensorList& in) { return in[0].square().mul(1e6); }, {x}));
  CHECK(gradcheck([](const TensorList& in) { return in[0].square().mul(1e6); }, {x}, {.fast_mode = true}));
}

TEST_CASE("gradcheck refuses a check that proves nothing", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  const GradcheckOptions options{.fast_mode = fast};
  const auto identity = [](const TensorList& in) { return in[0].mul(1); };
  const Tensor x = leaf({1.0, 2.0});
  const auto message = [&](const auto& f, const TensorList& in) {
    return message_of<AutogradError>([&] { gradcheck(f, in, options); });
  };

  CHECK(contains(message(identity, {tensor({1.0}, float64)}), "no input requires grad"));
  CHECK(contains(message([](const TensorList& in) { return in[0].argmax(); }, {x}), "no floating output element"));
  CHECK(contains(message(identity, {leaf(zeros({0, 3}))}), "no floating output element"));
  CHECK(
      contains(message([](const TensorList& in) { return in[0].sum() + 1; }, {leaf(zeros({0, 3}))}), "has an element"));
  // A layer that lets no gradient through: nothing behind it is checked.
  CHECK(contains(message([](const TensorList& in) { return in[0].sin().mul(0); }, {x}),
                 "every derivative by input 0 (float64[2] on cpu) is zero, which proves nothing"));
  CHECK(contains(
      message([](const TensorList& in) { return in[0].exp() + in[1].sin().floor(); }, {x, x.detach().requires_grad_()}),
      "every derivative by input 1"));
  CHECK(gradcheck([](const TensorList& in) { return in[0].floor(); }, {leaf({1.5, 2.5})},
                  {.fast_mode = fast, .allow_zero = true}));
  // One whose gradient is zero though its result is not constant.
  CHECK(contains(
      message([](const TensorList& in) { return with_gradient(in[0], [](const Tensor& g) { return g * 0; }); }, {x}),
      "is 0 but differences say"));
  CHECK(contains(message([](const TensorList& in) { return in[0].detach().exp(); }, {x}), "does not require grad"));
}

TEST_CASE("gradcheck refuses inputs that it cannot judge", "[gradcheck]") {
  const auto f = [](const TensorList& in) { return in[0].exp(); };
  CHECK(contains(message_of<DTypeError>([&] { gradcheck(f, {ones({2}, {.requires_grad = true})}); }),
                 "input 0 must be float64, got float32[2] on cpu"));
  const Tensor x = leaf({1.0, 2.0});
  CHECK(contains(message_of<ValueError>([&] { gradcheck(f, {x, x}); }), "input 1 is input 0 as well"));
  CHECK(contains(message_of<ValueError>([&] { gradcheck(f, {x}, {.parameters = {x.detach().requires_grad_()}}); }),
                 "parameter 0 (float64[2] on cpu) must be a leaf whose memory"));
}

TEST_CASE("gradcheck finds functions and gradients that are not the same every time", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  const Tensor x = leaf({1.0, 2.0, 3.0});
  CHECK(contains(message_of<AutogradError>([&] {
                   gradcheck([](const TensorList& in) { return dropout(in[0]) + rand({3}); }, {x}, {.fast_mode = fast});
                 }),
                 "two calls of the function with the same inputs disagree"));
  CHECK(gradcheck(
      [](const TensorList& in) {
        manual_seed(3);
        return dropout(in[0]);
      },
      {x}, {.fast_mode = fast}));

  int calls = 0;
  const auto drifting = [&](const TensorList& in) {
    const Tensor y = in[0].mul(1);
    if (y.requires_grad()) register_hook(y, [&](const Tensor& g) { return g * (1 + 1e-9 * ++calls); });
    return y.exp();
  };
  CHECK(contains(message_of<AutogradError>([&] { gradcheck(drifting, {x}, {.fast_mode = fast}); }),
                 "two backward passes over one graph disagree"));
  calls = 0;
  CHECK(gradcheck(drifting, {x}, {.nondet_tol = 1e-6, .fast_mode = fast}));
}

TEST_CASE("gradcheck sets an input back when the function throws", "[gradcheck]") {
  const Tensor x = leaf({1.0, 2.0});
  int calls = 0;
  const auto f = [&](const TensorList& in) {
    check<ValueError>(++calls < 4, "enough");
    return in[0].exp();
  };
  CHECK_THROWS_AS(gradcheck(f, {x}), ValueError);
  CHECK(values(x) == Values{1, 2});
}

TEST_CASE("gradgradcheck finds a backward pass that is right but cannot be differentiated", "[gradcheck]") {
  const bool fast = GENERATE(false, true);
  const GradcheckOptions options{.fast_mode = fast};
  const Tensor x = leaf({1.0, 2.0});
  const auto f = [](const TensorList& in) {
    const Tensor x_now = in[0], y = x_now.detach().mul(x_now.detach());
    // 2 x g by hand, from a constant x.
    const Tensor carrier = x_now.mul(1);
    if (carrier.requires_grad())
      register_hook(carrier, [twice = x_now.detach() * 2](const Tensor& g) { return g * twice; });
    return y + carrier - carrier.detach();
  };
  CHECK(gradcheck(f, {x}, options));
  try {
    gradgradcheck(f, {x}, options);
    FAIL("a gradient without history passed");
  } catch (const GradcheckError& e) {
    CHECK(e.input == "input 0");
    CHECK(e.output == "the gradient of input 0");
    CHECK(e.analytic == 0);
  }
  CHECK(gradgradcheck([](const TensorList& in) { return in[0] * 3; }, {x}, options));
  CHECK(contains(message_of<AutogradError>(
                     [&] { gradgradcheck([](const TensorList& in) { return in[0].mul(0); }, {x}, options); }),
                 "every derivative"));
}
