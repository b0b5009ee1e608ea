#pragma once
// The operators that the benchmark compares, written once and compiled for each side: most functions have the same
// names and arguments in Taper and in its peer, and a `Side` gives the others one name.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "peer.h"

namespace bench {

/// Numbers that look random, the same on both sides, in [-2, 2).
inline std::vector<float> values(std::int64_t n, std::uint64_t seed) {
  std::vector<float> v(static_cast<std::size_t>(n));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (float& x : v) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<float>(state >> 40) * 0x1p-22f - 2;
  }
  return v;
}
/// Numbers in [0, end), each once if there are `end` of them (a power of 2).
inline std::vector<std::int64_t> places(std::int64_t n, std::int64_t end) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) v[std::size_t(i)] = (i * 2654435761 + i / end * 7) % end;
  return v;
}

/// What a row's operator works on. The tensors of `leaves` get gradients when it is timed with its backward pass.
template <class S>
struct Operands {
  using T = typename S::Tensor;
  T x = {}, y = {}, weight = {}, bias = {}, row = {}, column = {}, mask = {}, index = {};

  std::vector<T*> leaves() {
    std::vector<T*> all;
    for (T* t : {&x, &weight, &bias})
      if (t->defined()) all.push_back(t);
    return all;
  }
};

template <class S>
Operands<S> matrices(std::int64_t n) {
  Operands<S> o{S::tensor(values(n * n, 1), {n, n}), S::tensor(values(n * n, 2), {n, n}),
                S::tensor(values(n, 3), {n}),        S::tensor(values(n, 4), {n}),
                S::tensor(values(n, 5), {1, n}),     S::tensor(values(n, 6), {n, 1})};
  o.mask = o.y.gt(0);
  o.index = S::tensor(places(n, n), {n});
  return o;
}

/// Makes rows; operands of the same kind are made once, when the first row that needs them is run.
template <class S>
class RowList {
 public:
  using O = Operands<S>;
  using T = typename S::Tensor;
  using Operator = std::function<T(const O&)>;

  /// The rows that follow work on these.
  void use(std::string suffix, std::function<O()> make) {
    suffix_ = std::move(suffix);
    operands_ = [made = std::make_shared<std::unique_ptr<O>>(), make = std::move(make)]() -> const O& {
      if (!*made) *made = std::make_unique<O>(make());
      return **made;
    };
  }
  void forward(const std::string& name, Operator f) {
    rows_.push_back({name + suffix_, [f, operands = operands_] {
                       const O o = operands();
                       return Prepared{[f, o] { f(o); }, [f, o] { return S::read(f(o)); }};
                     }});
  }
  void backward(const std::string& name, Operator f) {
    rows_.push_back({name + " + backward" + suffix_, [f, operands = operands_] {
                       auto o = std::make_shared<O>(operands());
                       for (T* leaf : o->leaves()) *leaf = leaf->detach().requires_grad_();
                       T y = f(*o);
                       const T g = S::tensor(values(y.numel(), 9), {y.sizes().begin(), y.sizes().end()});
                       const auto step = [f, o, g] {
                         f(*o).backward(g);
                         const T grad = o->x.grad();
                         for (T* leaf : o->leaves()) S::drop_grad(*leaf);
                         return grad;
                       };
                       return Prepared{step, [step] { return S::read(step()); }};
                     }});
  }
  void both(const std::string& name, const Operator& f) {
    forward(name, f);
    backward(name, f);
  }
  std::vector<OperatorRow> take() { return std::move(rows_); }

 private:
  std::string suffix_;
  std::function<const O&()> operands_;
  std::vector<OperatorRow> rows_;
};

