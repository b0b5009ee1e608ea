#include <taper/nn/gradcheck.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

TEST_CASE("an embedding looks up rows and leaves its padding row untrained", "[embedding]") {
  nn::Embedding table(4, 3, {.padding_idx = -1});
  const Tensor y = table(tensor({2, 3, 2, 0}).view({2, 2}));

  CHECK(y.sizes() == IntVec{2, 2, 3});
  CHECK(y[0][0].equal(table.weight[2]));
  CHECK(y[0][1].equal(zeros({3})));
  y.sum().backward();
  CHECK(table.weight.grad().sum({1}).equal(tensor({3., 0., 6., 0.}, float32)));
}

TEST_CASE("an embedding with max_norm shrinks the rows it looks up", "[embedding]") {
  nn::Embedding table(3, 2, {.max_norm = 1});
  {
    const NoGradGuard no_grad;
    table.weight.fill_(3);
  }
  CHECK(table(tensor({1})).norm().item<double>() == Approx(1));
  CHECK(table.weight[0].equal(full({2}, 3.f)));
}

TEST_CASE("an embedding bag makes one vector of each bag", "[embedding]") {
  nn::EmbeddingBag bag(4, 2, {.mode = BagMode::sum, .dtype = float64});
  const Tensor w = bag.weight.detach();
  CHECK(bag(tensor({0, 1, 2, 2}).view({2, 2})).allclose(stack({w[0] + w[1], w[2] * 2})));
  CHECK(bag(tensor({0, 1, 2}), tensor({0, 1})).allclose(stack({w[0], w[1] + w[2]})));
  CHECK(bag(tensor({0, 1}), tensor({0}), tensor({2., 3.}, float64)).allclose((w[0] * 2 + w[1] * 3).unsqueeze(0)));
  CHECK(to_string(bag) == "EmbeddingBag(4, 2, mode=sum)");
  nn::EmbeddingBag mean = nn::EmbeddingBag(4, 2, {.padding_idx = 1});
  CHECK(nn::clone(mean)(tensor({0, 1}).view({1, 2}))[0].equal(mean.weight[0]));
}

TEST_CASE("clones of embeddings keep options and values", "[embedding]") {
  nn::Embedding table(4, 3, {.padding_idx = 2, .max_norm = 2.5});
  nn::Embedding other = nn::clone(table);
  CHECK(other.weight.equal(table.weight));
  CHECK_FALSE(other.weight.is_same(table.weight));
  CHECK(to_string(other) == "Embedding(4, 3, padding_idx=2, max_norm=2.5)");
  CHECK(contains(message_of<ValueError>([] { nn::Embedding(3, 2, {.padding_idx = 3}); }),
                 "Embedding: padding_idx must be one of the 3 rows, got 3"));
}

TEST_CASE("a bilinear layer sums products of both inputs", "[linear]") {
  nn::Bilinear layer(2, 3, 4, {.dtype = float64});
  const Tensor a = tensor({1., 2.}, float64), b = tensor({3., 4., 5.}, float64);
  const Tensor want = layer.weight.matmul(b).matmul(a) + layer.bias;
  CHECK(layer(a, b).allclose(want));
  const auto call = [&](const TensorList& in) { return layer(in[0], in[1]); };
  const Tensor x = linspace(-1, 1, 4, {.dtype = float64}).view({2, 2}).requires_grad_();
  CHECK(nn::gradcheck(layer, call, {x, linspace(0, 2, 6, {.dtype = float64}).view({2, 3}).requires_grad_()}));
  CHECK(nn::clone(layer)(a, b).equal(layer(a, b)));
  CHECK(to_string(layer) == "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)");
  CHECK(contains(message_of<ValueError>([] { nn::Bilinear(0, 2, 3); }), "must be positive, got 0, 2 and 3"));
}

TEST_CASE("modules that change the size of images", "[resize]") {
  const Tensor x = tensor({1., 2.}, float32).view({1, 1, 1, 2});
  CHECK(nn::ZeroPad2d({1, 0, 0, 1})(x).equal(tensor({0., 1., 2., 0., 0., 0.}, float32).view({1, 1, 2, 3})));
  CHECK(nn::ZeroPad2d(1)(x).sizes() == IntVec{1, 1, 3, 4});
  nn::Upsample up({.scale_factor = {2}});
  CHECK(up(x).flatten().equal(tensor({1., 1., 2., 2., 1., 1., 2., 2.}, float32)));
  CHECK(nn::clone(up)(x).equal(up(x)));
  CHECK(to_string(up) == "Upsample(scale_factor=2, mode=nearest)");
  CHECK(to_string(nn::clone(nn::ZeroPad2d({1, 0, 2, 1}))) == "ZeroPad2d((1, 0, 2, 1))");
  CHECK(contains(message_of<ValueError>([] { nn::Upsample({}); }), "give one of size and scale_factor, got neither"));
  CHECK(contains(message_of<ValueError>([] { nn::ZeroPad2d({1, 2}); }), "must be {left, right, top, bottom}"));
}
