// Every out form, from one table: the same result as the functional form into whatever can take it, and refusals that
// change nothing.
#include <taper/ops/diagonals.h>
#include <taper/ops/distance.h>
#include <taper/ops/linalg.h>
#include <taper/ops/loss_margin.h>
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

/// Operands. x is what `out` is made to overlap.
struct In {
  Tensor x = tensor({{0.3, -1.5, 2.0, 0.7}, {1.1, 0.2, -0.4, 0.9}, {-0.8, 1.6, 0.5, -2.5}});
  Tensor y = tensor({{1., 2., 3., 4.}, {5., 6., 7., 8.}, {9., 1., 2., 3.}}).div(4);
  Tensor row = tensor({0.5, -1., 2., 1.5}), column = tensor({1., -2., 0.5});
  Tensor square = tensor({{4., 1., 0.5}, {1., 3., 0.25}, {0.5, 0.25, 2.}});
  Tensor batch = arange(24, float32).sub(11).div(7).view({2, 3, 4});
  Tensor images = arange(96, float32).sin().view({2, 3, 4, 4});
  Tensor volume = arange(64, float32).cos().view({1, 1, 4, 4, 4});
  Tensor mask = tensor({{true, false, true, true}, {false, false, true, false}, {true, true, false, true}});
  Tensor whole = tensor({3, 1, 2, 1});
  Tensor rows = tensor({2, 0}), places = tensor({{0, 3, 1, 2}, {2, 2, 0, 1}, {1, 0, 3, 3}});
  Tensor classes = tensor({1, 0, 3});
};

