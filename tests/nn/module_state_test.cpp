#include <taper/factory.h>
#include <taper/nn/linear.h>
#include <taper/nn/optim.h>
#include <taper/nn/sequential.h>

#include "support/catch.h"
#include "support/temporary_folder.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

struct Net final : nn::Module {
  nn::Linear body{2, 2}, head{2, 3};
  Tensor forward(const Tensor& x) override { return head(body(x)); }
  void members(nn::MemberVisitor& v) override { v("body", body), v("head", head); }
};

std::vector<std::vector<float>> values(const nn::Module& m) {
  std::vector<std::vector<float>> out;
  for (const auto& [name, t] : m.state_dict()) out.push_back(t.to_vector<float>());
  return out;
}

}  // namespace

TEST_CASE("loading copies values into the parameters that are there", "[S171]") {
  Net a, b;
  const Tensor weight = a.body.weight;
  const void* memory = weight.data_ptr();
  const std::uint32_t version = weight.version();
  const TensorDict state = b.state_dict();
  const nn::LoadResult result = a.load_state_dict(state);

  CHECK(a.body.weight.is_same(weight));
  CHECK(weight.data_ptr() == memory);
  CHECK(weight.version() == version + 1);
  CHECK(weight.requires_grad());
  CHECK(values(a) == values(b));
  CHECK_FALSE(weight.is_alias_of(state.at("body.weight")));
  CHECK(result.missing_keys.empty());
  CHECK(result.unexpected_keys.empty());
  CHECK_FALSE(state.at("body.weight").requires_grad());
}

TEST_CASE("loading with assign takes the state's memory over", "[S171]") {
  Net a;
  const Tensor weight = a.body.weight;
  const TensorDict state = nn::clone(a).to(float64).state_dict();
  a.load_state_dict(state, true, true);
  CHECK(a.body.weight.is_same(weight));
  CHECK(weight.is_alias_of(state.at("body.weight")));
  CHECK(weight.dtype() == float64);
  CHECK(weight.requires_grad());
}

TEST_CASE("assign takes over nothing that does not fit", "[B74]") {
  Net a;
  const auto before = values(a);
  const void* memory = a.body.weight.data_ptr();
  TensorDict state = nn::clone(a).to(float64).state_dict();
  state["head.bias"] = zeros({3}, int64);
  for (const bool strict : {true, false}) {
    CHECK_THROWS_AS(a.load_state_dict(state, strict, true), DTypeError);
    CHECK_THROWS_WITH(a.load_state_dict(state, strict, true),
                      Contains("Net.load_state_dict: the state does not fit; 'head.bias' is int64[3] on cpu"));
  }
  state["body.bias"] = zeros({3}, int64);
  CHECK_THROWS_AS(a.load_state_dict(state, true, true), ShapeError);
  CHECK(a.body.weight.data_ptr() == memory);
  CHECK(a.body.weight.dtype() == float32);
  CHECK(values(a) == before);

  // Without assign integers are converted; without requires_grad they are taken over.
  state.erase("body.bias");
  a.load_state_dict(state, false);
  CHECK(a.head.bias.dtype() == float32);
  a.requires_grad_(false).load_state_dict(state, false, true);
  CHECK(a.head.bias.dtype() == int64);

  nn::Linear detached(1, 1, {.bias = false});
  detached.weight = detached.weight.detach();
  detached.load_state_dict({{"weight", full({1, 1}, 3.0)}}, true, true);
  CHECK(detached.weight.item<float>() == 3);
}

TEST_CASE("one wrong tensor in the middle of a state: nothing is written", "[B74]") {
  Net a, b;
  const auto before = values(a);
  const std::uint32_t version = a.body.weight.version();
  TensorDict state = b.state_dict();
  state["head.weight"] = zeros({3, 4});
  for (const bool strict : {true, false}) {
    CHECK_THROWS_AS(a.load_state_dict(state, strict), ShapeError);
    CHECK_THROWS_WITH(a.load_state_dict(state, strict),
                      Contains("Net.load_state_dict") && Contains("'head.weight' is [3, 4], the module needs [3, 2]"));
    CHECK_THROWS_AS(a.check_state_dict(state, strict), ShapeError);
  }
  state["head.weight"] = zeros({3, 2}, float32, meta);
  CHECK_THROWS_WITH(a.load_state_dict(state), Contains("'head.weight' is on meta and has no values"));
  state["head.weight"] = Tensor();
  CHECK_THROWS_WITH(a.load_state_dict(state), Contains("'head.weight' is undefined"));

  CHECK(values(a) == before);
  CHECK(a.body.weight.version() == version);
}

