#include <taper/factory.h>
#include <taper/nn/activation.h>
#include <taper/nn/linear.h>
#include <taper/nn/module.h>
#include <taper/nn/optim.h>
#include <taper/nn/sequential.h>
#include <taper/random.h>

#include <array>
#include <optional>
#include <sstream>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

static_assert(!std::is_copy_constructible_v<nn::Linear> && std::is_move_constructible_v<nn::Linear>);
static_assert(!std::is_copy_assignable_v<nn::Linear> && std::is_move_assignable_v<nn::Linear>);

// GCC takes the base class Module of a class with several bases for an object of its own when that class is deleted.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"
#endif

namespace {

struct Mlp final : nn::Module {
  nn::Linear fc1{4, 3}, fc2{3, 2};
  Tensor forward(const Tensor& x) override { return fc2(fc1(x).relu()); }
  void members(nn::MemberVisitor& v) override {
    v("fc1", fc1);
    v("fc2", fc2);
  }
};
static_assert(!std::is_copy_constructible_v<Mlp> && std::is_move_constructible_v<Mlp>);

std::vector<std::string> names(const std::vector<std::pair<std::string, Tensor>>& list) {
  std::vector<std::string> out;
  for (const auto& [name, t] : list) out.push_back(name);
  return out;
}
std::vector<std::string> names(const TensorDict& dict) {
  std::vector<std::string> out;
  for (const auto& [name, t] : dict) out.push_back(name);
  return out;
}

using Names = std::vector<std::string>;

/// Two layers of which the second uses the first one's weight.
struct Tied final : nn::Module {
  nn::Linear in{2, 2}, out{2, 2, {.bias = false}};
  Tied() { out.weight = in.weight; }
  void members(nn::MemberVisitor& v) override { v("in", in), v("out", out); }
};

}  // namespace

