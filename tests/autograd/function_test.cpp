// Operations with a derivative of the user's own.
#include <taper/autograd/function.h>
#include <taper/autograd/gradcheck.h>
#include <taper/autograd/saved_tensor_hooks.h>
#include <taper/taper.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;
using autograd::Context;
using autograd::Function;

namespace {

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }

struct Scale : Function<Scale> {
  static Tensor forward(Context& ctx, const Tensor& x, double factor) {
    CHECK_FALSE(GradMode::is_enabled());
    ctx.save_value("factor", factor);
    return x * factor;
  }
  static TensorList backward(Context& ctx, TensorList g) {
    CHECK_FALSE(ctx.needs_input_grad(1));
    return {g[0] * ctx.value<double>("factor"), Tensor()};
  }
};

struct Cube : Function<Cube> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x * x;
  }
  static TensorList backward(Context& ctx, TensorList g) {
    const Tensor x = ctx.saved_tensors()[0];
    return {g[0] * x * x * 3};
  }
};

/// Saves its own result.
struct Exp : Function<Exp> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    Tensor y = x.exp();
    ctx.save_for_backward({y});
    return y;
  }
  static TensorList backward(Context& ctx, TensorList g) { return {g[0] * ctx.saved_tensors()[0]}; }
};

/// Any mix of arguments; several results.
struct Mix : Function<Mix> {
  static inline std::vector<bool> needed;
  static TensorList forward(Context& ctx, const TensorList& ts, int power, const std::optional<Tensor>& bias,
                            const std::string& text, const Tensor& last) {
    ctx.save_for_backward({ts[0], ts[1]});
    ctx.save_value("text", text + "!");
    ctx.save_value("power", power);
    needed.clear();
    for (std::size_t i = 0; i < 6; ++i) needed.push_back(ctx.needs_input_grad(i));
    Tensor product = ts[0] * ts[1];
    if (bias) product = product + *bias;
    return {product, last * double(power)};
  }
  static TensorList backward(Context& ctx, TensorList g) {
    CHECK(ctx.value<std::string>("text") == "hi!");
    const TensorList saved = ctx.saved_tensors();
    return {g[0] * saved[1], g[0] * saved[0], Tensor(), g[0], Tensor(), g[1] * double(ctx.value<int>("power"))};
  }
};

struct AddInPlace : Function<AddInPlace> {
  static Tensor forward(Context& ctx, Tensor a, const Tensor& b, bool declare) {
    a.add_(b);
    if (declare) ctx.mark_dirty({a});
    return a;
  }
  static TensorList backward(Context&, TensorList g) { return {g[0], g[0], Tensor()}; }
};

/// Writes to its last argument: b = 3 b + a.
struct WriteSecond : Function<WriteSecond> {
  static Tensor forward(Context& ctx, const Tensor& a, Tensor b) {
    b.mul_(3).add_(a);
    ctx.mark_dirty({b});
    return b;
  }
  static TensorList backward(Context&, TensorList g) { return {g[0], g[0] * 3.0}; }
};

struct Once : Function<Once> {
  static constexpr bool once_differentiable = true;
  static constexpr const char* name = "my_square";
  static Tensor forward(Context& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x;
  }
  static TensorList backward(Context& ctx, TensorList g) {
    CHECK_FALSE(GradMode::is_enabled());
    return {g[0] * ctx.saved_tensors()[0] * 2.0};
  }
};

}  // namespace

TEST_CASE("a function with a plain argument is recorded with its own backward") {
  Tensor x = leaf({1, 2});
  Tensor y = Scale::apply(x, 2.5);
  CHECK(values(y) == Values{2.5, 5});
  CHECK(y.requires_grad());
  CHECK(std::string(y.grad_fn()->name()) == "Scale");
  y.sum().backward();
  CHECK(values(x.grad()) == Values{2.5, 2.5});

  CHECK_FALSE(Scale::apply(x.detach(), 2.0).requires_grad());
  const NoGradGuard no_grad;
  CHECK_FALSE(Scale::apply(x, 2.0).requires_grad());
}

