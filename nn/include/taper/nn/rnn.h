#pragma once
// Recurrent networks: whole sequences through RNN, LSTM and GRU, single steps through the cells.
#include <taper/nn/module.h>

#include <tuple>
#include <vector>

namespace taper::nn {

enum class RNNNonlinearity : std::uint8_t { tanh, relu };

struct RNNOptions {
  std::int64_t num_layers = 1;
  RNNNonlinearity nonlinearity = RNNNonlinearity::tanh;
  bool bias = true;
  bool batch_first = false;    ///< input and output are [n, t, ...] instead of [t, n, ...]
  double dropout = 0;          ///< while training, of the outputs of all layers but the last; see dropout()
  bool bidirectional = false;  ///< each layer has a second half, which reads the sequence from its end
  DType dtype = float32;
  Device device = default_device();
};

struct LSTMOptions {
  std::int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;    ///< input and output are [n, t, ...] instead of [t, n, ...]
  double dropout = 0;          ///< while training, of the outputs of all layers but the last; see dropout()
  bool bidirectional = false;  ///< each layer has a second half, which reads the sequence from its end
  std::int64_t proj_size =
      0;  ///< the length of the hidden state if it is a projection, weight_hr, of the cell's output
  DType dtype = float32;
  Device device = default_device();
};

struct GRUOptions {
  std::int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;    ///< input and output are [n, t, ...] instead of [t, n, ...]
  double dropout = 0;          ///< while training, of the outputs of all layers but the last; see dropout()
  bool bidirectional = false;  ///< each layer has a second half, which reads the sequence from its end
  DType dtype = float32;
  Device device = default_device();
};

/// What RNN, LSTM and GRU share.
///
/// input [t, n, input_size], or [n, t, input_size] if batch_first, or [t, input_size] without a batch. The output is
/// like it, with directions * hidden (proj_size if there is one, else hidden_size) as its last size: the hidden states
/// of the last layer at all times, forward ones first. States are [num_layers * directions, n, hidden], without n if
/// the input has no batch; the entries are layer 0 forward, layer 0 reverse, layer 1 forward, ...
///
/// All start values are uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)].
class RecurrentNetwork : public Module {
 public:
  /// One layer in one direction: "weight_ih_l0", or "weight_ih_l0_reverse". `gates` is 1 for RNN, 4 for LSTM, 3 for
  /// GRU.
  struct Weights {
    Parameter weight_ih;  ///< [gates * hidden_size, size of the layer's input]
    Parameter weight_hh;  ///< [gates * hidden_size, hidden]
    Parameter bias_ih;    ///< [gates * hidden_size]; undefined without bias
    Parameter bias_hh;    ///< [gates * hidden_size]; undefined without bias
    Parameter weight_hr;  ///< [proj_size, hidden_size]; undefined without projection
  };

  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  std::int64_t input_size() const { return input_size_; }
  std::int64_t hidden_size() const { return hidden_size_; }
  std::int64_t num_layers() const { return options_.num_layers; }
  std::int64_t num_directions() const { return options_.bidirectional ? 2 : 1; }
  /// Throws IndexError.
  Weights& weights(std::int64_t layer, bool reverse = false);
  /// Draws new start values.
  void reset_parameters();

 protected:
  struct State {
    Tensor h, c;  // [n, hidden], [n, hidden_size]; c is the LSTM's alone
  };
  struct Result {
    Tensor output;
    State last;  // of all layers and directions
  };

  RecurrentNetwork(const char* name, std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                   const LSTMOptions& options);
  /// h and c as forward() was given them; undefined: zeros.
  Result run(const Tensor& input, const State& first);
  /// Takes one step, changing `state`. from_input [n, gates * hidden_size] is the input times weight_ih, with bias_ih
  /// and, unless adds_bias(), bias_hh.
  virtual void step(const Tensor& from_input, const Weights& w, State& state) const = 0;
  virtual bool adds_bias() const { return false; }

 private:
  void check_input(const Tensor& input) const;
  void check_state(const Tensor& state, const char* what, std::int64_t size, const Tensor& input) const;
  /// All times of one layer in one direction; `state` becomes that after the last time.
  Tensor run_direction(const Tensor& x, std::int64_t time_dim, bool reverse, const Weights& w, State& state) const;

  const char* name_;
  std::int64_t gates_, input_size_, hidden_size_;
  LSTMOptions options_;
  std::vector<Weights> weights_;
};

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu in place of tanh. Elman 1990, "Finding Structure in Time".
class RNN final : public RecurrentNetwork {
 public:
  /// Throws ValueError for sizes that are not positive and a dropout outside of [0, 1].
  RNN(std::int64_t input_size, std::int64_t hidden_size, const RNNOptions& options = {});
  using Module::forward;
  /// Returns the output and the last state h. hx is the first state, zeros if undefined.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx);
  std::tuple<Tensor, Tensor> operator()(const Tensor& input, const Tensor& hx = {}) { return forward(input, hx); }
  RNN clone() const { return clone_as(*this, input_size(), hidden_size(), options_); }

 protected:
  void step(const Tensor& from_input, const Weights& w, State& state) const override;

