#include "subject.h"

#include <taper/autograd/engine.h>
#include <taper/autograd/function.h>
#include <taper/autograd/node.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/tensor_index.h>

#include <algorithm>

#include "shapes.h"

namespace fuzz {
namespace {

using taper::Tensor;

Tensor numbers(const std::vector<double>& v, const Ints& sizes) {
  Tensor t = taper::empty(sizes, taper::float64);
  std::copy(v.begin(), v.end(), static_cast<double*>(t.impl()->data()));
  return t;
}
Tensor positions(const Ints& v) {
  Tensor t = taper::empty({std::int64_t(v.size())}, taper::int64);
  std::copy(v.begin(), v.end(), static_cast<std::int64_t*>(t.impl()->data()));
  return t;
}
Tensor mask(const Ints& v, taper::IntSpan sizes) {
  Tensor t = taper::empty(sizes, taper::bool_);
  std::copy(v.begin(), v.end(), static_cast<bool*>(t.impl()->data()));
  return t;
}

Tensor unary(const std::string& op, const Tensor& x, const std::vector<double>& c) {
  if (op == "add") return x.add(c[0]);
  if (op == "mul") return x.mul(c[0]);
  if (op == "div") return x.div(c[0]);
  if (op == "pow") return x.pow(c[0]);
  if (op == "clamp") return x.clamp(c[0], c[1]);
  if (op == "neg") return x.neg();
  if (op == "exp") return x.exp();
  if (op == "log") return x.log();
  if (op == "sin") return x.sin();
  if (op == "cos") return x.cos();
  if (op == "tanh") return x.tanh();
  if (op == "sigmoid") return x.sigmoid();
  if (op == "relu") return x.relu();
  if (op == "square") return x.square();
  if (op == "sqrt") return x.sqrt();
  if (op == "abs") return x.abs();
  return x.reciprocal();
}
void unary_(const std::string& op, Tensor& x, const std::vector<double>& c) {
  if (op == "add") return void(x.add_(c[0]));
  if (op == "mul") return void(x.mul_(c[0]));
  if (op == "div") return void(x.div_(c[0]));
  if (op == "pow") return void(x.pow_(c[0]));
  if (op == "clamp") return void(x.clamp_(c[0], c[1]));
  if (op == "neg") return void(x.neg_());
  if (op == "exp") return void(x.exp_());
  if (op == "log") return void(x.log_());
  if (op == "sin") return void(x.sin_());
  if (op == "cos") return void(x.cos_());
  if (op == "tanh") return void(x.tanh_());
  if (op == "sigmoid") return void(x.sigmoid_());
  if (op == "relu") return void(x.relu_());
  if (op == "square") return void(x.square_());
  if (op == "sqrt") return void(x.sqrt_());
  if (op == "abs") return void(x.abs_());
  x.reciprocal_();
}
Tensor binary(const std::string& op, const Tensor& x, const Tensor& y) {
  if (op == "add") return x.add(y);
  if (op == "sub") return x.sub(y);
  if (op == "mul") return x.mul(y);
  if (op == "div") return x.div(y);
  return op == "maximum" ? x.maximum(y) : x.minimum(y);
}
void binary_(const std::string& op, Tensor& x, const Tensor& y) {
  if (op == "add") return void(x.add_(y));
  if (op == "sub") return void(x.sub_(y));
  if (op == "mul") return void(x.mul_(y));
  x.div_(y);
}

// Users' functions.
using taper::TensorList;
using taper::autograd::Context;
template <class Op>
using Function = taper::autograd::Function<Op>;

struct Scale : Function<Scale> {
  static Tensor forward(Context& ctx, const Tensor& x, double factor) {
    ctx.save_value("factor", factor);
    return x * factor;
  }
  static TensorList backward(Context& ctx, const TensorList& g) {
    return {g[0] * ctx.value<double>("factor"), Tensor()};
  }
};
struct Square : Function<Square> {
  static Tensor forward(Context& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x;
  }
  static TensorList backward(Context& ctx, const TensorList& g) { return {g[0] * (ctx.saved_tensors()[0] * 2)}; }
};
struct Same : Function<Same> {
  static Tensor forward(Context&, const Tensor& x) { return x; }
  static TensorList backward(Context&, const TensorList& g) { return {g[0] * 1}; }
};
struct ScaleInPlace : Function<ScaleInPlace> {
  static Tensor forward(Context& ctx, Tensor x, double factor) {
    ctx.save_value("factor", factor);
    ctx.mark_dirty({x});
    return x.mul_(factor);
  }
  static TensorList backward(Context& ctx, const TensorList& g) { return Scale::backward(ctx, g); }
};
struct ExpInPlace : Function<ExpInPlace> {
  static Tensor forward(Context& ctx, Tensor x) {
    ctx.mark_dirty({x});
    ctx.save_for_backward({x.exp_()});
    return x;
  }
  static TensorList backward(Context& ctx, const TensorList& g) { return {g[0] * ctx.saved_tensors()[0]}; }
};
struct SecretScale : Function<SecretScale> {
  static Tensor forward(Context& ctx, Tensor x, double factor) {
    ctx.save_value("factor", factor);
    return x.mul_(factor).clone();
  }
  static TensorList backward(Context& ctx, const TensorList& g) { return Scale::backward(ctx, g); }
};

Tensor function(const std::string& op, const Tensor& x, const std::vector<double>& c) {
  if (op == "scale") return Scale::apply(x, c[0]);
  if (op == "square") return Square::apply(x);
  if (op == "same") return Same::apply(x);
  if (op == "scale_") return ScaleInPlace::apply(x, c[0]);
  if (op == "exp_") return ExpInPlace::apply(x);
  return SecretScale::apply(x, c[0]);
}

/// The refusal that an error's text belongs to.
unsigned refusal(const std::string& text) {
  static constexpr std::pair<const char*, unsigned> kinds[] = {
      {"and did not say so", kSecret},
      {"inference tensor", kInference},
      {"shows one memory location as several", kOverlap},
      {"reaches outside the tensor it views", kOutside},
      {"their gradients would be lost", kOutside},
      {"a leaf that requires grad", kLeaf},
      {"was cut off from its own by detach_", kLeaf},
      {"by set_() or set_data()", kShared},
      {"was made under NoGradGuard", kNoGradView},
      {"one of several results of one call", kSeveral},
      {"freed by an earlier backward", kFreed},
      {"does not depend on any tensor that requires grad", kNoHistory},
      {"does not require grad", kNoHistory},
      {"cannot be told to stop requiring grad", kNotLeaf},
      {"detach_: a view", kView},
      {"became the result of", kMoved},
      {"has since become", kReshaped},
      {"from before set_data()", kReshaped},
      {"from before its shape changed", kReshaped},
      {"cannot change the shape of a view", kView},
      {"recording is off", kFrozen},
      {"is frozen", kFrozen},
  };
  for (const auto& [part, kind] : kinds)
    if (text.find(part) != std::string::npos) return kind;
  return kOther;
}

}  // namespace

Subject::~Subject() {
  while (!modes_.empty()) modes_.pop_back();
}

Outcome Subject::execute(const Step& s) {
  try {
    run(s);
    return {};
  } catch (const taper::InplaceConflictError& e) {
    return {kConflict, e.what()};
  } catch (const taper::Error& e) {
    return {refusal(e.what()), e.what()};
  } catch (const std::exception& e) {
    return {kOther, e.what()};
  }
}

void Subject::assign(const Step& s) {
  std::vector<taper::TensorIndex> at;
  Tensor& self = get(s.in[0]);
  std::int64_t dims = 0;
  for (const IndexEntry& e : s.entries) dims += e.kind == IndexEntry::Kind::integer;
  for (const IndexEntry& e : s.entries) {
    switch (e.kind) {
      case IndexEntry::Kind::integer:
        at.emplace_back(e.ints[0]);
        break;
      case IndexEntry::Kind::slice:
        at.emplace_back(taper::Slice(e.ints[0], e.ints[1], e.ints[2]));
        break;
      case IndexEntry::Kind::list:
        at.emplace_back(positions(e.ints));
        break;
      case IndexEntry::Kind::mask: {
        const taper::IntSpan sizes = self.sizes();
        at.emplace_back(mask(e.ints, taper::IntSpan(sizes.begin() + dims, sizes.size() - std::size_t(dims))));
      }
    }
  }
  if (s.in.size() > 1)
    self.index_put_(at, get(s.in[1]));
  else
    self.index_put_(at, s.numbers[0]);
}

void Subject::differentiate(const Step& s) {
  const Tensor root = get(s.in[0]);
  const Tensor seed = s.numbers.empty() ? Tensor() : numbers(s.numbers, root.sizes().vec());
  taper::TensorList inputs;
  for (std::size_t i = 1; i < s.in.size(); ++i) inputs.push_back(get(s.in[i]));
  const std::optional<bool> retain = s.flag ? std::optional(true) : std::nullopt;
  if (s.what == Do::backward) return root.backward(seed, retain, s.flag2, inputs);
  const taper::TensorList g = taper::autograd::grad(
      {root}, inputs, {seed}, {.retain_graph = retain, .create_graph = s.flag2, .allow_unused = true});
  for (std::size_t i = 0; i < g.size(); ++i)
    variables_[s.out[i]] = g[i].defined() ? g[i] : taper::zeros(inputs[i].sizes(), taper::float64);
}

void Subject::run(const Step& s) {
  const auto self = [&]() -> Tensor& { return get(s.in[0]); };
  const auto other = [&]() -> Tensor& { return get(s.in[1]); };
  const auto make = [&](Tensor t) { variables_[s.out[0]] = std::move(t); };
  const auto make_all = [&](const taper::TensorList& ts) {
    for (std::size_t i = 0; i < s.out.size(); ++i) variables_[s.out[i]] = ts.at(i);
  };
  const Ints& i = s.ints;
  switch (s.what) {
    case Do::leaf: {
      Tensor t = numbers(s.numbers, s.sizes);
      if (s.flag) t.requires_grad_();
      return make(t);
    }
    case Do::unary:
      return make(unary(s.op, self(), s.numbers));
    case Do::binary:
      return make(binary(s.op, self(), other()));
    case Do::clone:
      return make(self().clone());
    case Do::sum:
      return make(self().sum());
    case Do::sum_dim:
      return make(self().sum({i[0]}));
    case Do::mean_dim:
      return make(self().mean({i[0]}));
    case Do::matmul:
      return make(self().matmul(other()));
    case Do::cat:
      return make(taper::cat({self(), other()}, i[0]));
    case Do::where: {
      const auto shape = broadcast(self().sizes().vec(), other().sizes().vec());
      return make(taper::where(mask(i, *shape), self(), other()));
    }
    case Do::take:
      return make(self().index({positions(i)}));
    case Do::function:
      return make(function(s.op, self(), s.numbers));
    case Do::unary_:
      return unary_(s.op, self(), s.numbers);
    case Do::binary_:
      return binary_(s.op, self(), other());
    case Do::copy_:
      return void(self().copy_(other()));
    case Do::fill_:
      return void(self().fill_(s.numbers[0]));
    case Do::fill_tensor_:
      return void(self().fill_(other()));
    case Do::zero_:
      return void(self().zero_());
    case Do::reshape_:
      if (s.op == "transpose") return void(self().transpose_(i[0], i[1]));
      if (s.op == "squeeze") return void(self().squeeze_(i[0]));
      return void(self().unsqueeze_(i[0]));
    case Do::assign:
      return assign(s);
    case Do::masked_fill_:
      if (s.in.size() > 1) return void(self().masked_fill_(mask(i, self().sizes()), other()));
      return void(self().masked_fill_(mask(i, self().sizes()), s.numbers[0]));
    case Do::view_select:
      return make(self().select(i[0], i[1]));
    case Do::view_slice:
      return make(self().slice(i[0], i[1], i[2], i[3]));
    case Do::view_transpose:
      return make(self().transpose(i[0], i[1]));
    case Do::view_diagonal:
      return make(self().diagonal(i[0], i[1], i[2]));
    case Do::view_strided:
      return make(self().as_strided(s.sizes, s.strides, i[0]));
    case Do::view_expand:
      return make(self().expand(s.sizes));
    case Do::view_unsqueeze:
      return make(self().unsqueeze(i[0]));
    case Do::view_squeeze:
      return make(self().squeeze(i[0]));
    case Do::view_reshape:
      return make(self().view(s.sizes));
    case Do::view_unfold:
      return make(self().unfold(i[0], i[1], i[2]));
    case Do::unbind:
      return make_all(self().unbind(i[0]));
    case Do::split:
      return make_all(self().split(i[0], i[1]));
    case Do::chunk:
      return make_all(self().chunk(i[0], i[1]));
    case Do::detach:
      return make(self().detach());
    case Do::detach_:
      return void(self().detach_());
    case Do::requires_grad_:
      return void(self().requires_grad_(s.flag));
    case Do::set_data:
      return self().set_data(other());
    case Do::retain_grad:
      return self().retain_grad();
    case Do::grad_of: {
      const Tensor g = self().grad();
      return make(g.defined() ? g : taper::zeros(self().sizes(), taper::float64));
    }
    case Do::zero_grad:
      return self().zero_grad();
    case Do::no_grad:
      modes_.push_back(std::make_unique<Mode>(std::in_place_type<taper::NoGradGuard>));
      return;
    case Do::inference:
      modes_.push_back(std::make_unique<Mode>(std::in_place_type<taper::InferenceMode>));
      return;
    case Do::end:
      return modes_.pop_back();
    case Do::backward:
    case Do::grad:
      return differentiate(s);
  }
}

}  // namespace fuzz