TEST_CASE("a backward of differentiable operations can be differentiated again") {
  Tensor x = leaf({2, 3});
  Tensor g = autograd::grad({Cube::apply(x).sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(g) == Values{12, 27});
  CHECK(values(autograd::grad({g.sum()}, {x})[0]) == Values{12, 18});

  const auto check = [](auto f) {
    CHECK(autograd::gradcheck([f](const TensorList& in) { return f(in[0]); }, {leaf({0.3, -0.7})}));
    CHECK(autograd::gradgradcheck([f](const TensorList& in) { return f(in[0]); }, {leaf({0.3, -0.7})}));
  };
  check([](const Tensor& t) { return Cube::apply(t); });
  check([](const Tensor& t) { return Exp::apply(t); });
}

TEST_CASE("tensors in lists, optional ones and plain values mix; results may be several") {
  Tensor a = leaf({1, 2}), b = tensor({3, 4}, float64), bias = leaf({0, 1}), last = leaf({5, 6});
  const TensorList y = Mix::apply(TensorList{a, b}, 3, std::optional<Tensor>(bias), std::string("hi"), last);
  CHECK(values(y[0]) == Values{3, 9});
  CHECK(values(y[1]) == Values{15, 18});
  CHECK(Mix::needed == std::vector<bool>{true, false, false, true, false, true});
  (y[0].sum() + y[1].sum()).backward({}, true);
  CHECK(values(a.grad()) == Values{3, 4});
  CHECK_FALSE(b.grad().defined());
  CHECK(values(bias.grad()) == Values{1, 1});
  CHECK(values(last.grad()) == Values{3, 3});

  // A result that nothing depends on arrives as zeros.
  y[1].sum().backward();
  CHECK(values(a.grad()) == Values{3, 4});
  CHECK(values(last.grad()) == Values{6, 6});

  const TensorList z = Mix::apply(TensorList{a, b}, 3, std::optional<Tensor>(), std::string("hi"), last);
  CHECK(values(z[0]) == Values{3, 8});
}

TEST_CASE("zeros for unused results can be declined; arrays can be returned") {
  struct Two : Function<Two> {
    static std::array<Tensor, 2> forward(Context& ctx, const Tensor& x, bool materialize) {
      ctx.set_materialize_grads(materialize);
      return {x * 2, x * 3};
    }
    static TensorList backward(Context& ctx, TensorList g) {
      (void)ctx;
      return {g[1].defined() ? g[0] * 2.0 + g[1] * 3.0 : g[0] * 20.0, {}};
    }
  };
  Tensor x = leaf({1});
  Two::apply(x, true)[0].backward();
  CHECK(values(x.grad()) == Values{2});
  Two::apply(x, false)[0].backward();
  CHECK(values(x.grad()) == Values{22});
}

TEST_CASE("a declared write gives the gradients of the form without it", "[B11]") {
  Tensor x = leaf({1, 2}), b = leaf({10, 20});
  Tensor a = x * 1;
  Tensor y = AddInPlace::apply(a, b, true);
  CHECK(y.is_same(a));
  CHECK(values(a) == Values{11, 22});
  CHECK(std::string(a.grad_fn()->name()) == "AddInPlace");
  (a * 2).sum().backward();
  CHECK(values(x.grad()) == Values{2, 2});
  CHECK(values(b.grad()) == Values{2, 2});
}

TEST_CASE("an undeclared write to an argument is found", "[B11]") {
  Tensor x = leaf({1, 2}), b = leaf({10, 20});
  Tensor a = x * 1;
  CHECK(message_of<AutogradError>([&] { AddInPlace::apply(a, b, false); }) ==
        "AddInPlace: forward wrote to its argument (float64[2] on cpu) by add_() and did not say so, which would make "
        "gradients wrong; call ctx.mark_dirty({...}) with it and return it, or write to a clone()");
  // Also when the argument itself needs no gradient, and through another view of its memory.
  Tensor plain = tensor({1, 2}, float64);
  CHECK_THROWS_AS(AddInPlace::apply(plain, b, false), AutogradError);
  CHECK_THROWS_AS(AddInPlace::apply(plain.detach(), b, false), AutogradError);
  CHECK(AddInPlace::apply(plain, b, true).is_same(plain));
  CHECK(plain.requires_grad());
  // Without recording there is no gradient to go wrong.
  const NoGradGuard no_grad;
  AddInPlace::apply(a, b, false);
}

TEST_CASE("a leaf and a view of a leaf are refused as arguments to be written") {
  Tensor x = leaf({1, 2}), b = leaf({10, 20});
  CHECK(contains(message_of<AutogradError>([&] { AddInPlace::apply(x, b, true); }),
                 "AddInPlace: cannot write into a leaf"));
  CHECK(contains(message_of<AutogradError>([&] { AddInPlace::apply(x.narrow(0, 0, 2), b, true); }),
                 "cannot write into a view of a leaf"));
  // Also by a call that is not recorded.
  Tensor plain = tensor({1, 2, 3}, float64), v = plain.slice(0, 0, 2);
  plain.requires_grad_();
  CHECK(contains(message_of<AutogradError>([&] { AddInPlace::apply(v, ones({2}, float64), true); }),
                 "cannot write into a view of a leaf"));
}

TEST_CASE("a declared write to a view goes through to the base, whichever argument it is", "[B6]") {
  Tensor x = leaf({1, 2, 3}), a = leaf({10});
  Tensor base = x * 1;
  Tensor y = WriteSecond::apply(a, base.narrow(0, 1, 1));
  CHECK(values(base) == Values{1, 16, 3});
  CHECK(values(y) == Values{16});
  (base * tensor({1, 2, 4}, float64)).sum().backward();
  CHECK(values(x.grad()) == Values{1, 6, 4});
  CHECK(values(a.grad()) == Values{2});
}

TEST_CASE("a write to a view allows one result only") {
  struct WriteAndMore : Function<WriteAndMore> {
    static TensorList forward(Context& ctx, Tensor a) {
      a.mul_(2);
      ctx.mark_dirty({a});
      return {a, a * 3};
    }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 2.0 + g[1] * 6.0}; }
  };
  Tensor x = leaf({1, 2});
  Tensor h = x * 1;
  const TensorList y = WriteAndMore::apply(h);
  (y[0] + y[1]).sum().backward();
  CHECK(values(x.grad()) == Values{8, 8});
  Tensor base = x * 1;
  CHECK(contains(message_of<AutogradError>([&] { WriteAndMore::apply(base.narrow(0, 0, 1)); }), "wrote to a view"));
}