TEST_CASE("a module lists its parameters under the paths of its members") {
  Mlp net;
  CHECK(names(net.named_parameters()) == Names{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"});
  CHECK(net.parameters().size() == 4);
  CHECK(net.parameters()[0].is_same(net.fc1.weight));
  CHECK(net.fc1.weight.sizes() == IntSpan{3, 4});
  CHECK(net.fc1.weight.requires_grad());
  CHECK(net.fc1.weight.is_leaf());
  CHECK(net(ones({5, 4})).sizes() == IntSpan{5, 2});

  CHECK(names(nn::Linear(2, 3, {.bias = false}).named_parameters()) == Names{"weight"});
  CHECK(net.named_modules().size() == 3);
  CHECK(net.named_modules()[0].second == &net);
  CHECK(net.named_modules()[2].first == "fc2");
  CHECK(net.named_children()[0].second == &net.fc1);
}

TEST_CASE("a module's own tensors come before those of its children, and buffers are told apart") {
  struct Net final : nn::Module {
    nn::Linear child{1, 1};
    nn::Parameter scale{ones({1})};
    nn::Buffer mean{zeros({1})};
    Tensor mask = ones({1}), plain = ones({2}).requires_grad_();
    void members(nn::MemberVisitor& v) override {
      v("child", child);
      v("mean", mean);
      v("scale", scale);
      v.buffer("mask", mask, false);
      v.parameter("plain", plain);
    }
  } net;
  CHECK(names(net.named_parameters()) == Names{"scale", "plain", "child.weight", "child.bias"});
  CHECK(names(net.named_buffers()) == Names{"mean", "mask"});
  CHECK(net.buffers().size() == 2);
  CHECK(names(net.state_dict()) == Names{"scale", "plain", "mean", "child.weight", "child.bias"});
}

TEST_CASE("a member that members() leaves out is found wherever it lies in the module", "[P9]") {
  struct Last final : nn::Module {
    nn::Linear first{1, 1}, last{2, 3};
    void members(nn::MemberVisitor& v) override { v("first", first); }
  };
  struct First final : nn::Module {
    nn::Linear first{1, 1}, last{1, 1};
    void members(nn::MemberVisitor& v) override { v("last", last); }
  };
  struct OnlyParameter final : nn::Module {
    nn::Parameter w{ones({7})};
  };
  struct OnlyBuffer final : nn::Module {
    nn::Buffer b{ones({7})};
  };
  struct InArray final : nn::Module {
    std::array<nn::ReLU, 2> relus;
    std::optional<nn::Linear> perhaps;
    void members(nn::MemberVisitor& v) override { v("0", relus[0]); }
  };
  struct Base : nn::Module {
    nn::Linear inherited{1, 1};
    void members(nn::MemberVisitor& v) override { v("inherited", inherited); }
  };
  struct Derived final : Base {
    nn::Linear own{1, 1};
    void members(nn::MemberVisitor& v) override { v("own", own); }
  };
  struct alignas(64) Aligned final : nn::Module {
    nn::Linear first{1, 1}, last{1, 1};
    void members(nn::MemberVisitor& v) override { v("first", first); }
  };
  struct Other {
    virtual ~Other() = default;
    double numbers[5] = {};
  };
  struct Second final : Other, nn::Module {
    nn::Linear last{1, 1};
  };

  CHECK_THROWS_WITH(Last().parameters(), Contains("Last: members() leaves out the module Linear(in_features=2"));
  CHECK_THROWS_WITH(Last().parameters(), Contains("list it there"));
  CHECK_THROWS_WITH(First().named_parameters(), Contains("leaves out the module Linear"));
  CHECK_THROWS_WITH(OnlyParameter().state_dict(), Contains("leaves out a Parameter, float32[7] on cpu"));
  CHECK_THROWS_WITH(OnlyBuffer().to(float64), Contains("leaves out a Buffer, float32[7] on cpu"));
  CHECK_THROWS_WITH(InArray().train(), Contains("leaves out the module ReLU()"));
  CHECK_THROWS_WITH(Derived().parameters(), Contains("leaves out the module Linear"));
  CHECK_THROWS_WITH(Aligned().parameters(), Contains("leaves out the module Linear"));
  CHECK_THROWS_WITH(Second().parameters(), Contains("leaves out the module Linear"));
  CHECK_THROWS_WITH(optim::SGD(Last().parameters()), Contains("leaves out"));
  CHECK_THROWS_WITH(nn::to_string(Last()), Contains("leaves out"));
  const auto on_heap = std::make_unique<Last>();
  CHECK_THROWS_WITH(on_heap->parameters(), Contains("leaves out"));
  std::unique_ptr<nn::Module> second = std::make_unique<Second>(), aligned = std::make_unique<Aligned>();
  CHECK_THROWS_WITH(second->parameters(), Contains("leaves out"));
  CHECK_THROWS_WITH(aligned->parameters(), Contains("leaves out"));

  struct Outer final : nn::Module {
    nn::ReLU relu;
    Last inner;
    void members(nn::MemberVisitor& v) override { v("relu", relu), v("inner", inner); }
  };
  CHECK_THROWS_WITH(Outer().parameters(), Contains("Last: members() leaves out"));
}

TEST_CASE("neighbours of a module are not taken for its members") {
  struct Pair {
    nn::Linear a{1, 1};
    Mlp b;
    nn::Parameter c{ones({1})};
    nn::Linear d{1, 1};
  } pair;
  CHECK(pair.a.parameters().size() == 2);
  CHECK(pair.b.parameters().size() == 4);
  std::array<Mlp, 3> several;
  std::vector<Mlp> moved;
  for (Mlp& m : several) moved.push_back(std::move(m));
  for (Mlp& m : moved) CHECK(m.parameters().size() == 4);
}

TEST_CASE("what is left out on purpose says so, and what is absent need not be listed") {
  struct Student final : nn::Module {
    nn::Linear own{1, 1}, teacher{2, 2};
    nn::Parameter absent;
    nn::Buffer cache{ones({1})};
    void members(nn::MemberVisitor& v) override {
      v("own", own);
      v.skip(teacher);
      v.skip(cache);
    }
  } student;
  CHECK(names(student.named_parameters()) == Names{"own.weight", "own.bias"});
  CHECK(student.named_buffers().empty());
  student.absent = ones({3});
  CHECK_THROWS_WITH(student.parameters(), Contains("leaves out a Parameter, float32[3]"));
}

TEST_CASE("lists that make no tree are refused") {
  struct Twice final : nn::Module {
    nn::ReLU a, b;
    void members(nn::MemberVisitor& v) override { v("a", a), v("a", b); }
  };
  struct Nameless final : nn::Module {
    nn::ReLU a;
    void members(nn::MemberVisitor& v) override { v("", a); }
  };
  struct Itself final : nn::Module {
    void members(nn::MemberVisitor& v) override { v("self", *this); }
  };
  CHECK_THROWS_WITH(Twice().parameters(), Contains("lists two members as 'a'"));
  CHECK_THROWS_WITH(Nameless().parameters(), Contains("without a name"));
  CHECK_THROWS_WITH(Itself().parameters(), Contains("a module that contains this one"));
}

TEST_CASE("a tensor of two modules is one parameter with two names", "[P9]") {
  Tied net;
  CHECK(names(net.named_parameters()) == Names{"in.weight", "in.bias"});
  CHECK(names(net.state_dict()) == Names{"in.weight", "in.bias", "out.weight"});

  net.in.weight.set_grad(ones({2, 2}));
  const auto before = net.in.weight.to_vector<float>();
  optim::SGD sgd(net.parameters(), {.lr = 1});
  sgd.step();
  for (std::size_t i = 0; i < 4; ++i) CHECK(net.out.weight.to_vector<float>()[i] == before[i] - 1);
}

TEST_CASE("a clone shares nothing and keeps values, ties, dtypes and modes") {
  Tied net;
  net.to(float64);
  net.in.eval();
  net.in.bias.requires_grad_(false);
  net.in.weight.set_grad(ones({2, 2}, float64));
  const std::uint64_t drawn = default_generator().state().stream;

  Tied copy = nn::clone(net);
  CHECK(default_generator().state().stream == drawn);
  CHECK(copy.in.weight.to_vector<double>() == net.in.weight.to_vector<double>());
  CHECK_FALSE(copy.in.weight.is_alias_of(net.in.weight));
  CHECK(copy.in.weight.is_same(copy.out.weight));
  CHECK_FALSE(copy.in.is_training());
  CHECK(copy.is_training());
  CHECK(copy.in.weight.requires_grad());
  CHECK_FALSE(copy.in.bias.requires_grad());
  CHECK_FALSE(copy.in.weight.grad().defined());

  const nn::Linear layer(3, 2);
  CHECK(nn::clone(layer).weight.to_vector<float>() == layer.weight.to_vector<float>());
  CHECK(layer.clone().in_features() == 3);
}

TEST_CASE("a clone has the options of the modules in it, whatever the constructor gives them") {
  struct Net final : nn::Module {
    nn::Dropout drop;
    nn::Linear fc;
    nn::Sequential body;
    nn::Module* last;  // in body
    Net(double p = .5, std::int64_t width = 2, bool bias = true) : drop(p), fc(2, width, {.bias = bias}) {
      body.push_back(nn::Flatten(width));
      last = &body.push_back(nn::Dropout(p));
    }
    void members(nn::MemberVisitor& v) override { v("drop", drop), v("fc", fc), v("body", body); }
  };
  Net net(.9, 3, false);
  net.fc.eval();
  int calls = 0;
  net.drop.register_forward_hook([&](nn::Module&, const Tensor&, const Tensor&) { return ++calls, Tensor(); });
  Net copy = nn::clone(net);

  CHECK(nn::to_string(copy) == nn::to_string(net));
  CHECK(copy.fc.weight.to_vector<float>() == net.fc.weight.to_vector<float>());
  CHECK_FALSE(copy.fc.weight.is_alias_of(net.fc.weight));
  CHECK_FALSE(copy.fc.bias.defined());
  CHECK_FALSE(copy.fc.is_training());
  CHECK(copy.last == &copy.body[1]);
  copy.drop(ones({1}));
  CHECK(calls == 0);

  // So too where there are more layers than the constructor makes.
  net.body.push_back(nn::Linear(1, 1));
  CHECK(nn::to_string(nn::clone(net)) == nn::to_string(net));
}

TEST_CASE("a class that says how it is cloned is cloned so wherever it is a member") {
  struct Scale final : nn::Module {
    double factor;  // which nothing shows
    nn::Parameter w{ones({1})};
    explicit Scale(double f) : factor(f) {}
    void members(nn::MemberVisitor& v) override { v("w", w); }
    Scale clone() const { return nn::clone_as(*this, factor); }
  };
  struct Net final : nn::Module {
    Scale a{1}, b{1};
    nn::Linear teacher{1, 1};
    nn::Buffer cache{ones({1})};
    void members(nn::MemberVisitor& v) override { v("a", a), v("b", b), v.skip(teacher), v.skip(cache); }
  } net;
  net.a.factor = 3;
  net.b.w = net.a.w;
  const Net copy = nn::clone(net);
  CHECK(copy.a.factor == 3);
  CHECK(copy.a.w.is_same(copy.b.w));
  CHECK_FALSE(copy.a.w.is_same(net.a.w));
  CHECK(copy.teacher.weight.item<float>() == net.teacher.weight.item<float>());
  CHECK_FALSE(copy.teacher.weight.is_alias_of(net.teacher.weight));
  CHECK(copy.cache.item<float>() == 1);
}

TEST_CASE("an option that a clone would lose is an error") {
  struct Scale final : nn::Module {
    int factor;
    explicit Scale(int f = 1) : factor(f) {}
    std::string extra_repr() const override { return std::to_string(factor); }
  };
  struct Net final : nn::Module {
    Scale scale;
    explicit Net(int f = 1) : scale(f) {}
    void members(nn::MemberVisitor& v) override { v("scale", scale); }
  };
  CHECK(nn::clone(Net()).scale.factor == 1);
  CHECK_THROWS_AS(nn::clone(Net(2)), ValueError);
  CHECK_THROWS_WITH(nn::clone(Net(2)), Contains("'scale' (Scale) would be Scale(1) instead of Scale(2)"));
  CHECK_THROWS_WITH(nn::clone(Scale(2)), Contains("clone: this Scale would be Scale(1) instead of Scale(2); give its"));
}

TEST_CASE("clone leaves alone what a module shares with others") {
  static nn::Linear* everyones;
  struct Net final : nn::Module {
    void members(nn::MemberVisitor& v) override { v("shared", *everyones), v.skip(*this); }
  };
  nn::Linear shared(1, 1);
  everyones = &shared;
  const Tensor weight = shared.weight;
  CHECK(nn::clone(Net()).parameters()[0].is_same(weight));
  CHECK(shared.weight.is_same(weight));
}

TEST_CASE("a class whose constructor makes other members must clone itself") {
  struct Stack final : nn::Module {
    std::vector<nn::Linear> layers;
    void members(nn::MemberVisitor& v) override {
      for (std::size_t i = 0; i < layers.size(); ++i) v(std::to_string(i), layers[i]);
    }
  } stack;
  stack.layers.emplace_back(1, 1);
  CHECK_THROWS_WITH(nn::clone(stack), Contains("has other members than a new one"));
}

TEST_CASE("moving a module moves its tensors, so optimizers keep") {
  Mlp net;
  optim::SGD sgd(net.parameters(), {.lr = 1});
  const Tensor weight = net.fc1.weight;
  Mlp moved = std::move(net);
  CHECK(moved.fc1.weight.is_same(weight));
  CHECK(moved.parameters().size() == 4);
  moved.fc1 = nn::Linear(4, 5);
  CHECK(moved.fc1.weight.sizes() == IntSpan{5, 4});
  moved.fc1.weight = weight;
  CHECK(moved.fc1.weight.is_same(weight));
}

TEST_CASE("train and eval reach every module") {
  nn::Sequential net{nn::Dropout(), nn::Sequential{nn::ReLU(), nn::Dropout()}};
  net.eval();
  for (const auto& [name, m] : net.named_modules()) CHECK_FALSE(m->is_training());
  net.train();
  for (const auto& [name, m] : net.named_modules()) CHECK(m->is_training());
}

TEST_CASE("gradients are dropped or filled with zeros, and parameters frozen, all at once") {
  Mlp net;
  for (Tensor& p : net.parameters()) p.set_grad(ones(p.sizes()));
  net.zero_grad(false);
  CHECK(net.fc1.bias.grad().to_vector<float>() == std::vector<float>{0, 0, 0});
  net.zero_grad();
  CHECK_FALSE(net.fc1.bias.grad().defined());
  net.requires_grad_(false);
  CHECK_FALSE(net.fc2.weight.requires_grad());
}

TEST_CASE("conversion keeps identities, ties, gradients and optimizers") {
  Tied net;
  const Tensor weight = net.in.weight;
  optim::Adam adam(net.parameters(), {.lr = .1});
  for (Tensor& p : net.parameters()) p.set_grad(ones(p.sizes()));
  adam.step();

  net.to(float64);
  CHECK(net.in.weight.is_same(weight));
  CHECK(weight.dtype() == float64);
  CHECK(net.out.weight.is_same(weight));
  CHECK(weight.is_leaf());
  CHECK(weight.requires_grad());
  CHECK(weight.grad().dtype() == float64);
  const double before = weight.to_vector<double>()[0];
  adam.step();
  CHECK(weight.to_vector<double>()[0] == Approx(before - .1));

  CHECK_THROWS_AS(net.to(int64), DTypeError);
  struct Counter final : nn::Module {
    nn::Buffer count{zeros({}, int64)};
    void members(nn::MemberVisitor& v) override { v("count", count); }
  } counter;
  counter.to(float64);
  CHECK(counter.count.dtype() == int64);
}

TEST_CASE("conversion takes tensors that share memory apart, and changes all or nothing") {
  struct Net final : nn::Module {
    nn::Parameter u{ones({2})}, w{ones({2})};
    nn::Buffer b{w.detach()};
    void members(nn::MemberVisitor& v) override { v("u", u), v("w", w), v("b", b); }
  } net;
  const Tensor b = net.b;
  net.to(float64);
  for (const auto& [name, t] : net.state_dict()) CHECK(t.dtype() == float64);
  CHECK(net.b.is_same(b));
  CHECK_FALSE(net.b.is_alias_of(net.w));
  CHECK(b.to_vector<double>() == std::vector<double>{1, 1});
  CHECK(net.w.requires_grad());

  struct OwnKind final : TensorImpl {
    using TensorImpl::TensorImpl;
    IntrusivePtr<TensorImpl> shallow_copy_and_detach(bool) const override {
      return make_intrusive<OwnKind>(storage(), dtype(), geometry(), offset());
    }
    void shallow_copy_from(const TensorImpl& src) override { TensorImpl::shallow_copy_from(src); }
  };
  net.b = make_tensor<OwnKind>(b.storage(), float64, b.impl()->geometry(), 0);
  CHECK_THROWS_WITH(net.to(float32), Contains("Module.to: 'b' is a tensor of a class of its own"));
  CHECK(net.u.dtype() == float64);
}

TEST_CASE("a model on meta has shapes, parameters and no memory", "[S136]") {
  nn::Sequential net{nn::Linear(784, 128, {.device = meta}), nn::ReLU(), nn::Linear(128, 10, {.device = meta})};
  std::int64_t n = 0;
  for (const Tensor& p : net.parameters()) {
    n += p.numel();
    CHECK(p.data_ptr() == nullptr);
  }
  CHECK(n == 101770);
  CHECK(net(empty({64, 784}, float32, meta)).sizes() == IntSpan{64, 10});
}

TEST_CASE("hooks see and change input and output until they are taken off") {
  nn::Linear layer(1, 1, {.bias = false});
  layer.weight.set_data(ones({1, 1}));
  const Tensor two = full({1}, 2.0);
  std::string log;
  nn::HookHandle pre = layer.register_forward_pre_hook([&](nn::Module& m, const Tensor& x) {
    log += "<" + m.type_name();
    return x.mul(10);
  });
  nn::HookHandle post = layer.register_forward_hook([&](nn::Module&, const Tensor& x, const Tensor& y) {
    log += ">";
    CHECK(x.item<float>() == 20);
    return y.add(1);
  });
  nn::HookHandle look =
      layer.register_forward_hook([&](nn::Module&, const Tensor&, const Tensor&) { return Tensor(); });
  CHECK(layer(two).item<float>() == 21);
  CHECK(log == "<Linear>");

  pre.remove(), post.remove();
  pre.remove();
  CHECK(layer(two).item<float>() == 2);
  nn::HookHandle last;
  {
    nn::Linear gone(1, 1);
    last = gone.register_forward_hook([](nn::Module&, const Tensor&, const Tensor& y) { return y; });
  }
  last.remove();
  nn::HookHandle().remove();
}

TEST_CASE("a hook may take itself off while it runs") {
  nn::ReLU relu;
  nn::HookHandle handle;
  int calls = 0;
  handle = relu.register_forward_hook([&](nn::Module&, const Tensor&, const Tensor&) {
    ++calls;
    handle.remove();
    return Tensor();
  });
  relu(ones({1})), relu(ones({1}));
  CHECK(calls == 1);
}

TEST_CASE("modules print as PyTorch prints them") {
  Mlp net;
  CHECK(nn::to_string(net) ==
        "Mlp(\n"
        "  (fc1): Linear(in_features=4, out_features=3, bias=True)\n"
        "  (fc2): Linear(in_features=3, out_features=2, bias=True)\n"
        ")");
  nn::Sequential nested{nn::Flatten(), nn::Sequential{nn::Dropout(0.25), nn::Tanh()}, nn::ReLU({.inplace = true})};
  std::ostringstream text;
  text << nested;
  CHECK(text.str() ==
        "Sequential(\n"
        "  (0): Flatten(start_dim=1, end_dim=-1)\n"
        "  (1): Sequential(\n"
        "    (0): Dropout(p=0.25, inplace=False)\n"
        "    (1): Tanh()\n"
        "  )\n"
        "  (2): ReLU(inplace=True)\n"
        ")");
  CHECK(nn::to_string(nn::Sequential()) == "Sequential()");
  CHECK(nn::to_string(nn::Sigmoid()) == "Sigmoid()");
}

TEST_CASE("a module without a one-tensor forward says so") {
  struct Pairwise final : nn::Module {
    Tensor forward(const Tensor& a, const Tensor& b) { return a.add(b); }
    using Module::forward;
  } pairwise;
  CHECK(pairwise.forward(ones({1}), ones({1})).item<float>() == 2);
  nn::Module& module = pairwise;
  CHECK_THROWS_WITH(module(ones({1})), Contains("Pairwise: has no forward() that makes one tensor from one"));
}

// ---- Sequential ----

TEST_CASE("a Sequential owns its children, nests, and is cloned whole") {
  nn::Sequential net{nn::Linear(4, 3), nn::ReLU(), nn::Sequential{nn::Linear(3, 3), nn::Dropout()}};
  CHECK(names(net.named_parameters()) == Names{"0.weight", "0.bias", "2.0.weight", "2.0.bias"});
  CHECK(net.size() == 3);
  nn::Linear& head = net.push_back(nn::Linear(3, 2));
  CHECK(&net[3] == &head);
  CHECK(&net.get<nn::Linear>(3) == &head);
  CHECK_THROWS_WITH(net.get<nn::ReLU>(3), Contains("module 3 is a Linear"));
  CHECK_THROWS_AS(net[4], IndexError);
  net.eval();
  const Tensor x = ones({2, 4}), y = net(x);
  CHECK(y.sizes() == IntSpan{2, 2});

  head.weight = net.get<nn::Linear>(0).weight.detach();
  nn::Sequential shared{nn::Linear(2, 2), nn::Linear(2, 2)};
  shared.get<nn::Linear>(1).weight = shared.get<nn::Linear>(0).weight;
  nn::Sequential copy = nn::clone(shared);
  CHECK(copy.get<nn::Linear>(1).weight.is_same(copy.get<nn::Linear>(0).weight));
  CHECK_FALSE(copy.get<nn::Linear>(1).weight.is_alias_of(shared.get<nn::Linear>(0).weight));
  CHECK(copy(ones({1, 2})).to_vector<float>() == shared(ones({1, 2})).to_vector<float>());

  nn::Sequential empty;
  CHECK(empty.empty());
  CHECK(empty(x).is_same(x));
}

TEST_CASE("a child that cannot be made anew is refused by clone alone") {
  struct Fixed final : nn::Module {
    explicit Fixed(int) {}
    Tensor forward(const Tensor& x) override { return x; }
  };
  nn::Sequential net{Fixed(1), nn::ReLU()};
  CHECK(net(ones({1})).item<float>() == 1);
  CHECK_THROWS_WITH(net.clone(), Contains("Fixed has neither a default constructor nor a method clone()"));
}

// ---- Values ----

TEST_CASE("linear layers compute x weight^T + bias") {
  nn::Linear layer(3, 2);
  layer.load_state_dict({{"weight", tensor({{1, 2, 3}, {4, 5, 6}}, float32)}, {"bias", tensor({10, 20}, float32)}});
  CHECK(layer(tensor({{1, 0, 1}}, float32)).to_vector<float>() == std::vector<float>{14, 30});
  CHECK(layer(tensor({1, 0, 0}, float32)).to_vector<float>() == std::vector<float>{11, 24});
  CHECK_THROWS_AS(nn::Linear(-1, 2), ValueError);
  CHECK(nn::Linear(0, 2).bias.to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("dropout acts in training alone, and in place if asked") {
  manual_seed(1);
  nn::Dropout half(0.5);
  const Tensor x = ones({1000});
  const Tensor y = half(x);
  const float sum = y.sum().item<float>();
  CHECK(sum > 800);
  CHECK(sum < 1200);
  half.eval();
  CHECK(half(x).is_same(x));
  Tensor z = ones({1000});
  nn::Dropout in_place(1, {.inplace = true});
  in_place(z);
  CHECK(z.sum().item<float>() == 0);
  CHECK_THROWS_AS(nn::Dropout(1.5), ValueError);
}

TEST_CASE("activations are modules too") {
  const Tensor x = tensor({-1, 0, 2}, float32);
  CHECK(nn::ReLU()(x).to_vector<float>() == std::vector<float>{0, 0, 2});
  CHECK(nn::Tanh()(x).to_vector<float>()[2] == Approx(0.9640276f));
  CHECK(nn::Sigmoid()(x).to_vector<float>()[1] == 0.5f);
  CHECK(nn::Flatten()(ones({2, 3, 4})).sizes() == IntSpan{2, 12});
  CHECK(nn::Flatten(0, 1)(ones({2, 3, 4})).sizes() == IntSpan{6, 4});
  Tensor y = x.clone();
  nn::ReLU({.inplace = true})(y);
  CHECK(y.to_vector<float>()[0] == 0);
}