TEST_CASE("strict: what is missing or unexpected is an error that names it, and nothing is written", "[B74]") {
  Net a, b;
  const auto before = values(a);
  TensorDict state = b.state_dict();
  state.erase("head.bias");
  state["extra"] = zeros({1});
  CHECK_THROWS_AS(a.load_state_dict(state), ValueError);
  CHECK_THROWS_WITH(a.load_state_dict(state), Contains("missing 'head.bias'; unexpected 'extra'"));
  CHECK(values(a) == before);
}

TEST_CASE("not strict: what did not match is returned, and the rest is loaded", "[B74][S172]") {
  Net a, b;
  const auto head_bias = a.head.bias.to_vector<float>();
  TensorDict state = b.state_dict();
  state.erase("head.bias");
  state["extra"] = zeros({1});
  const nn::LoadResult result = a.load_state_dict(state, false);

  CHECK(result.missing_keys == std::vector<std::string>{"head.bias"});
  CHECK(result.unexpected_keys == std::vector<std::string>{"extra"});
  CHECK(a.body.weight.to_vector<float>() == b.body.weight.to_vector<float>());
  CHECK(a.head.bias.to_vector<float>() == head_bias);
  CHECK(a.check_state_dict(state, false).missing_keys.size() == 1);
}

TEST_CASE("a new head on a loaded and frozen body", "[S173]") {
  Net old, net;
  net.head = nn::Linear(2, 5);
  const auto head = net.head.weight.to_vector<float>();
  TensorDict state = old.state_dict();
  state.erase("head.weight"), state.erase("head.bias");
  net.load_state_dict(state, false);
  net.body.requires_grad_(false);

  CHECK(net.body.weight.to_vector<float>() == old.body.weight.to_vector<float>());
  CHECK(net.head.weight.to_vector<float>() == head);
  optim::Adam adam(net.parameters());
  net(ones({1, 2})).sum().backward();
  adam.step();
  CHECK_FALSE(net.body.weight.grad().defined());
  CHECK(adam.state_dict().find("state.0.exp_avg") == nullptr);
  CHECK(adam.state_dict().find("state.2.exp_avg") != nullptr);
  CHECK(net.body.weight.to_vector<float>() == old.body.weight.to_vector<float>());
}

TEST_CASE("values land on the parameter's device and in its dtype", "[S174]") {
  Net a, b;
  b.to(float64);
  a.load_state_dict(b.state_dict());
  CHECK(a.body.weight.dtype() == float32);
  CHECK(a.body.weight.device() == cpu);
  CHECK(a.body.weight.to_vector<float>() == b.body.weight.to(float32).to_vector<float>());
}

TEST_CASE("a state that shares the module's memory is read before it is written") {
  Net a;
  const auto before = values(a);
  a.load_state_dict(a.state_dict());
  CHECK(values(a) == before);

  nn::Sequential two{nn::Linear(1, 1, {.bias = false}), nn::Linear(1, 1, {.bias = false})};
  const float first = two.get<nn::Linear>(0).weight.item<float>(), second = two.get<nn::Linear>(1).weight.item<float>();
  const TensorDict state = two.state_dict();
  two.load_state_dict({{"0.weight", state.at("1.weight")}, {"1.weight", state.at("0.weight")}});
  CHECK(two.get<nn::Linear>(0).weight.item<float>() == second);
  CHECK(two.get<nn::Linear>(1).weight.item<float>() == first);
}

TEST_CASE("a model comes back from a file bit for bit") {
  TemporaryFolder folder;
  Net a, b;
  save_file(a.state_dict(), folder / "net.safetensors");
  b.load_state_dict(load_file(folder / "net.safetensors"));
  CHECK(values(a) == values(b));
}