TEST_CASE("what is marked dirty must be returned, unless it needs no gradient") {
  struct Count : Function<Count> {
    static Tensor forward(Context& ctx, const Tensor& x, Tensor counter) {
      counter.add_(1);
      ctx.mark_dirty({counter});
      return x * 2;
    }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 2.0, {}}; }
  };
  Tensor x = leaf({1, 2}), counter = zeros({1});
  Count::apply(x, counter).sum().backward();
  Count::apply(x, counter.narrow(0, 0, 1));
  CHECK(counter.item<int>() == 2);
  CHECK(values(x.grad()) == Values{2, 2});
  CHECK(contains(message_of<AutogradError>([&] { Count::apply(x, x * 1); }), "not among the results"));
}

TEST_CASE("an argument returned as it is gets the function's backward and keeps its own history") {
  struct Twice : Function<Twice> {
    static Tensor forward(Context&, const Tensor& x) { return x; }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 2.0}; }
  };
  Tensor x = leaf({1, 2});
  Tensor y = Twice::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.is_alias_of(x));
  CHECK(x.is_leaf());
  CHECK_FALSE(y.is_leaf());
  y.sum().backward();
  CHECK(values(x.grad()) == Values{2, 2});

  Tensor h = x * 1;
  Tensor z = Twice::apply(h);
  CHECK(contains(message_of<AutogradError>([&] { z.mul_(2); }), "returned by a user's function"));
  CHECK(contains(message_of<AutogradError>([&] { z.narrow(0, 0, 1).mul_(2); }), "returned by a user's function"));
  h.mul_(2);
  CHECK(contains(message_of<AutogradError>([&] { z.sum().backward(); }), "by a user's function"));

  const NoGradGuard no_grad;
  CHECK_FALSE(Twice::apply(x).requires_grad());
  CHECK(x.requires_grad());
}

TEST_CASE("a view of an argument may be returned, and may not be written in place") {
  struct Head : Function<Head> {
    static Tensor forward(Context&, const Tensor& x) { return x.narrow(0, 0, 1); }
    static TensorList backward(Context&, TensorList g) { return {cat({g[0] * 5.0, zeros({1}, float64)})}; }
  };
  Tensor x = leaf({1, 2});
  Tensor y = Head::apply(x * 1);
  CHECK(values(y) == Values{1});
  CHECK(contains(message_of<AutogradError>([&] { y.mul_(2); }), "clone() it first"));
  y.sum().backward();
  CHECK(values(x.grad()) == Values{5, 0});
}