template <class S>
void pointwise_rows(RowList<S>& rows) {
  using O = Operands<S>;
  const auto half = [](const auto& t) { return t.slice(1, 0, t.size(1), 2); };
  rows.forward("add", [](const O& o) { return o.x.add(o.y); });
  rows.forward("add, one row", [](const O& o) { return o.x.add(o.row); });
  rows.forward("add, one column", [](const O& o) { return o.x.add(o.column); });
  rows.forward("add, one transposed", [](const O& o) { return o.x.t().add(o.y); });
  rows.forward("add, both transposed", [](const O& o) { return o.x.t().add(o.y.t()); });
  rows.forward("add, every other column", [half](const O& o) { return half(o.x).add(half(o.y)); });
  rows.forward("mul", [](const O& o) { return o.x.mul(o.y); });
  rows.forward("div", [](const O& o) { return o.x.div(o.y); });
  rows.forward("mul, a number", [](const O& o) { return o.x.mul(1.5); });
  rows.forward("exp", [](const O& o) { return o.x.exp(); });
  rows.forward("log of abs", [](const O& o) { return o.x.abs().log(); });
  rows.forward("sin", [](const O& o) { return o.x.sin(); });
  rows.forward("tanh", [](const O& o) { return o.x.tanh(); });
  rows.forward("sigmoid", [](const O& o) { return o.x.sigmoid(); });
  rows.forward("atan2", [](const O& o) { return o.x.atan2(o.y); });
  rows.both("relu", [](const O& o) { return o.x.relu(); });
  rows.both("gelu", [](const O& o) { return gelu(o.x); });
  rows.forward("where", [](const O& o) { return where(o.mask, o.x, o.y); });
  rows.forward("gt", [](const O& o) { return o.x.gt(o.y); });
  rows.forward("eq, a number", [](const O& o) { return o.x.eq(0.5); });
}

template <class S>
void reduction_rows(RowList<S>& rows) {
  using O = Operands<S>;
  using Dims = typename S::Dims;
  rows.forward("sum", [](const O& o) { return o.x.sum(); });
  rows.forward("sum, dim 0", [](const O& o) { return o.x.sum(Dims{0}); });
  rows.forward("sum, dim 1", [](const O& o) { return o.x.sum(Dims{1}); });
  rows.forward("mean", [](const O& o) { return o.x.mean(); });
  rows.forward("max, dim 0", [](const O& o) { return std::get<0>(o.x.max(0)); });
  rows.forward("max, dim 1", [](const O& o) { return std::get<0>(o.x.max(1)); });
  rows.forward("argmax, dim 1", [](const O& o) { return o.x.argmax(1); });
  rows.forward("var, dim 1", [](const O& o) { return S::var_of_rows(o.x); });
  rows.forward("norm", [](const O& o) { return o.x.norm(); });
  rows.both("softmax, dim 1", [](const O& o) { return o.x.softmax(1); });
  rows.forward("softmax, dim 0", [](const O& o) { return o.x.softmax(0); });
  rows.forward("log_softmax, dim 1", [](const O& o) { return o.x.log_softmax(1); });
  rows.both("layer_norm", [](const O& o) { return layer_norm(o.x, Dims{o.x.size(1)}, o.weight, o.bias); });
}

template <class S>
void moving_rows(RowList<S>& rows) {
  using O = Operands<S>;
  rows.forward("t().contiguous()", [](const O& o) { return o.x.t().contiguous(); });
  rows.forward("index_select, dim 0", [](const O& o) { return o.x.index_select(0, o.index); });
  rows.forward("index_select, dim 1", [](const O& o) { return o.x.index_select(1, o.index); });
  rows.forward("cat, dim 0", [](const O& o) { return S::cat(o.x, o.y, 0); });
  rows.forward("cat, dim 1", [](const O& o) { return S::cat(o.x, o.y, 1); });
}

