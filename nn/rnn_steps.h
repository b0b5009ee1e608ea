#pragma once
// Single steps of recurrent networks. from_input [n, gates * hidden_size] is the input's part of the gates, the states
// are [n, hidden]; bias_hh may be undefined.
#include <taper/nn/rnn.h>

namespace taper::nn {

Tensor rnn_step(const Tensor& from_input, const Tensor& h, const Tensor& weight_hh, const Tensor& bias_hh,
                RNNNonlinearity nonlinearity);
/// Changes h and c. weight_hr projects the new h, if it is defined.
void lstm_step(const Tensor& from_input, Tensor& h, Tensor& c, const Tensor& weight_hh, const Tensor& bias_hh,
               const Tensor& weight_hr);
Tensor gru_step(const Tensor& from_input, const Tensor& h, const Tensor& weight_hh, const Tensor& bias_hh);

/// Start values of weights and biases: uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)].
void init_recurrent(Tensor t, std::int64_t hidden_size);

}  // namespace taper::nn