TEST_CASE("a tensor from elsewhere that forward returns keeps its history") {
  static Tensor elsewhere;
  struct Foreign : Function<Foreign> {
    static Tensor forward(Context&, const Tensor&) { return elsewhere; }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 7.0}; }
  };
  Tensor x = leaf({1}), w = leaf({2});
  elsewhere = w * 3;
  Tensor y = Foreign::apply(x);
  CHECK(std::string(elsewhere.grad_fn()->name()) == "mul");
  y.backward();
  CHECK(values(x.grad()) == Values{7});
  CHECK_FALSE(w.grad().defined());
  elsewhere = {};
}

TEST_CASE("results can be marked non-differentiable, and integers are") {
  struct Sorted : Function<Sorted> {
    static TensorList forward(Context& ctx, const Tensor& x) {
      Tensor largest = x.amax(), sign = x.sign();
      ctx.mark_non_differentiable({sign, x});
      return {largest, sign, x.argmax(), x};
    }
    static TensorList backward(Context&, TensorList g) {
      CHECK(g.size() == 4);
      CHECK(values(g[1]) == Values{0, 0});
      CHECK(g[2].dtype() == int64);
      return {g[0].expand({2})};
    }
  };
  Tensor x = leaf({1, 2});
  const TensorList y = Sorted::apply(x);
  CHECK(y[0].requires_grad());
  CHECK_FALSE(y[1].requires_grad());
  CHECK_FALSE(y[2].requires_grad());
  CHECK_FALSE(y[3].requires_grad());
  CHECK(x.requires_grad());
  y[0].backward();
  CHECK(values(x.grad()) == Values{1, 1});
}

TEST_CASE("saved arguments and results are guarded by their version") {
  Tensor x = leaf({1, 2});
  Tensor h = x * 1;
  Tensor y = Cube::apply(h);
  h.detach().zero_();
  auto text = message_of<InplaceConflictError>([&] { y.sum().backward(); });
  CHECK(contains(text, "backward of Cube"));
  CHECK(contains(text, "'argument 0'"));
  CHECK(contains(text, "zero_()"));

  Tensor e = Exp::apply(x);
  e.mul_(2);
  CHECK(contains(message_of<InplaceConflictError>([&] { e.sum().backward(); }), "'result 0'"));

  Tensor z = Cube::apply(x);
  z.sum().backward();
  CHECK(contains(message_of<AutogradError>([&] { z.sum().backward(); }), "freed by an earlier backward()"));
}

TEST_CASE("what backward returns is checked") {
  static TensorList returned;
  struct Returns : Function<Returns> {
    static Tensor forward(Context&, const Tensor& x, double) { return x * 2; }
    static TensorList backward(Context&, TensorList) { return returned; }
  };
  Tensor x = leaf({1, 2});
  const auto message = [&](TensorList r) {
    returned = std::move(r);
    return message_of<AutogradError>([&] { Returns::apply(x, 1.0).sum().backward(); });
  };
  CHECK(message({ones({2}, float64)}) ==
        "backward of Returns returned 1 gradients, but forward has 2 arguments besides the context; return one for "
        "each, undefined for those without");
  CHECK(contains(message({Tensor(), Tensor(), ones({2})}), "returned 3 gradients"));
  CHECK(message({Tensor(), ones({1})}) ==
        "backward of Returns returned a gradient (float32[1] on cpu) for argument 1, which is no tensor; return an "
        "undefined one: Tensor()");
  CHECK(message({ones({3}, float64), Tensor()}) ==
        "backward of Returns returned a gradient of shape [3] for argument 0, a tensor of shape [2]");
  CHECK(contains(message({ones({2}, int64), Tensor()}), "int64[2]"));
  CHECK_FALSE(x.grad().defined());
  // Undefined is zero, a broadcast gradient is summed, another floating dtype converted, undefined ones on top dropped.
  returned = {ones({3, 2}), Tensor(), Tensor()};
  Returns::apply(x, 1.0).sum().backward();
  CHECK(values(x.grad()) == Values{3, 3});
  CHECK(x.grad().dtype() == float64);
  returned = {Tensor(), Tensor()};
  Returns::apply(x, 1.0).sum().backward();
  CHECK(values(x.grad()) == Values{3, 3});
  returned.clear();
}