template <class S>
void selection_rows(RowList<S>& rows) {
  using O = Operands<S>;
  rows.forward("sort, dim 0", [](const O& o) { return std::get<0>(o.x.sort(0)); });
  rows.forward("sort, dim 1", [](const O& o) { return std::get<0>(o.x.sort(1)); });
  rows.forward("sort, one line", [](const O& o) { return std::get<0>(o.x.flatten().sort(0)); });
  rows.forward("topk 10, dim 1", [](const O& o) { return std::get<0>(o.x.topk(10, 1)); });
  rows.forward("cumsum, dim 0", [](const O& o) { return o.x.cumsum(0); });
  rows.forward("cumsum, dim 1", [](const O& o) { return o.x.cumsum(1); });
}

/// o.index has x's shape here.
template <class S>
void gather_rows(RowList<S>& rows) {
  using O = Operands<S>;
  rows.forward("gather, dim 0", [](const O& o) { return o.x.gather(0, o.index); });
  rows.forward("gather, dim 1", [](const O& o) { return o.x.gather(1, o.index); });
}

/// Images as they go through the oracle's models.
template <class S>
void image_rows(RowList<S>& rows) {
  using O = Operands<S>;
  struct Convolution {
    std::int64_t channels, size, out_channels, kernel, padding;
  };
  constexpr std::int64_t batch = 64;
  for (const Convolution& c : {Convolution{1, 28, 6, 5, 2}, {6, 14, 16, 5, 0}, {3, 32, 32, 3, 1}, {32, 32, 64, 3, 1}}) {
    const auto number = [](std::int64_t i) { return std::to_string(i); };
    rows.use(", " + number(c.channels) + "x" + number(c.size) + "x" + number(c.size) + " to " + number(c.out_channels) +
                 ", " + number(c.kernel) + "x" + number(c.kernel),
             [c] {
               const std::int64_t window = c.channels * c.kernel * c.kernel;
               return O{S::tensor(values(batch * c.channels * c.size * c.size, 1), {batch, c.channels, c.size, c.size}),
                        {},
                        S::tensor(values(c.out_channels * window, 2), {c.out_channels, c.channels, c.kernel, c.kernel}),
                        S::tensor(values(c.out_channels, 3), {c.out_channels})};
             });
    rows.both("conv2d", [c](const O& o) { return S::conv2d(o.x, o.weight, o.bias, c.padding); });
  }
  struct Image {
    std::int64_t channels, size;
  };
  for (const Image& i : {Image{6, 28}, {16, 10}, {32, 32}}) {
    rows.use(", " + std::to_string(i.channels) + "x" + std::to_string(i.size) + "x" + std::to_string(i.size), [i] {
      return O{S::tensor(values(batch * i.channels * i.size * i.size, 1), {batch, i.channels, i.size, i.size})};
    });
    rows.both("max_pool2d", [](const O& o) { return S::max_pool2d(o.x, 2); });
    rows.both("avg_pool2d", [](const O& o) { return S::avg_pool2d(o.x, 2); });
  }
  rows.both("interpolate, bilinear, twice", [](const O& o) { return S::twice_as_large(o.x); });
}

/// All rows, in the order of the table.
template <class S>
std::vector<OperatorRow> operator_rows() {
  using O = Operands<S>;
  RowList<S> rows;
  for (const std::int64_t n : {1024, 4096}) {
    rows.use(", " + std::to_string(n), [n] { return matrices<S>(n); });
    pointwise_rows(rows);
    reduction_rows(rows);
    moving_rows(rows);
    if (n == 1024) selection_rows(rows);
  }
  rows.use(", 1024", [] {
    O o = matrices<S>(1024);
    o.index = S::tensor(places(1024 * 1024, 1024), {1024, 1024});
    return o;
  });
  gather_rows(rows);
  rows.use(", 4096 of 16384 rows of 256", [] {
    O o;
    o.x = S::tensor(values(16384 * 256, 1), {16384, 256});
    o.index = S::tensor(places(4096, 16384), {4096});
    return o;
  });
  rows.both("embedding", [](const O& o) { return embedding(o.x, o.index); });
  image_rows(rows);
  return rows.take();
}

}  // namespace bench