struct Row {
  const char* name;
  TensorList (*call)(const In& in);
  void (*into)(const In& in, TensorList& out);
};
#define ONE(f, ...)                                                       \
  Row {                                                                   \
#f, [](const In& in) { return TensorList{f(__VA_ARGS__)}; },            \
        [](const In& in, TensorList& o) {                                   \
          if (!f##_out(o[0], __VA_ARGS__).is_same(o[0])) FAIL("another tensor was returned"); \
        } \
  }
#define TWO(f, ...)                                                 \
  Row {                                                             \
#f,                                                               \
        [](const In& in) {                                            \
          const auto [a, b] = f(__VA_ARGS__);                         \
          return TensorList{a, b};                                    \
        },                                                            \
        [](const In& in, TensorList& o) { f##_out(o[0], o[1], __VA_ARGS__); } \
  }

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      // clang-format off
      // Elementwise
      ONE(add, in.x, in.y, 2), ONE(sub, in.x, in.y), ONE(rsub, in.x, in.y), ONE(rsub, in.x, 2.0), ONE(mul, in.x, in.y),
      ONE(div, in.x, in.y), ONE(pow, in.y, in.x), ONE(maximum, in.x, in.y), ONE(minimum, in.x, in.y),
      ONE(where, in.mask, in.x, in.y), ONE(clamp, in.x, -1, 1), ONE(clamp_min, in.x, 0), ONE(clamp_min, in.x, in.y),
      ONE(clamp_max, in.x, 0), ONE(clamp_max, in.x, in.y), ONE(remainder, in.x, in.y), ONE(fmod, in.x, in.y),
      ONE(atan2, in.x, in.y), ONE(lerp, in.x, in.y, 0.25), ONE(addcmul, in.x, in.y, in.row, 2), ONE(exp, in.x),
      ONE(abs, in.x), ONE(relu, in.x), ONE(floor, in.x), ONE(erf, in.x), ONE(polygamma, 1, in.y), ONE(frac, in.x),
      ONE(deg2rad, in.x), ONE(rad2deg, in.x), ONE(nan_to_num, in.x), ONE(eq, in.x, in.y), ONE(lt, in.x, in.y),
      ONE(logical_and, in.x, in.y), ONE(isnan, in.x), ONE(isinf, in.x), ONE(isposinf, in.x), ONE(isneginf, in.x),
      ONE(bitwise_xor, in.whole, in.whole),
      ONE(sgn, in.x), ONE(clone, in.x),
      // Activations
      ONE(leaky_relu, in.x, 0.1), ONE(prelu, in.x, in.row), ONE(elu, in.x, 0.5), ONE(celu, in.x, 0.5),
      ONE(gelu, in.x, "tanh"), ONE(silu, in.x), ONE(mish, in.x), ONE(softplus, in.x), ONE(log_sigmoid, in.x),
      ONE(hardshrink, in.x), ONE(softshrink, in.x), ONE(hardtanh, in.x), ONE(hardsigmoid, in.x), ONE(hardswish, in.x),
      ONE(threshold, in.x, 0.1, 3), ONE(glu, in.x, 1), ONE(softmax, in.x, 1), ONE(log_softmax, in.x, 0, float64),
      // Reductions
      ONE(sum, in.x), ONE(sum, in.x, 1, true), ONE(sum, in.x, 0, false, float64), ONE(mean, in.x), ONE(mean, in.x, 0),
      ONE(var, in.x), ONE(var, in.x, 1, 0), ONE(taper::std, in.x), ONE(taper::std, in.x, 1, 0), TWO(var_mean, in.x, 1),
      TWO(std_mean, in.x, 1), ONE(taper::max, in.x), ONE(taper::min, in.x), TWO(taper::max, in.x, 1),
      TWO(taper::min, in.x, 0, true), ONE(amax, in.x, 1), ONE(amin, in.x, 0), ONE(argmax, in.x, 1), ONE(argmin, in.x),
      ONE(all, in.x), ONE(all, in.x, 1), ONE(any, in.x), ONE(any, in.x, 0), ONE(count_nonzero, in.x), ONE(prod, in.x),
      ONE(prod, in.x, 1), ONE(norm, in.x), ONE(norm, in.x, 1, 0), ONE(logsumexp, in.x, 1), ONE(nansum, in.x, 1),
      ONE(nanmean, in.x, 1), TWO(aminmax, in.x, 1),
      // Along a dim, and order
      ONE(cumsum, in.x, 1), ONE(cumprod, in.x, 0), ONE(logcumsumexp, in.x, 1), TWO(cummax, in.x, 1),
      TWO(cummin, in.x, 0), ONE(diff, in.x), TWO(sort, in.x, 1, true), ONE(argsort, in.x, 0), TWO(topk, in.x, 2, 1),
      TWO(kthvalue, in.x, 2, 1), TWO(median, in.x, 1), TWO(mode, in.x, 1), TWO(nanmedian, in.x, 1), ONE(quantile, in.x, in.y.select(1, 0).div(3)), ONE(histc, in.x.detach(), 4), ONE(isin, in.x, in.y), ONE(float_power, in.y, in.x), ONE(ldexp, in.x, in.y), ONE(heaviside, in.x, in.y), ONE(median, in.x), ONE(bincount, in.whole, in.row),
      ONE(searchsorted, in.y.select(0, 0), in.x), ONE(searchsorted, in.y.select(0, 0), 0.6), ONE(bucketize, in.x, in.y.select(0, 0)),
      ONE(bucketize, 0.6, in.y.select(0, 0)),
      // Products
      ONE(matmul, in.x, in.y.t()), ONE(mm, in.x, in.y.t()), ONE(bmm, in.batch, in.batch.transpose(1, 2)),
      ONE(mv, in.x, in.row), ONE(dot, in.row, in.x.select(0, 0)), ONE(outer, in.row, in.column), ONE(inner, in.x, in.y),
      ONE(linear, in.x, in.y, in.column), ONE(addmm, in.square, in.x, in.y.t(), 2, 3),
      ONE(baddbmm, in.square, in.batch, in.batch.transpose(1, 2)),
      ONE(addbmm, in.square, in.batch, in.batch.transpose(1, 2)), ONE(addmv, in.column, in.x, in.row),
      ONE(addr, in.x, in.column, in.row), ONE(tensordot, in.x, in.y, 2), ONE(tensordot, in.x, in.y, {0}, {0}),
      ONE(kron, in.x, in.square),
      // Linear algebra
      ONE(inverse, in.square), ONE(linalg::inv, in.square), ONE(linalg::solve, in.square, in.x),
      ONE(linalg::solve_triangular, in.square, in.x, true), ONE(linalg::cholesky, in.square), ONE(linalg::det, in.square),
      TWO(linalg::slogdet, in.square), TWO(linalg::qr, in.x), ONE(linalg::svdvals, in.x), TWO(linalg::eigh, in.square),
      ONE(linalg::eigvalsh, in.square), ONE(linalg::matrix_power, in.square, 3),
      // Positions and masks
      ONE(index_select, in.x, 0, in.rows), ONE(index_add, in.x, 0, in.rows, in.y.narrow(0, 0, 2), 2),
      ONE(index_copy, in.x, 0, in.rows, in.y.narrow(0, 0, 2)), ONE(index_fill, in.x, 0, in.rows, 7),
      ONE(index_fill, in.x, 0, in.rows, in.row.select(0, 0)), ONE(gather, in.x, 1, in.places),
      ONE(scatter, in.x, 1, in.places, in.y), ONE(scatter, in.x, 1, in.places, 3), ONE(scatter_add, in.x, 1, in.places, in.y),
      ONE(scatter_reduce, in.x, 1, in.places, in.y, "amax"), ONE(take_along_dim, in.x, in.places, 1),
      ONE(take, in.x, in.places), ONE(put, in.x, in.rows, in.row.narrow(0, 0, 2)),
      ONE(index_put, in.x, {in.rows}, in.row), ONE(masked_fill, in.x, in.mask, 5),
      ONE(masked_fill, in.x, in.mask, in.row.select(0, 1)), ONE(masked_select, in.x, in.mask),
      ONE(masked_scatter, in.x, in.mask, in.y), ONE(nonzero, in.x), ONE(embedding, in.x, in.rows),
      // Elements in other places
      ONE(cat, {in.x, in.y}, 1), ONE(stack, {in.x, in.y}, 1), ONE(hstack, {in.x, in.y}), ONE(vstack, {in.x, in.y}),
      ONE(dstack, {in.x, in.y}), ONE(column_stack, {in.x, in.column}), ONE(repeat, in.x, {2, 1, 2}), ONE(flip, in.x, 1),
      ONE(roll, in.x, 1, 0), ONE(rot90, in.x), ONE(repeat_interleave, in.x, 2, 1),
      ONE(repeat_interleave, in.x, in.whole, 1), ONE(select_scatter, in.x, in.row, 0, 1),
      ONE(slice_scatter, in.x, in.y.narrow(1, 0, 2), 1, 0, 4, 2), ONE(diagonal_scatter, in.x, in.column),
      ONE(block_diag, {in.x, in.square}), ONE(tril, in.x), ONE(triu, in.x, 1), ONE(diag, in.x), ONE(diag_embed, in.x),
      ONE(trace, in.x), ONE(renorm, in.x, 2, 0, 1),
      // Images
      ONE(im2col, in.images, 2), ONE(col2im, in.batch.view({1, 12, 2}), {2, 3}, {2, 2}), ONE(avg_pool2d, in.images, 2),
      TWO(max_pool2d_with_indices, in.images, 2), ONE(avg_pool3d, in.volume, 2),
      TWO(max_pool3d_with_indices, in.volume, 2), ONE(adaptive_avg_pool2d, in.images, {2, 3}),
      ONE(adaptive_avg_pool3d, in.volume, {2, 2, 1}), TWO(adaptive_max_pool2d_with_indices, in.images, {2, 2}),
      ONE(max_unpool2d, in.x.view({1, 3, 4}), in.places.view({1, 3, 4}), {1, 1}), ONE(pixel_shuffle, in.batch.view({4, 2, 3}), 2),
      ONE(pixel_unshuffle, in.images, 2),
      // Losses
      ONE(mse_loss, in.x, in.y), ONE(smooth_l1_loss, in.x, in.y, Reduction::none), ONE(huber_loss, in.x, in.y),
      ONE(soft_margin_loss, in.x, in.y), ONE(binary_cross_entropy, in.x.sigmoid(), in.y.sigmoid()),
      ONE(binary_cross_entropy_with_logits, in.x, in.y.sigmoid()), ONE(nll_loss, in.x, in.classes),
      ONE(multi_margin_loss, in.x, in.classes), ONE(multilabel_margin_loss, in.x, in.places),
      // clang-format on
  };
  return table;
}

