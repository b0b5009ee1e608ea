#include <taper/nn/gradcheck.h>
#include <taper/nn/init.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

Tensor waves(IntSpan sizes, double step = .7) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(0, n, 1, {.dtype = float64}).mul(step).sin().view(sizes).requires_grad_();
}

std::string state_names(const nn::Module& m) {
  std::string s;
  for (const auto& [name, t] : m.state_dict()) s += name + ' ';
  return s;
}

nn::TransformerLayerOptions small(bool norm_first) {
  return {.dim_feedforward = 6,
          .dropout = 0,
          .activation = nn::TransformerActivation::gelu,
          .norm_first = norm_first,
          .dtype = float64};
}

}  // namespace

TEST_CASE(
    "an encoder layer adds attention and feedforward part, and "
    "normalizes before or after",
    "[transformer]") {
  const bool norm_first = GENERATE(false, true);
  nn::TransformerEncoderLayer layer(4, 2, small(norm_first));
  const Tensor x = waves({3, 2, 4});
  const auto attention = [&](const Tensor& in) { return std::get<0>(layer.self_attn(in, in, in)); };
  const auto feedforward = [&](const Tensor& in) { return layer.linear2(gelu(layer.linear1(in))); };

  Tensor want = norm_first ? x + attention(layer.norm1(x)) : layer.norm1(x + attention(x));
  want = norm_first ? want + feedforward(layer.norm2(want)) : layer.norm2(want + feedforward(want));
  CHECK(layer(x).allclose(want));
}

TEST_CASE("under a causal mask the first times do not depend on the last", "[transformer]") {
  nn::TransformerEncoderLayer layer(4, 2, small(true));
  nn::TransformerDecoderLayer decoder(4, 2, small(false));
  const Tensor x = waves({3, 2, 4}), memory = waves({5, 2, 4}, .3);
  const Tensor mask = ones({3, 3}, bool_).triu(1);
  const Tensor other = cat({x.narrow(0, 0, 2), x.narrow(0, 2, 1).neg()});

  const auto start = [](const Tensor& y) { return y.narrow(0, 0, 2); };
  CHECK(start(layer(x, {.src_mask = mask})).allclose(start(layer(other, {.src_mask = mask}))));
  CHECK_FALSE(start(layer(x)).allclose(start(layer(other))));
  CHECK(start(decoder(x, memory, {.tgt_mask = mask})).allclose(start(decoder(other, memory, {.tgt_mask = mask}))));
}

TEST_CASE("hidden memory does not matter to a decoder layer", "[transformer]") {
  nn::TransformerDecoderLayer decoder(4, 2, small(true));
  const Tensor x = waves({3, 1, 4}), memory = waves({3, 1, 4}, .3);
  const Tensor padding = tensor({false, false, true}).view({1, 3});
  CHECK(decoder(x, memory, {.memory_key_padding_mask = padding}).allclose(decoder(x, memory.narrow(0, 0, 2))));
  CHECK(decoder(x, memory, {.memory_mask = padding.expand({3, 3})}).allclose(decoder(x, memory.narrow(0, 0, 2))));
}

TEST_CASE("gradients go through both kinds of transformer layers", "[transformer]") {
  manual_seed(4);
  nn::TransformerEncoderLayer encoder(2, 1, small(true));
  nn::TransformerDecoderLayer decoder(2, 1, small(false));
  CHECK(nn::gradcheck(encoder, waves({3, 1, 2}), {.fast_mode = true}));
  const auto call = [&](const TensorList& in) { return decoder(in[0], in[1]); };
  CHECK(nn::gradcheck(decoder, call, {waves({2, 1, 2}), waves({3, 1, 2}, .3)}, {.fast_mode = true}));
}

TEST_CASE("the parameters of transformer layers have PyTorch's names", "[transformer]") {
  CHECK(state_names(nn::TransformerEncoderLayer(4, 2)) ==
        "self_attn.in_proj_weight self_attn.in_proj_bias "
        "self_attn.out_proj.weight self_attn.out_proj.bias "
        "linear1.weight linear1.bias linear2.weight linear2.bias norm1.weight "
        "norm1.bias norm2.weight norm2.bias ");
  nn::TransformerDecoderLayer decoder(4, 2);
  CHECK(contains(state_names(decoder), "self_attn.out_proj.bias multihead_attn.in_proj_weight "));
  CHECK(contains(state_names(decoder), "norm3.weight norm3.bias "));
  CHECK(decoder.linear1.weight.sizes() == IntVec{2048, 4});
}

TEST_CASE(
    "encoder layers follow each other in a Sequential, and their clones "
    "share nothing",
    "[transformer]") {
  const nn::TransformerLayerOptions options{.dim_feedforward = 6, .batch_first = true, .norm_first = true};
  nn::Sequential net{nn::TransformerEncoderLayer(4, 2, options), nn::TransformerEncoderLayer(4, 2, options)};
  net.eval();
  nn::Sequential other = nn::clone(net);
  const Tensor x = randn({2, 3, 4});

  CHECK(other(x).equal(net(x)));
  nn::init::zeros_(other.get<nn::TransformerEncoderLayer>(0).linear1.weight);
  CHECK_FALSE(other(x).equal(net(x)));
  net.train();
  CHECK_FALSE(net(x).equal(net(x)));  // dropout
  nn::TransformerDecoderLayer decoder(4, 2, options);
  decoder.eval();
  CHECK(nn::clone(decoder)(x, x).equal(decoder(x, x)));
  CHECK(contains(to_string(decoder), "activation=relu, norm_first=True"));
  CHECK(contains(message_of<ValueError>([] { nn::TransformerEncoderLayer(4, 3); }), "divide embed_dim, got 3 for 4"));
}
