#include "generate.h"

#include <cmath>

#include "shapes.h"

namespace fuzz {
namespace {
constexpr std::size_t kMostElements = 16;
}

double Generator::number() {
  const double x = double(between(-200, 200)) / 100;
  return x == 0 ? 0.5 : x;
}

Ints Generator::shape(int most_dims) {
  Ints sizes;
  for (std::int64_t d = between(0, most_dims); d > 0; --d) sizes.push_back(chance(2) ? 0 : between(1, 3));
  return count(sizes) > kMostElements ? Ints{2, 2} : sizes;
}

/// Recent ones more often: chains are what finds mistakes.
int Generator::variable(const Reference& state) {
  std::vector<int> all;
  for (const auto& [v, _] : state.names()) all.push_back(v);
  // What a recorded pass was computed from is what it has kept.
  if (higher_ && differentiated_ > all[0] && chance(40)) std::erase_if(all, [&](int v) { return v > differentiated_; });
  const std::size_t n = all.size();
  return chance(60) ? all[n - 1 - std::size_t(between(0, std::int64_t(std::min<std::size_t>(n, 5)) - 1))] : one_of(all);
}

/// A variable of this shape, or one that broadcasts to it; -1 if there is none.
int Generator::like(const Reference& state, const Ints& shape, bool broadcasts) {
  std::vector<int> fit;
  for (const auto& [v, _] : state.names()) {
    const Ints& s = state.at(v).shape;
    if (s == shape || (broadcasts && broadcast(s, shape) == shape)) fit.push_back(v);
  }
  return fit.empty() ? -1 : one_of(fit);
}

Step Generator::leaf() {
  Step s;
  s.what = Do::leaf;
  s.out = {made()};
  s.sizes = shape(3);
  for (std::size_t i = count(s.sizes); i > 0; --i) s.numbers.push_back(number());
  s.flag = chance(60);
  return s;
}

void Generator::number_arguments(Step& s) {
  static const std::vector<std::string> names{"neg",     "exp",  "log",        "sin",  "cos",  "tanh",
                                              "sigmoid", "relu", "square",     "sqrt", "abs",  "add",
                                              "mul",     "div",  "reciprocal", "pow",  "clamp"};
  s.op = one_of(names);
  if (s.op == "add" || s.op == "mul" || s.op == "div") s.numbers = {number()};
  if (s.op == "pow") s.numbers = {double(between(2, 3))};
  if (s.op == "clamp") s.numbers = {-0.9, 0.95};
}

Step Generator::function(const Reference& state) {
  Step s;
  s.what = Do::function;
  s.in = {variable(state)};
  s.out = {made()};
  s.op = one_of(std::vector<std::string>{"scale", "square", "same", "scale_", "scale_", "exp_", "secret_"});
  if (s.op == "scale" || s.op == "scale_" || s.op == "secret_") s.numbers = {number()};
  return s;
}

std::optional<Step> Generator::out_of_place(Reference& state) {
  Step s;
  const int self = variable(state);
  const Ints& sizes = state.at(self).shape;
  s.in = {self};
  const std::int64_t dims = std::int64_t(sizes.size());
  const auto second = [&](const Ints& want, bool broadcasts) {
    const int other = like(state, want, broadcasts);
    if (other >= 0) s.in.push_back(other);
    return other >= 0;
  };
  switch (higher_ && chance(80) ? between(0, 6) : between(0, 11)) {
    case 0:
    case 1:
    case 2:
      s.what = Do::unary;
      number_arguments(s);
      break;
    case 3:
    case 4:
    case 5:
    case 6:
      s.what = Do::binary;
      s.op = one_of(std::vector<std::string>{"add", "sub", "mul", "mul", "mul", "div", "maximum", "minimum"});
      if (!second(sizes, true)) return {};
      if (chance(30)) std::swap(s.in[0], s.in[1]);
      break;
    case 7:
      s.what = Do::clone;
      break;
    case 8:
      s.what = dims == 0 || chance(40) ? Do::sum : chance(50) ? Do::sum_dim : Do::mean_dim;
      if (s.what != Do::sum) s.ints = {between(0, dims - 1)};
      break;
    case 9:
      if (dims == 2 && chance(60)) {
        s.what = Do::matmul;
        if (!second({sizes[1], sizes[0]}, false) && !second({sizes[1], sizes[1]}, false)) return {};
      } else {
        if (dims == 0 || 2 * count(sizes) > kMostElements || !second(sizes, false)) return {};
        s.what = Do::cat;
        s.ints = {between(0, dims - 1)};
      }
      break;
    case 10:
      s.what = Do::where;
      if (!second(sizes, true)) return {};
      for (std::size_t i = count(sizes); i > 0; --i) s.ints.push_back(between(0, 1));
      break;
    default:
      if (dims == 0 || sizes[0] == 0) return {};
      s.what = Do::take;
      for (std::int64_t i = between(1, 3); i > 0; --i) s.ints.push_back(between(0, sizes[0] - 1));
  }
  s.out = {made()};
  return s;
}

std::optional<Step> Generator::in_place(Reference& state) {
  Step s;
  const int self = variable(state);
  const Ints& sizes = state.at(self).shape;
  s.in = {self};
  const auto value = [&](const Ints& want, bool broadcasts) {
    const int other = like(state, want, broadcasts);
    if (other >= 0) s.in.push_back(other);
    return other >= 0;
  };
  switch (between(0, 9)) {
    case 0:
    case 1:
      s.what = Do::unary_;
      number_arguments(s);
      break;
    case 2:
    case 3:
    case 4:
      s.what = Do::binary_;
      s.op = one_of(std::vector<std::string>{"add", "sub", "mul", "mul", "mul", "div"});
      if (!value(sizes, true)) return {};
      break;
    case 5:
      s.what = Do::copy_;
      if (!value(sizes, true)) return {};
      break;
    case 6:
      s.what = Do::fill_;
      if (chance(50) && value({}, false))
        s.what = Do::fill_tensor_;
      else
        s.numbers = {number()};
      break;
    case 7:
      s.what = Do::zero_;
      break;
    case 8:
      s.what = Do::masked_fill_;
      for (std::size_t i = count(sizes); i > 0; --i) s.ints.push_back(between(0, 1));
      if (!chance(50) || !value({}, false)) s.numbers = {number()};
      break;
    default:
      return assignment(state);
  }
  return s;
}

std::optional<Step> Generator::assignment(Reference& state) {
  Step s;
  s.what = Do::assign;
  const int self = variable(state);
  Ints sizes = state.at(self).shape, shown;
  s.in = {self};
  if (sizes.empty()) return {};
  const std::size_t leading = std::size_t(between(0, std::int64_t(sizes.size())));
  std::size_t d = 0;
  bool integers_only = true;
  for (; d < leading; ++d) {
    if (sizes[d] == 0) return {};
    IndexEntry e;
    if (chance(50)) {
      e.ints = {between(0, sizes[d] - 1)};
    } else {
      e.kind = IndexEntry::Kind::slice;
      e.ints = {between(0, sizes[d] - 1), between(1, sizes[d]), between(1, 2)};
      integers_only = false;
      const std::int64_t start = e.ints[0], end = std::max(start, e.ints[1]);
      shown.push_back((end - start + e.ints[2] - 1) / e.ints[2]);
    }
    s.entries.push_back(e);
  }
  if (integers_only && d < sizes.size() && sizes[d] > 0 && (chance(60) || leading == 0)) {
    IndexEntry e;
    if (chance(50)) {
      e.kind = IndexEntry::Kind::list;
      for (std::int64_t i = between(1, 3); i > 0; --i) e.ints.push_back(between(0, sizes[d] - 1));
      shown.push_back(std::int64_t(e.ints.size()));
      ++d;
    } else {
      e.kind = IndexEntry::Kind::mask;
      std::int64_t on = 0;
      for (std::size_t i = count(Ints(sizes.begin() + std::ptrdiff_t(d), sizes.end())); i > 0; --i) {
        e.ints.push_back(between(0, 1));
        on += e.ints.back();
      }
      shown.push_back(on);
      d = sizes.size();
    }
    s.entries.push_back(e);
  }
  if (s.entries.empty()) return {};
  shown.insert(shown.end(), sizes.begin() + std::ptrdiff_t(d), sizes.end());
  const int value = chance(70) ? like(state, shown, true) : -1;
  if (value >= 0)
    s.in.push_back(value);
  else
    s.numbers = {number()};
  return s;
}

std::optional<Step> Generator::view(Reference& state) {
  Step s;
  const int self = variable(state);
  const Variable& v = state.at(self);
  const Ints& sizes = v.shape;
  const std::int64_t dims = std::int64_t(sizes.size());
  s.in = {self};
  const auto dim = [&] { return between(0, dims - 1); };
  switch (between(0, 10)) {
    case 0:
    case 1: {
      if (dims == 0) return {};
      s.what = Do::view_select;
      const std::int64_t d = dim();
      if (sizes[std::size_t(d)] == 0) return {};
      s.ints = {d, between(0, sizes[std::size_t(d)] - 1)};
      break;
    }
    case 2:
    case 3: {
      if (dims == 0) return {};
      s.what = Do::view_slice;
      const std::int64_t d = dim(), size = sizes[std::size_t(d)], start = between(0, size);
      s.ints = {d, start, between(start, size), between(1, 2)};
      break;
    }
    case 4:
      if (dims < 2) return {};
      s.what = Do::view_transpose;
      s.ints = {dim(), dim()};
      break;
    case 5:
      if (dims < 2) return {};
      s.what = Do::view_diagonal;
      s.ints = {between(-1, 1), dim(), dim()};
      break;
    case 6: {
      const auto size = std::int64_t(state.memory(v).values.size());
      if (size == 0) return {};
      s.what = Do::view_strided;
      for (std::int64_t d = between(0, 2); d > 0; --d) {
        s.sizes.push_back(between(1, 3));
        s.strides.push_back(between(0, 3));
      }
      s.ints = {between(0, size - 1)};
      break;
    }
    case 7:
      s.what = Do::view_expand;
      if (v.numel() * 3 > kMostElements) return {};
      s.sizes = sizes;
      for (std::int64_t& n : s.sizes)
        if (n == 1 && chance(60)) n = between(1, 3);
      if (chance(40)) s.sizes.insert(s.sizes.begin(), between(1, 2));
      break;
    case 8:
      if (dims > 3) return {};
      s.what = dims == 0 || chance(50) ? Do::view_unsqueeze : Do::view_squeeze;
      s.ints = {between(0, s.what == Do::view_unsqueeze ? dims : dims - 1)};
      break;
    case 9: {
      s.what = Do::view_reshape;
      const std::int64_t n = std::int64_t(v.numel()), first = between(1, 4);
      if (n == 0 || n % first) return {};
      s.sizes = chance(40) ? Ints{n} : Ints{first, n / first};
      break;
    }
    default: {
      if (dims == 0 || dims > 2) return {};
      s.what = Do::view_unfold;
      const std::int64_t d = dim();
      s.ints = {d, between(1, std::max<std::int64_t>(1, sizes[std::size_t(d)])), between(1, 2)};
    }
  }
  s.out = {made()};
  return s;
}

std::optional<Step> Generator::several(Reference& state) {
  Step s;
  const int self = variable(state);
  const Ints& sizes = state.at(self).shape;
  if (sizes.empty()) return {};
  s.in = {self};
  const std::int64_t d = between(0, std::int64_t(sizes.size()) - 1), size = sizes[std::size_t(d)];
  if (size == 0) return {};
  const std::int64_t k = between(1, size), each = (size + k - 1) / k;
  std::int64_t parts = size;
  switch (between(0, 2)) {
    case 0:
      s.what = Do::unbind;
      s.ints = {d};
      break;
    case 1:
      s.what = Do::split;
      s.ints = {k, d};
      parts = (size + k - 1) / k;
      break;
    default:
      s.what = Do::chunk;
      s.ints = {k, d};
      parts = (size + each - 1) / each;
  }
  for (; parts > 0; --parts) s.out.push_back(made());
  return s;
}

std::optional<Step> Generator::change(Reference& state) {
  Step s;
  const int self = variable(state);
  s.in = {self};
  switch (between(0, 11)) {
    case 10:
    case 11: {
      const std::int64_t dims = std::int64_t(state.at(self).shape.size());
      if (dims == 0 || dims > 3) return {};
      s.what = Do::reshape_;
      s.op = one_of(std::vector<std::string>{"transpose", "squeeze", "unsqueeze"});
      s.ints = {between(0, dims - 1)};
      if (s.op == "transpose") s.ints.push_back(between(0, dims - 1));
      break;
    }
    case 0:
    case 1:
      s.what = Do::detach;
      s.out = {made()};
      break;
    case 2:
      s.what = Do::detach_;
      break;
    case 3:
    case 4:
      s.what = Do::requires_grad_;
      s.flag = chance(80);
      break;
    case 5:
      s.what = Do::set_data;
      s.in.push_back(chance(70) ? like(state, state.at(self).shape, false) : variable(state));
      break;
    case 6:
      s.what = Do::retain_grad;
      break;
    case 7:
    case 8:
      s.what = Do::grad_of;
      s.out = {made()};
      break;
    default:
      s.what = Do::zero_grad;
  }
  return s;
}

std::optional<Step> Generator::pass(Reference& state, int root) {
  Step s;
  const Variable& v = state.at(root);
  s.in = {root};
  s.what = chance(higher_ ? 30 : 60) ? Do::backward : Do::grad;
  s.flag = chance(higher_ ? 80 : 50);
  s.flag2 = chance(higher_ ? 70 : 30);
  if (v.numel() != 1 || chance(30))
    for (std::size_t i = v.numel(); i > 0; --i) s.numbers.push_back(number());
  const std::int64_t inputs = s.what == Do::grad ? between(1, 2) : chance(20) ? 1 : 0;
  for (std::int64_t i = 0; i < inputs; ++i) {
    std::vector<int> before;
    if (higher_)
      for (const auto& [other, _] : state.names())
        if (other < root && state.requires_grad(other)) before.push_back(other);
    s.in.push_back(before.empty() ? variable(state) : one_of(before));
    if (s.what == Do::grad) s.out.push_back(made());
  }
  // Mostly ask for what can be asked for: refusals are quick to test.
  for (const int in : s.in)
    if (!state.requires_grad(in) && chance(95)) return {};
  if (s.flag2) {
    derived_.insert(derived_.end(), s.out.begin(), s.out.end());
    differentiated_ = root;
  }
  return s;
}

std::optional<Step> Generator::last_pass(Reference& state) {
  if (state.names().empty()) return {};
  const int again = derived(state);
  return pass(state, again >= 0 && chance(50) ? again : variable(state));
}

/// What a recorded pass returned, if there is any: it is differentiated again more often than others are once.
int Generator::derived(const Reference& state) {
  std::erase_if(derived_, [&](int v) { return !state.has(v) || !state.requires_grad(v); });
  return derived_.empty() ? -1 : one_of(derived_);
}

std::optional<Step> Generator::propose(Reference& state) {
  if (state.names().size() < 2) return leaf();
  const int again = derived(state);
  if (again >= 0 && chance(higher_ ? 20 : 4)) return pass(state, again);
  // In a program about higher derivatives, first something curved, then passes, then writes to what they kept.
  const std::int64_t what = higher_ && chance(40) ? (again >= 0 ? 40 : chance(50) ? 90 : 20) : between(0, 99);
  if (what < 8) return leaf();
  if (what < 32) return chance(15) ? function(state) : out_of_place(state);
  if (what < 58) return in_place(state);
  if (what < 78) return view(state);
  if (what < 81) return several(state);
  if (what < 88) return change(state);
  if (what < (higher_ ? 97 : 94)) return pass(state, variable(state));
  Step s;
  s.what = state.depth() > 0 && chance(70) ? Do::end : chance(80) ? Do::no_grad : Do::inference;
  return s;
}

}  // namespace fuzz
