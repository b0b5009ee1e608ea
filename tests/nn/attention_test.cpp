#include <taper/nn/gradcheck.h>
#include <taper/nn/init.h>
#include <taper/taper.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

Tensor ramp(IntSpan sizes, double step = .7) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(0, n, 1, {.dtype = float64}).mul(step).sin().view(sizes).requires_grad_();
}

std::string names_in(const nn::Module& m) {
  std::string s;
  for (const auto& [name, t] : m.state_dict()) s += name + ' ';
  return s;
}

/// Attention whose maps are all the identity.
nn::MultiheadAttention plain_attention(std::int64_t size, std::int64_t heads) {
  nn::MultiheadAttention m(size, heads, {.bias = false, .dtype = float64});
  const NoGradGuard no_grad;
  const Tensor identity = eye(size, {}, {.dtype = float64});
  m.in_proj_weight.copy_(cat({identity, identity, identity}));
  m.out_proj.weight.copy_(identity);
  return m;
}

}  // namespace

TEST_CASE("each head attends with its part of the vectors", "[attention]") {
  nn::MultiheadAttention m = plain_attention(4, 2);
  const Tensor q = ramp({3, 1, 4}), k = ramp({5, 1, 4}, .3), v = ramp({5, 1, 4}, 1.1);
  const auto [y, weights] = m(q, k, v, {.average_attn_weights = false});

  CHECK(weights.sizes() == IntVec{1, 2, 3, 5});
  for (std::int64_t head = 0; head < 2; ++head) {
    const auto part = [&](const Tensor& t) { return t.select(1, 0).narrow(1, 2 * head, 2); };
    CHECK(part(y).allclose(scaled_dot_product_attention(part(q), part(k), part(v))));
    CHECK(weights.select(1, head)[0].sum({1}).allclose(ones({3}, float64)));
  }
  CHECK(std::get<1>(m(q, k, v)).allclose(weights.mean(1)));
  const auto [same, none] = m(q, k, v, {.need_weights = false});
  CHECK(same.allclose(y));
  CHECK_FALSE(none.defined());
}

TEST_CASE("hidden keys get no weight, by either mask", "[attention]") {
  const bool need_weights = GENERATE(true, false);
  nn::MultiheadAttention m(4, 2, {.batch_first = true, .dtype = float64});
  const Tensor x = ramp({2, 3, 4});
  const Tensor padding = tensor({false, true, false, false, false, false}).view({2, 3});

  const auto run = [&](const nn::AttentionMasks& masks) { return std::get<0>(m(x, x, x, masks)); };
  const Tensor by_padding = run({.key_padding_mask = padding, .need_weights = need_weights});
  const Tensor x0 = x[0], kept = cat({x0[0].unsqueeze(0), x0[2].unsqueeze(0)});
  CHECK(by_padding[0].allclose(std::get<0>(m(x0, kept, kept))));
  CHECK(by_padding[1].allclose(run({})[1]));

  const Tensor causal = ones({3, 3}, bool_).triu(1);
  const Tensor seen = run({.attn_mask = causal, .need_weights = need_weights});
  const Tensor first = x.narrow(1, 0, 1);
  CHECK(seen.narrow(1, 0, 1).allclose(std::get<0>(m(first, first, first))));

  const double hidden = -std::numeric_limits<double>::infinity();
  const Tensor added = zeros({3, 3}, float64).masked_fill(causal, hidden);
  CHECK(run({.attn_mask = added, .need_weights = need_weights}).allclose(seen));
  CHECK(
      run({.key_padding_mask = padding, .attn_mask = added, .need_weights = need_weights})
          .allclose(run({.key_padding_mask = padding, .attn_mask = causal, .need_weights = need_weights}), 1e-5, 1e-8));
  CHECK(run({.attn_mask = causal.expand({4, 3, 3}), .need_weights = need_weights}).allclose(seen));
}

TEST_CASE("a query from which every key is hidden gets zeros and no NaN", "[attention]") {
  const bool need_weights = GENERATE(true, false);
  nn::MultiheadAttention m = plain_attention(4, 2);
  Tensor x = ramp({2, 1, 4});
  const Tensor mask = tensor({true, true, false, false}).view({2, 2});
  const auto [y, weights] = m(x, x, x, {.attn_mask = mask, .need_weights = need_weights});
  y.sum().backward();

  CHECK(y[0].equal(zeros({1, 4}, float64)));
  CHECK(y[1].count_nonzero().item<std::int64_t>() > 0);
  CHECK(x.grad().isfinite().all().item<bool>());
}

