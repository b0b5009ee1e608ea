#include <taper/factory.h>
#include <taper/nn/rnn.h>
#include <taper/ops/dropout.h>
#include <taper/ops/join.h>
#include <taper/ops/matmul.h>

#include "fan_init.h"
#include "rnn_steps.h"

namespace taper::nn {

RecurrentNetwork::RecurrentNetwork(const char* name, std::int64_t gates, std::int64_t input_size,
                                   std::int64_t hidden_size, const LSTMOptions& options)
    : name_(name), gates_(gates), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  check<ValueError>(input_size > 0 && hidden_size > 0 && options.num_layers > 0, name,
                    ": input_size, hidden_size and num_layers must be positive, got ", input_size, ", ", hidden_size,
                    " and ", options.num_layers);
  check<ValueError>(options.dropout >= 0 && options.dropout <= 1, name, ": dropout must be in [0, 1], got ",
                    options.dropout);
  check<ValueError>(options.proj_size >= 0 && options.proj_size < hidden_size, name,
                    ": proj_size must be from 0, for none, to less than hidden_size ", hidden_size, ", got ",
                    options.proj_size);
  const auto parameter = [&](IntSpan sizes) { return Parameter(empty(sizes, options.dtype, options.device)); };
  const std::int64_t rows = gates * hidden_size, hidden = options.proj_size > 0 ? options.proj_size : hidden_size;
  weights_ = std::vector<Weights>(std::size_t(options.num_layers * num_directions()));
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    Weights& w = weights_[i];
    const bool is_first = i < std::size_t(num_directions());
    w.weight_ih = parameter({rows, is_first ? input_size : hidden * num_directions()});
    w.weight_hh = parameter({rows, hidden});
    if (options.bias) {
      w.bias_ih = parameter({rows});
      w.bias_hh = parameter({rows});
    }
    if (options.proj_size > 0) w.weight_hr = parameter({options.proj_size, hidden_size});
  }
  reset_parameters();
}

void RecurrentNetwork::reset_parameters() {
  for (const Weights& w : weights_)
    for (const Parameter* p : {&w.weight_ih, &w.weight_hh, &w.bias_ih, &w.bias_hh, &w.weight_hr})
      init_recurrent(*p, hidden_size_);
}

void RecurrentNetwork::members(MemberVisitor& v) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const std::size_t directions = std::size_t(num_directions());
    const std::string suffix = "_l" + std::to_string(i / directions) + (i % directions == 1 ? "_reverse" : "");
    v("weight_ih" + suffix, weights_[i].weight_ih);
    v("weight_hh" + suffix, weights_[i].weight_hh);
    v("bias_ih" + suffix, weights_[i].bias_ih);
    v("bias_hh" + suffix, weights_[i].bias_hh);
    v("weight_hr" + suffix, weights_[i].weight_hr);
  }
}

std::string RecurrentNetwork::extra_repr() const {
  const LSTMOptions& o = options_;
  std::string s = std::to_string(input_size_) + ", " + std::to_string(hidden_size_);
  if (o.proj_size != 0) s += ", proj_size=" + std::to_string(o.proj_size);
  if (o.num_layers != 1) s += ", num_layers=" + std::to_string(o.num_layers);
  if (!o.bias) s += ", bias=False";
  if (o.batch_first) s += ", batch_first=True";
  if (o.dropout != 0) s += ", dropout=" + name_of_number(o.dropout);
  if (o.bidirectional) s += ", bidirectional=True";
  return s;
}

RecurrentNetwork::Weights& RecurrentNetwork::weights(std::int64_t layer, bool reverse) {
  check<IndexError>(layer >= 0 && layer < num_layers() && (!reverse || options_.bidirectional), name_,
                    ": there are no ", reverse ? "reverse " : "", "weights of layer ", layer, " among ", num_layers(),
                    options_.bidirectional ? " in two directions" : " in one direction");
  return weights_[std::size_t(layer * num_directions() + (reverse ? 1 : 0))];
}

void RecurrentNetwork::check_input(const Tensor& input) const {
  const char* const batched = options_.batch_first ? "[n, t, " : "[t, n, ";
  check<ShapeError>((input.dim() == 2 || input.dim() == 3) && input.size(-1) == input_size_, name_, ": input must be ",
                    batched, input_size_, "] or [t, ", input_size_, "], got ", input.spec());
  const std::int64_t time_dim = options_.batch_first && input.dim() == 3 ? 1 : 0;
  check<ShapeError>(input.size(time_dim) > 0, name_, ": input has no times, got ", input.spec());
}

void RecurrentNetwork::check_state(const Tensor& state, const char* what, std::int64_t size,
                                   const Tensor& input) const {
  if (!state.defined()) return;
  IntVec want{std::int64_t(weights_.size()), size};
  if (input.dim() == 3) want = {want[0], input.size(options_.batch_first ? 0 : 1), size};
  check<ShapeError>(state.sizes() == IntSpan(want), name_, ": ", what, " must be ", IntSpan(want),
                    " (layers and directions, ", input.dim() == 3 ? "batch, " : "", "size) for input ", input.sizes(),
                    ", got ", state.sizes());
}