bool alike(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && allclose(a.to(float64), b.to(float64), 1e-6, 1e-6, true);
}
/// The elements with a gap after each, and other memory around them.
Tensor with_gaps(const Tensor& like) {
  IntVec sizes = like.sizes().vec();
  sizes.push_back(2);
  return zeros(sizes, like.dtype()).select(-1, 1);
}
TensorList each(const TensorList& ts, Tensor (*f)(const Tensor&)) {
  TensorList out;
  for (const Tensor& t : ts) out.push_back(f(t));
  return out;
}

}  // namespace

TEST_CASE("every out form writes what the function returns into out, whatever its strides, and counts the write") {
  const In in;
  for (const Row& row : rows()) {
    INFO(row.name);
    const TensorList expected = row.call(in);
    TensorList plain = each(expected, [](const Tensor& t) { return full(t.sizes(), 1, t.dtype()); });
    TensorList gaps = each(expected, with_gaps);
    TensorList none = each(expected, [](const Tensor& t) { return empty({0}, t.dtype()); });
    const TensorList originals = none;
    for (TensorList* out : {&plain, &gaps, &none}) {
      const std::uint32_t version = (*out)[0].version();
      row.into(in, *out);
      CHECK((*out)[0].version() > version);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(alike((*out)[i], expected[i]));
        CHECK((*out)[i].dtype() == expected[i].dtype());
      }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(none[i].is_same(originals[i]));
    TensorList wide = each(expected, [](const Tensor& t) { return zeros(t.sizes(), float64); });
    row.into(in, wide);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(alike(wide[i], expected[i]));
  }
}

