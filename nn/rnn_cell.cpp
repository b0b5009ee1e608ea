#include <taper/factory.h>
#include <taper/nn/init.h>
#include <taper/ops/blend.h>
#include <taper/ops/matmul.h>

#include <cmath>

#include "fan_init.h"
#include "rnn_steps.h"

namespace taper::nn {

// Products are new memory, which nothing else has seen: what follows overwrites them where backward does not need them.

Tensor rnn_step(const Tensor& from_input, const Tensor& h, const Tensor& weight_hh, const Tensor& bias_hh,
                RNNNonlinearity nonlinearity) {
  Tensor next = linear(h, weight_hh, bias_hh);
  next.add_(from_input);
  return nonlinearity == RNNNonlinearity::tanh ? next.tanh_() : next.relu_();
}

void lstm_step(const Tensor& from_input, Tensor& h, Tensor& c, const Tensor& weight_hh, const Tensor& bias_hh,
               const Tensor& weight_hr) {
  Tensor gates = linear(h, weight_hh, bias_hh);
  gates.add_(from_input);
  const TensorList parts = gates.chunk(4, -1);
  const Tensor i = parts[0].sigmoid(), f = parts[1].sigmoid(), g = parts[2].tanh(), o = parts[3].sigmoid();
  c = f.mul(c).addcmul_(i, g);
  h = o.mul(c.tanh());
  if (weight_hr.defined()) h = linear(h, weight_hr);
}

Tensor gru_step(const Tensor& from_input, const Tensor& h, const Tensor& weight_hh, const Tensor& bias_hh) {
  const std::int64_t hidden = h.size(-1);
  const std::int64_t sizes[] = {2 * hidden, hidden};
  const TensorList by_x = from_input.split_with_sizes(sizes, -1);
  const TensorList by_h = linear(h, weight_hh, bias_hh).split_with_sizes(sizes, -1);
  const TensorList rz = by_x[0].add(by_h[0]).sigmoid_().chunk(2, -1);
  const Tensor n = rz[0].mul(by_h[1]).add_(by_x[1]).tanh_();
  return n.lerp(h, rz[1]);  // (1 - z) n + z h
}

void init_recurrent(Tensor t, std::int64_t hidden_size) {
  if (!t.defined()) return;
  const double bound = 1 / std::sqrt(double(hidden_size));
  init::uniform_(t, -bound, bound);
}

RecurrentCell::RecurrentCell(const char* name, std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                             const RecurrentCellOptions& options)
    : name_(name), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  check<ValueError>(input_size > 0 && hidden_size > 0, name, ": input_size and hidden_size must be positive, got ",
                    input_size, " and ", hidden_size);
  const auto parameter = [&](IntSpan sizes) { return Parameter(empty(sizes, options.dtype, options.device)); };
  weight_ih = parameter({gates * hidden_size, input_size});
  weight_hh = parameter({gates * hidden_size, hidden_size});
  if (options.bias) {
    bias_ih = parameter({gates * hidden_size});
    bias_hh = parameter({gates * hidden_size});
  }
  reset_parameters();
}

void RecurrentCell::reset_parameters() {
  for (const Parameter* p : {&weight_ih, &weight_hh, &bias_ih, &bias_hh}) init_recurrent(*p, hidden_size_);
}

void RecurrentCell::members(MemberVisitor& v) {
  v("weight_ih", weight_ih);
  v("weight_hh", weight_hh);
  v("bias_ih", bias_ih);
  v("bias_hh", bias_hh);
}

std::string RecurrentCell::extra_repr() const {
  std::string s = std::to_string(input_size_) + ", " + std::to_string(hidden_size_);
  if (!options_.bias) s += ", bias=False";
  return s;
}

void RecurrentCell::check_input(const Tensor& input) const {
  check<ShapeError>((input.dim() == 1 || input.dim() == 2) && input.size(-1) == input_size_, name_,
                    ": input must be [n, ", input_size_, "] or [", input_size_, "], got ", input.spec());
}

Tensor RecurrentCell::checked_state(const Tensor& state, const char* what, const Tensor& input) const {
  const IntVec want = input.dim() == 1 ? IntVec{hidden_size_} : IntVec{input.size(0), hidden_size_};
  if (!state.defined()) return zeros(IntSpan(want), input.dtype(), input.device());
  check<ShapeError>(state.sizes() == IntSpan(want), name_, ": ", what, " must be ", IntSpan(want), " for input ",
                    input.sizes(), ", got ", state.sizes());
  return state;
}

RNNCell::RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RNNCellOptions& options)
    : RecurrentCell("RNNCell", 1, input_size, hidden_size,
                    {.bias = options.bias, .dtype = options.dtype, .device = options.device}),
      nonlinearity_(options.nonlinearity) {}

Tensor RNNCell::forward(const Tensor& input, const Tensor& hx) {
  check_input(input);
  const Tensor h = checked_state(hx, "hx", input);
  return rnn_step(linear(input, weight_ih, bias_ih), h, weight_hh, bias_hh, nonlinearity_);
}

std::string RNNCell::extra_repr() const {
  return RecurrentCell::extra_repr() + (nonlinearity_ == RNNNonlinearity::relu ? ", nonlinearity=relu" : "");
}

RNNCell RNNCell::clone() const {
  const RecurrentCellOptions& o = cell_options();
  const RNNCellOptions options{.bias = o.bias, .nonlinearity = nonlinearity_, .dtype = o.dtype, .device = o.device};
  return clone_as(*this, input_size(), hidden_size(), options);
}

LSTMCell::LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
    : RecurrentCell("LSTMCell", 4, input_size, hidden_size, options) {}

std::tuple<Tensor, Tensor> LSTMCell::forward(const Tensor& input, const std::tuple<Tensor, Tensor>& hx) {
  check_input(input);
  Tensor h = checked_state(std::get<0>(hx), "h", input), c = checked_state(std::get<1>(hx), "c", input);
  lstm_step(linear(input, weight_ih, bias_ih), h, c, weight_hh, bias_hh, {});
  return {h, c};
}

GRUCell::GRUCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
    : RecurrentCell("GRUCell", 3, input_size, hidden_size, options) {}

Tensor GRUCell::forward(const Tensor& input, const Tensor& hx) {
  check_input(input);
  const Tensor h = checked_state(hx, "hx", input);
  return gru_step(linear(input, weight_ih, bias_ih), h, weight_hh, bias_hh);
}

}  // namespace taper::nn