Tensor RecurrentNetwork::run_direction(const Tensor& x, std::int64_t time_dim, bool reverse, const Weights& w,
                                       State& state) const {
  const bool sums_biases = w.bias_hh.defined() && !adds_bias();
  // One product for all times.
  const Tensor gates = linear(x, w.weight_ih, sums_biases ? w.bias_ih.add(w.bias_hh) : Tensor(w.bias_ih));
  const TensorList from_input = gates.unbind(time_dim);
  const std::size_t times = from_input.size();
  TensorList outputs(times);
  for (std::size_t i = 0; i < times; ++i) {
    const std::size_t t = reverse ? times - 1 - i : i;
    step(from_input[t], w, state);
    outputs[t] = state.h;
  }
  return stack(outputs, time_dim);
}

RecurrentNetwork::Result RecurrentNetwork::run(const Tensor& input, const State& first) {
  check_input(input);
  const std::int64_t hidden = options_.proj_size > 0 ? options_.proj_size : hidden_size_;
  check_state(first.h, gates_ == 4 ? "h" : "hx", hidden, input);
  check_state(first.c, "c", hidden_size_, input);
  const bool batched = input.dim() == 3;
  const std::int64_t time_dim = options_.batch_first ? 1 : 0, batch_dim = 1 - time_dim;
  Tensor x = batched ? input : input.unsqueeze(batch_dim);
  const std::int64_t n = x.size(batch_dim);

  const auto states = [&](const Tensor& given, std::int64_t size) {
    if (given.defined()) return (batched ? given : given.unsqueeze(1)).unbind(0);
    return TensorList(weights_.size(), zeros({n, size}, x.dtype(), x.device()));
  };
  TensorList h = states(first.h, hidden), c;
  if (gates_ == 4) c = states(first.c, hidden_size_);
  const std::size_t directions = std::size_t(num_directions());
  for (std::size_t i = 0; i < weights_.size(); i += directions) {
    if (i > 0 && options_.dropout > 0) x = dropout(x, options_.dropout, is_training());
    TensorList outputs(directions);
    for (std::size_t d = 0; d < directions; ++d) {
      State state{h[i + d], c.empty() ? Tensor() : c[i + d]};
      outputs[d] = run_direction(x, time_dim, d == 1, weights_[i + d], state);
      h[i + d] = state.h;
      if (!c.empty()) c[i + d] = state.c;
    }
    x = directions == 1 ? outputs[0] : cat(outputs, -1);
  }

  const auto joined = [&](const TensorList& s) {
    if (s.empty()) return Tensor();
    const Tensor all = stack(s, 0);
    return batched ? all : all.squeeze(1);
  };
  return {batched ? x : x.squeeze(batch_dim), {joined(h), joined(c)}};
}

RNN::RNN(std::int64_t input_size, std::int64_t hidden_size, const RNNOptions& options)
    : RecurrentNetwork("RNN", 1, input_size, hidden_size,
                       {.num_layers = options.num_layers,
                        .bias = options.bias,
                        .batch_first = options.batch_first,
                        .dropout = options.dropout,
                        .bidirectional = options.bidirectional,
                        .dtype = options.dtype,
                        .device = options.device}),
      options_(options) {}

std::tuple<Tensor, Tensor> RNN::forward(const Tensor& input, const Tensor& hx) {
  Result r = run(input, {hx, {}});
  return {std::move(r.output), std::move(r.last.h)};
}

void RNN::step(const Tensor& from_input, const Weights& w, State& state) const {
  state.h = rnn_step(from_input, state.h, w.weight_hh, {}, options_.nonlinearity);
}

LSTM::LSTM(std::int64_t input_size, std::int64_t hidden_size, const LSTMOptions& options)
    : RecurrentNetwork("LSTM", 4, input_size, hidden_size, options), options_(options) {}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTM::forward(const Tensor& input,
                                                             const std::tuple<Tensor, Tensor>& hx) {
  Result r = run(input, {std::get<0>(hx), std::get<1>(hx)});
  return {std::move(r.output), {std::move(r.last.h), std::move(r.last.c)}};
}

void LSTM::step(const Tensor& from_input, const Weights& w, State& state) const {
  lstm_step(from_input, state.h, state.c, w.weight_hh, {}, w.weight_hr);
}

GRU::GRU(std::int64_t input_size, std::int64_t hidden_size, const GRUOptions& options)
    : RecurrentNetwork("GRU", 3, input_size, hidden_size,
                       {.num_layers = options.num_layers,
                        .bias = options.bias,
                        .batch_first = options.batch_first,
                        .dropout = options.dropout,
                        .bidirectional = options.bidirectional,
                        .dtype = options.dtype,
                        .device = options.device}),
      options_(options) {}

std::tuple<Tensor, Tensor> GRU::forward(const Tensor& input, const Tensor& hx) {
  Result r = run(input, {hx, {}});
  return {std::move(r.output), std::move(r.last.h)};
}

void GRU::step(const Tensor& from_input, const Weights& w, State& state) const {
  state.h = gru_step(from_input, state.h, w.weight_hh, w.bias_hh);
}

}  // namespace taper::nn