TEST_CASE("values that were not saved, or as another type, are errors") {
  struct Wrong : Function<Wrong> {
    static Tensor forward(Context& ctx, const Tensor& x, int what) {
      ctx.save_value("n", 1);
      ctx.save_value("what", what);
      return x * 1;
    }
    static TensorList backward(Context& ctx, TensorList g) {
      const int what = ctx.value<int>("what");
      if (what == 0) ctx.value<int>("m");
      if (what == 1) ctx.value<double>("n");
      if (what == 2) ctx.needs_input_grad(2);
      return {g[0], {}};
    }
  };
  Tensor x = leaf({1});
  CHECK(contains(message_of<ValueError>([&] { Wrong::apply(x, 0).backward(); }), "no value 'm'"));
  CHECK(contains(message_of<ValueError>([&] { Wrong::apply(x, 1).backward(); }), "another type"));
  CHECK(contains(message_of<IndexError>([&] { Wrong::apply(x, 2).backward(); }), "needs_input_grad(2)"));
}

TEST_CASE("a once differentiable function refuses second derivatives, and only those") {
  Tensor x = leaf({3}), w = leaf({5});
  Once::apply(x).backward();
  CHECK(values(x.grad()) == Values{6});
  // The gradient depends on x although nothing that arrived does: it must not pass for a constant.
  Tensor g = autograd::grad({Once::apply(x) + x * x * w}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(g) == Values{36});
  CHECK(
      contains(message_of<AutogradError>([&] { g.backward({}, true); }), "backward of my_square: its gradient cannot"));
  CHECK(values(autograd::grad({g}, {w})[0]) == Values{6});
}

TEST_CASE("functions of users leave no node behind", "[B83]") {
  const auto before = live_nodes();
  {
    Tensor x = leaf({1, 2});
    Tensor y = Exp::apply(x);
    Tensor a = y * 1;
    AddInPlace::apply(a, y, true);
    Tensor g = autograd::grad({a.sum()}, {x}, {}, {.create_graph = true})[0];
    Exp::apply(g);
    Cube::apply(x).sum().backward({}, true, true);
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("hooks, packed tensors and regions work with functions of users") {
  Tensor x = leaf({1, 2});
  int packed = 0;
  {
    const autograd::SavedTensorHooks hooks(
        [&](const Tensor& t) {
          ++packed;
          return t.clone();
        },
        [](const Tensor& t) { return t; });
    Exp::apply(x).log().sum().backward();
  }
  CHECK(packed == 2);
  CHECK(values(x.grad())[1] == Approx(1));
  x.zero_grad();
  autograd::checkpoint([](const Tensor& t) { return Cube::apply(Exp::apply(t)).log(); }, x).sum().backward();
  CHECK(values(x.grad())[1] == Approx(3));
}

TEST_CASE("a declared write to a view reaches the base and the function's own backward", "[B6][B11]") {
  struct ExpInPlace : Function<ExpInPlace> {
    static Tensor forward(Context& ctx, Tensor x) {
      x.exp_();
      ctx.mark_dirty({x});
      ctx.save_for_backward({x});
      return x;
    }
    static TensorList backward(Context& ctx, TensorList g) { return {g[0] * ctx.saved_tensors()[0]}; }
  };
  struct Overwrite : Function<Overwrite> {
    static Tensor forward(Context& ctx, Tensor x, const Tensor& w) {
      x.copy_(w * 2);
      ctx.mark_dirty({x});
      return x;
    }
    static TensorList backward(Context&, TensorList g) { return {Tensor(), g[0] * 2.0}; }
  };
  {
    Tensor x = leaf({1, 2});
    Tensor y = x * 1, view = y.narrow(0, 0, 1);
    const Tensor result = ExpInPlace::apply(view);
    result.sum().backward({}, true);
    CHECK(values(x.grad())[0] == Approx(std::exp(1.0)));
    CHECK(values(x.grad())[1] == 0);
    x.zero_grad();
    y.sum().backward();
    CHECK(values(x.grad())[0] == Approx(std::exp(1.0)));
    CHECK(values(x.grad())[1] == 1);
  }
  {
    Tensor x = leaf({1, 2, 3}), w = leaf({1, 1});
    Tensor base = x * 1;
    const Tensor result = Overwrite::apply(base.narrow(0, 0, 2), w);
    (result * result).sum().backward();
    CHECK(values(x.grad()) == Values{0, 0, 0});
    CHECK(values(w.grad()) == Values{8, 8});
  }
}

TEST_CASE("a view that forward looks at between its write and the new history follows the new one", "[B6][B11]") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 1, other = y.narrow(0, 0, 1);
  static thread_local Tensor seen;
  struct TripleSeen : Function<TripleSeen> {
    static Tensor forward(Context& ctx, Tensor t) {
      t.mul_(3);
      (void)seen.grad_fn();
      ctx.mark_dirty({t});
      return t;
    }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 3.0}; }
  };
  seen = other;
  TripleSeen::apply(y);
  seen = Tensor();
  other.sum().backward();
  CHECK(values(x.grad()) == Values{3, 0});
}