TEST_CASE("an out form that cannot write into out says so and changes nothing") {
  const In in;
  for (const Row& row : rows()) {
    INFO(row.name);
    const TensorList expected = row.call(in);
    const auto refuses = [&]<class E>(TensorList out, const E*) {
      std::vector<Values> before;
      for (const Tensor& t : out) before.push_back(values(t));
      CHECK_THROWS_AS(row.into(in, out), E);
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(values(out[i]) == before[i]);
    };
    for (std::size_t bad = 0; bad < expected.size(); ++bad) {
      const auto with = [&](Tensor t) {
        TensorList out = each(expected, [](const Tensor& e) { return full(e.sizes(), 1, e.dtype()); });
        out[bad] = std::move(t);
        return out;
      };
      const Tensor& e = expected[bad];
      IntVec other = e.sizes().vec();
      other.push_back(2);
      refuses(with(ones(other, e.dtype())), static_cast<ShapeError*>(nullptr));
      if (e.dtype() != bool_)
        refuses(with(ones(e.sizes(), e.is_floating_point() ? int32 : bool_)), static_cast<DTypeError*>(nullptr));
      if (e.dtype() != bool_) {
        const TensorList narrow = with(empty({0}, e.is_floating_point() ? int32 : bool_));
        refuses(narrow, static_cast<DTypeError*>(nullptr));
        CHECK(narrow[bad].sizes() == IntSpan{0});
      }
      if (e.numel() > 1) refuses(with(ones({1}, e.dtype()).expand(e.sizes())), static_cast<ShapeError*>(nullptr));
      refuses(with(ones(e.sizes(), {.dtype = float64, .requires_grad = true})), static_cast<AutogradError*>(nullptr));
    }
    if (expected.size() == 2 && expected[0].sizes() == expected[1].sizes()) {
      const Tensor both = ones(expected[0].sizes(), float64);
      refuses({both, both}, static_cast<ValueError*>(nullptr));
    }
  }
}

TEST_CASE("an out form refuses operands whose gradient it would lose, and takes them inside a NoGradGuard") {
  for (const Row& row : rows()) {
    INFO(row.name);
    In in;
    in.x.requires_grad_();
    const TensorList expected = row.call(in);
    TensorList out = each(expected, [](const Tensor& e) { return zeros(e.sizes(), e.dtype()); });
    if (expected[0].requires_grad()) {
      CHECK_THROWS_AS(row.into(in, out), AutogradError);
      CHECK_FALSE(out[0].to(float64).any().item<bool>());
    }
    const NoGradGuard no_grad;
    row.into(in, out);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(alike(out[i], expected[i].detach()));
  }
}

TEST_CASE("an out form gives the same when out lies over an operand, ahead of it and behind it", "[B3]") {
  for (const Row& row : rows()) {
    INFO(row.name);
    const In in;
    const TensorList expected = row.call(in);
    if (expected[0].dtype() != float32 || expected[0].numel() > 100) continue;
    for (const std::int64_t shift : {-3, 0, 5}) {
      const std::int64_t n = expected[0].numel(), first = 8;
      Tensor memory = zeros({200});
      In over = in;
      over.x = memory.narrow(0, first, 12).view({3, 4});
      over.x.copy_(in.x);
      TensorList out = each(expected, [](const Tensor& t) { return zeros(t.sizes(), t.dtype()); });
      out[0] = memory.narrow(0, first + shift, n).view(expected[0].sizes());
      row.into(over, out);
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(alike(out[i], expected[i]));
    }
  }
}

TEST_CASE("out forms infer on meta, and name the operator and out when they refuse") {
  Tensor out = empty({0}, {.device = meta});
  hstack_out(out, {empty({2, 3}, {.device = meta}), empty({2, 1}, {.device = meta})});
  CHECK(out.sizes() == IntSpan{2, 4});

  const In in;
  Tensor whole = zeros({3, 8}, int32), small = zeros({2});
  CHECK_THROWS_WITH(hstack_out(whole, {in.x, in.x}),
                    Catch::Matchers::Contains("hstack: the result is float32, which cannot be stored"));
  CHECK_THROWS_WITH(hstack_out(small, {in.x, in.x}), Catch::Matchers::Contains("hstack: out is float32[2]"));
  CHECK_THROWS_WITH(sum_out(whole, in.x, 0, false, float64), Catch::Matchers::Contains("sum: out is int32[3, 8]"));
  Tensor undefined;
  CHECK_THROWS_WITH(hstack_out(undefined, {in.x}), Catch::Matchers::Contains("empty({0}"));
}