TEST_CASE("appended keys are seen under every mask", "[attention]") {
  manual_seed(2);
  nn::MultiheadAttention m(4, 2, {.add_bias_kv = true, .add_zero_attn = true, .dtype = float64});
  const Tensor x = ramp({3, 2, 4});
  const auto [y, weights] = m(x, x, x, {.attn_mask = ones({3, 3}, bool_)});

  CHECK(weights.sizes() == IntVec{2, 3, 5});
  CHECK(weights.narrow(2, 0, 3).equal(zeros({2, 3, 3}, float64)));
  CHECK(weights.narrow(2, 3, 2).sum({2}).allclose(ones({2, 3}, float64)));
}

TEST_CASE("gradients of attention reach the inputs and all parameters", "[attention]") {
  manual_seed(2);
  nn::MultiheadAttention m(4, 2, {.add_bias_kv = true, .kdim = 3, .vdim = 2, .dtype = float64});
  const Tensor mask = tensor({false, true, false, false, false, true}).view({2, 3});
  const auto call = [&](const TensorList& in) {
    const auto [y, weights] = m(in[0], in[1], in[2], {.attn_mask = mask});
    return TensorList{y, weights};
  };
  CHECK(nn::gradcheck(m, call, {ramp({2, 1, 4}), ramp({3, 1, 3}, .3), ramp({3, 1, 2}, 1.1)}));
  nn::MultiheadAttention self(2, 1, {.dtype = float64});
  const auto itself = [&](const TensorList& in) {
    return std::get<0>(self(in[0], in[0], in[0], {.need_weights = false}));
  };
  CHECK(nn::gradcheck(self, itself, {ramp({2, 1, 2})}));
}

TEST_CASE("the parameters of attention have PyTorch's names and start values", "[attention]") {
  manual_seed(1);
  nn::MultiheadAttention m(8, 2, {.add_bias_kv = true});
  CHECK(names_in(m) == "in_proj_weight in_proj_bias bias_k bias_v out_proj.weight out_proj.bias ");
  CHECK(names_in(nn::MultiheadAttention(4, 2, {.bias = false, .kdim = 3})) ==
        "q_proj_weight k_proj_weight v_proj_weight out_proj.weight ");
  const double bound = std::sqrt(6. / (24 + 8));
  CHECK(m.in_proj_weight.abs().max().item<double>() <= bound);
  CHECK(m.in_proj_weight.abs().max().item<double>() > .9 * bound);
  CHECK(m.in_proj_bias.equal(zeros({24})));
  CHECK(m.out_proj.bias.equal(zeros({8})));
  CHECK(m.bias_k.sizes() == IntVec{1, 1, 8});
}

TEST_CASE("a clone of attention computes the same and shares nothing", "[attention]") {
  nn::MultiheadAttention m(4, 2, {.dropout = .25, .add_zero_attn = true, .batch_first = true});
  m.eval();
  nn::MultiheadAttention other = nn::clone(m);
  const Tensor x = randn({2, 3, 4});
  CHECK(std::get<0>(other(x, x, x)).equal(std::get<0>(m(x, x, x))));
  nn::init::zeros_(other.out_proj.weight);
  CHECK(m.out_proj.weight.count_nonzero().item<std::int64_t>() == 16);
  CHECK(contains(to_string(other),
                 "embed_dim=4, num_heads=2, dropout=0.25, add_zero_attn=True, batch_first=True\n  (out_proj): "));
}

TEST_CASE("attention names what does not fit", "[attention]") {
  nn::MultiheadAttention m(4, 2);
  const Tensor x = zeros({3, 2, 4});
  const auto message = [&](const Tensor& q, const Tensor& k, const Tensor& v, const nn::AttentionMasks& masks = {}) {
    return message_of<ShapeError>([&] { m(q, k, v, masks); });
  };
  CHECK(contains(message(x, x, zeros({2, 2, 4})), "there are 3 keys but 2 values"));
  CHECK(contains(message(x, zeros({3, 1, 4}), x), "must have the same batch, dim 1"));
  CHECK(contains(message(x, zeros({3, 2, 5}), x), "the last sizes of query, key and value must be 4, 4 and 4"));
  CHECK(contains(message(x, zeros({3, 4}), x), "must all have 3 dims"));
  CHECK(contains(message(x, x, x, {.attn_mask = zeros({3, 2}, bool_)}),
                 "attn_mask must be [3, 3] (queries, keys) or, for each head, [4, 3, 3], got [3, 2]"));
  CHECK(contains(message(x, x, x, {.key_padding_mask = zeros({3, 2}, bool_)}), "key_padding_mask must be [2, 3]"));
  CHECK(contains(message_of<DTypeError>([&] {
                   m(x, x, x, {.attn_mask = zeros({3, 3}, int64)});
                 }),
                 "attn_mask must be bool, true for what is hidden, or floating"));
  CHECK(contains(message_of<ValueError>([&] { nn::MultiheadAttention(4, 3); }), "divide embed_dim, got 3 for 4"));
}