 private:
  RNNOptions options_;
};

/// Long short-term memory, with gates i, f, g, o in this order:
///
///   i, f, o = sigmoid(W_ih x + b_ih + W_hh h + b_hh), g = tanh(...), c' = f c + i g, h' = o tanh(c')
///
/// Hochreiter and Schmidhuber 1997, "Long Short-Term Memory"; with proj_size, Sak, Senior, Beaufays 2014.
class LSTM final : public RecurrentNetwork {
 public:
  /// Throws ValueError for sizes that are not positive, a dropout outside of [0, 1], and unless proj_size is less than
  /// hidden_size.
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const LSTMOptions& options = {});
  using Module::forward;
  /// Returns the output and the last states (h, c). hx are the first ones, zeros if undefined.
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& input, const std::tuple<Tensor, Tensor>& hx);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> operator()(const Tensor& input,
                                                            const std::tuple<Tensor, Tensor>& hx = {}) {
    return forward(input, hx);
  }
  LSTM clone() const { return clone_as(*this, input_size(), hidden_size(), options_); }

 protected:
  void step(const Tensor& from_input, const Weights& w, State& state) const override;

 private:
  LSTMOptions options_;
};

/// Gated recurrent units, with gates r, z, n in this order:
///
///   r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh), n = tanh(W_in x + b_in + r (W_hn h + b_hn)), h' = (1 - z) n + z h
///
/// Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation".
class GRU final : public RecurrentNetwork {
 public:
  /// Throws ValueError for sizes that are not positive and a dropout outside of [0, 1].
  GRU(std::int64_t input_size, std::int64_t hidden_size, const GRUOptions& options = {});
  using Module::forward;
  /// Returns the output and the last state h. hx is the first state, zeros if undefined.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx);
  std::tuple<Tensor, Tensor> operator()(const Tensor& input, const Tensor& hx = {}) { return forward(input, hx); }
  GRU clone() const { return clone_as(*this, input_size(), hidden_size(), options_); }

 protected:
  void step(const Tensor& from_input, const Weights& w, State& state) const override;
  bool adds_bias() const override { return true; }

 private:
  GRUOptions options_;
};

struct RecurrentCellOptions {
  bool bias = true;
  DType dtype = float32;
  Device device = default_device();
};
struct RNNCellOptions {
  bool bias = true;
  RNNNonlinearity nonlinearity = RNNNonlinearity::tanh;
  DType dtype = float32;
  Device device = default_device();
};

/// What the cells share: input [n, input_size] and states [n, hidden_size], or both without n.
class RecurrentCell : public Module {
 public:
  void members(MemberVisitor& v) override;
  std::string extra_repr() const override;
  std::int64_t input_size() const { return input_size_; }
  std::int64_t hidden_size() const { return hidden_size_; }
  /// Draws new start values: uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)].
  void reset_parameters();

  Parameter weight_ih;  ///< [gates * hidden_size, input_size]
  Parameter weight_hh;  ///< [gates * hidden_size, hidden_size]
  Parameter bias_ih;    ///< [gates * hidden_size]; undefined without bias
  Parameter bias_hh;    ///< [gates * hidden_size]; undefined without bias

 protected:
  RecurrentCell(const char* name, std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                const RecurrentCellOptions& options);
  void check_input(const Tensor& input) const;
  /// The state itself, or zeros that fit if it is undefined. Throws ShapeError if it does not fit.
  Tensor checked_state(const Tensor& state, const char* what, const Tensor& input) const;
  const RecurrentCellOptions& cell_options() const { return options_; }

 private:
  const char* name_;
  std::int64_t input_size_, hidden_size_;
  RecurrentCellOptions options_;
};

/// One step of RNN.
class RNNCell final : public RecurrentCell {
 public:
  RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RNNCellOptions& options = {});
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  /// Returns the next state. hx is the state before, zeros if undefined.
  Tensor forward(const Tensor& input, const Tensor& hx);
  using Module::operator();
  Tensor operator()(const Tensor& input, const Tensor& hx) { return forward(input, hx); }
  std::string extra_repr() const override;
  RNNCell clone() const;

 private:
  RNNNonlinearity nonlinearity_;
};

/// One step of LSTM.
class LSTMCell final : public RecurrentCell {
 public:
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  using Module::forward;
  /// Returns the next states (h, c). hx are those before, zeros if undefined.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const std::tuple<Tensor, Tensor>& hx);
  std::tuple<Tensor, Tensor> operator()(const Tensor& input, const std::tuple<Tensor, Tensor>& hx = {}) {
    return forward(input, hx);
  }
  LSTMCell clone() const { return clone_as(*this, input_size(), hidden_size(), cell_options()); }
};

/// One step of GRU.
class GRUCell final : public RecurrentCell {
 public:
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options = {});
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  /// Returns the next state. hx is the state before, zeros if undefined.
  Tensor forward(const Tensor& input, const Tensor& hx);
  using Module::operator();
  Tensor operator()(const Tensor& input, const Tensor& hx) { return forward(input, hx); }
  GRUCell clone() const { return clone_as(*this, input_size(), hidden_size(), cell_options()); }
};

}  // namespace taper::nn