TEST_CASE("a result that is returned twice is one tensor") {
  struct Twice : Function<Twice> {
    static TensorList forward(Context&, const Tensor& x) {
      const Tensor y = x * 2;
      return {y, x * 3, y};
    }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 2 + g[1] * 3 + g[2] * 2}; }
  };
  Tensor x = leaf({1, 2});
  TensorList y = Twice::apply(x);
  CHECK(y[0].is_same(y[2]));
  y[0].mul_(10);  // seen by both
  (y[0] + y[1] + y[2]).sum().backward();
  CHECK(values(x.grad()) == Values{43, 43});
}

TEST_CASE("a tensor from elsewhere that forward returns cannot be written through the result", "[B1]") {
  static Tensor elsewhere;
  struct Other : Function<Other> {
    static Tensor forward(Context&, const Tensor&) { return elsewhere; }
    static TensorList backward(Context&, TensorList g) { return {g[0] * 7}; }
  };
  elsewhere = leaf({5, 6});
  Tensor x = leaf({1, 2});
  Tensor y = Other::apply(x);
  CHECK(contains(message_of<AutogradError>([&] { y.mul_(2); }), "returned by a user's function"));
  CHECK(values(elsewhere) == Values{5, 6});
  y.sum().backward();
  CHECK(values(x.grad()) == Values{7, 7});
  CHECK_FALSE(elsewhere.grad().defined());
  elsewhere = {};
}

namespace {
/// Writes to the gradient that it is given.
struct DoubledInPlace : Function<DoubledInPlace> {
  static Tensor forward(Context&, const Tensor& x) { return x * 2; }
  static TensorList backward(Context&, TensorList g) { return {g[0].mul_(2)}; }
};

/// Writes to its argument and says that the result has no gradient.
struct DoubledAndCut : Function<DoubledAndCut> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    Tensor y = x;
    y.mul_(2);
    ctx.mark_dirty({x});
    ctx.mark_non_differentiable({x});
    return x;
  }
  static TensorList backward(Context&, TensorList) { return {Tensor()}; }
};
}  // namespace

TEST_CASE("a backward that writes to the gradient it was given is refused", "[B11]") {
  const Tensor x = leaf({1, 2}), z = leaf({3, 4});
  const Tensor given = ones({2}, float64);
  CHECK(
      message_of<AutogradError>([&] { (DoubledInPlace::apply(x) + z * 1).backward(given); }) ==
      "backward of DoubledInPlace: wrote to a gradient that it was given, by mul_(), which others share; return a new "
      "tensor, as in return g * 10");
}

TEST_CASE("an argument cannot be both dirty and without gradient", "[B11]") {
  const Tensor x = leaf({1, 2}), b = x * 1;
  CHECK(
      contains(message_of<AutogradError>([&] { DoubledAndCut::apply(b); }), "is marked dirty and non-differentiable"));
}

static_assert(autograd::detail::holds_tensors<std::array<Tensor, 1>>);
static_assert(autograd::detail::holds_tensors<std::vector<std::optional<Tensor>>>);
static_assert(autograd::detail::holds_tensors<std::pair<int, TensorList>>);
static_assert(!autograd::detail::holds_tensors<std::tuple<int, std::vector<double>>>);
