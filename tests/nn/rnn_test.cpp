#include <taper/nn/gradcheck.h>
#include <taper/nn/init.h>
#include <taper/taper.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

Tensor wave(IntSpan sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return linspace(-2, 3, n, {.dtype = float64}).mul(3).sin().view(sizes).requires_grad_();
}

std::string names_of(const nn::Module& m) {
  std::string s;
  for (const auto& [name, t] : m.state_dict()) s += name + ' ';
  return s;
}

/// All weights 1, all biases 0.5.
template <class M>
M& with_ones(M& m) {
  for (auto& [name, p] : m.named_parameters()) nn::init::constant_(p, name.find("bias") == 0 ? .5 : 1);
  return m;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("an RNN adds what the input and the state give and takes the tanh, time by time", "[rnn]") {
  nn::RNN rnn(1, 1);
  with_ones(rnn).to(float64);
  const auto [y, h] = rnn(tensor({.5, -1.}, float64).view({2, 1, 1}));

  const double h1 = std::tanh(.5 + 1), h2 = std::tanh(-1 + h1 + 1);
  CHECK(y.allclose(tensor({h1, h2}, float64).view({2, 1, 1})));
  CHECK(h.allclose(tensor({h2}, float64).view({1, 1, 1})));
}

TEST_CASE("an LSTM has gates i, f, g and o", "[rnn]") {
  nn::LSTMCell cell(1, 1);
  cell.to(float64);
  {
    const NoGradGuard no_grad;
    cell.weight_ih.copy_(tensor({1., 2., 3., 4.}, float64).view({4, 1}));
    cell.weight_hh.fill_(0);
    cell.bias_ih.fill_(0), cell.bias_hh.fill_(0);
  }
  const auto [h, c] = cell(tensor({.5}, float64), {tensor({9.}, float64), tensor({2.}, float64)});

  const double want_c = sigmoid(1) * 2 + sigmoid(.5) * std::tanh(1.5);
  CHECK(c.item<double>() == Approx(want_c));
  CHECK(h.item<double>() == Approx(sigmoid(2) * std::tanh(want_c)));
}

TEST_CASE("a GRU keeps the share z of its state", "[rnn]") {
  nn::GRUCell cell(1, 1);
  cell.to(float64);
  {
    const NoGradGuard no_grad;
    cell.weight_ih.copy_(tensor({1., 2., 3.}, float64).view({3, 1}));
    cell.weight_hh.copy_(tensor({0., 0., 1.}, float64).view({3, 1}));
    cell.bias_ih.fill_(0), cell.bias_hh.fill_(0);
  }
  const Tensor h = cell(tensor({.5}, float64), tensor({2.}, float64));

  const double z = sigmoid(1), n = std::tanh(1.5 + sigmoid(.5) * 2);
  CHECK(h.item<double>() == Approx((1 - z) * n + z * 2));
}

TEST_CASE("recurrent networks return the states of all times, and the last of each layer and direction", "[rnn]") {
  const bool batch_first = GENERATE(false, true);
  nn::LSTM lstm(2, 4, {.num_layers = 2, .batch_first = batch_first, .bidirectional = true, .proj_size = 3});
  const auto [y, state] = lstm(batch_first ? zeros({5, 7, 2}) : zeros({7, 5, 2}));
  const auto [h, c] = state;

  CHECK(y.sizes() == (batch_first ? IntVec{5, 7, 6} : IntVec{7, 5, 6}));
  CHECK(h.sizes() == IntVec{4, 5, 3});
  CHECK(c.sizes() == IntVec{4, 5, 4});
  const std::int64_t time = batch_first ? 1 : 0;
  CHECK(y.select(time, 6).narrow(-1, 0, 3).equal(h[2]));
  CHECK(y.select(time, 0).narrow(-1, 3, 3).equal(h[3]));
}

TEST_CASE("a sequence without a batch is a batch of one", "[rnn]") {
  nn::GRU gru(2, 3, {.num_layers = 2, .batch_first = GENERATE(false, true), .bidirectional = true});
  gru.to(float64);
  const Tensor x = wave({4, 2}), h0 = wave({4, 3});
  const auto [y, h] = gru(x, h0);
  const std::int64_t batch_dim = gru.extra_repr().find("batch_first") == std::string::npos ? 1 : 0;
  const auto [y1, h1] = gru(x.unsqueeze(batch_dim), h0.unsqueeze(1));

  CHECK(y.sizes() == IntVec{4, 6});
  CHECK(y.equal(y1.squeeze(batch_dim)));
  CHECK(h.equal(h1.squeeze(1)));
}

TEST_CASE("a sequence in two parts gives what the whole gives", "[rnn]") {
  nn::RNN rnn(2, 3, {.num_layers = 2, .nonlinearity = nn::RNNNonlinearity::relu});
  nn::LSTM lstm(2, 3);
  rnn.to(float64), lstm.to(float64);
  const Tensor x = wave({5, 2, 2});

  const auto [y, h] = rnn(x);
  const auto [a, ha] = rnn(x.narrow(0, 0, 2));
  const auto [b, hb] = rnn(x.narrow(0, 2, 3), ha);
  CHECK(cat({a, b}).allclose(y));
  CHECK(hb.allclose(h));

  const auto [whole, last] = lstm(x);
  const auto [first, middle] = lstm(x.narrow(0, 0, 1));
  const auto [rest, end] = lstm(x.narrow(0, 1, 4), middle);
  CHECK(cat({first, rest}).allclose(whole));
  CHECK(std::get<1>(end).allclose(std::get<1>(last)));
}

TEST_CASE("cells take the steps of their networks", "[rnn]") {
  nn::GRU gru(2, 3);
  nn::GRUCell cell(2, 3);
  TensorDict state;
  for (const auto& [key, t] : gru.state_dict()) state.insert(key.substr(0, key.size() - 3), t);
  cell.load_state_dict(state);
  const Tensor x = randn({3, 4, 2});
  Tensor h = cell(x[0]);
  h = cell(x[1], h);
  CHECK(std::get<0>(gru(x))[1].allclose(h));
}

TEST_CASE("gradients go through time, layers and both directions", "[rnn]") {
  manual_seed(3);
  nn::RNN rnn(2, 2, {.bidirectional = true});
  nn::LSTM lstm(2, 3, {.num_layers = 2, .bias = false, .proj_size = 2});
  nn::GRU gru(2, 2, {.num_layers = 2, .batch_first = true});
  nn::Module* const all[] = {&rnn, &lstm, &gru};
  for (nn::Module* m : all) m->to(float64);

  const auto of_rnn = [&](const TensorList& in) {
    const auto [y, h] = rnn(in[0], in[1]);
    return TensorList{y, h};
  };
  CHECK(nn::gradcheck(rnn, of_rnn, {wave({3, 1, 2}), wave({2, 1, 2})}));
  CHECK(nn::gradgradcheck(rnn, of_rnn, {wave({2, 1, 2}), wave({2, 1, 2})}));
  const auto of_lstm = [&](const TensorList& in) {
    const auto [y, state] = lstm(in[0], {in[1], in[2]});
    return TensorList{y, std::get<0>(state), std::get<1>(state)};
  };
  CHECK(nn::gradcheck(lstm, of_lstm, {wave({2, 1, 2}), wave({2, 1, 2}), wave({2, 1, 3})}));
  CHECK(nn::gradgradcheck(lstm, of_lstm, {wave({2, 1, 2}), wave({2, 1, 2}), wave({2, 1, 3})}, {.fast_mode = true}));
  const auto of_gru = [&](const TensorList& in) {
    const auto [y, h] = gru(in[0], in[1]);
    return TensorList{y, h};
  };
  CHECK(nn::gradcheck(gru, of_gru, {wave({1, 3, 2}), wave({2, 1, 2})}));
  CHECK(nn::gradgradcheck(gru, of_gru, {wave({1, 2, 2}), wave({2, 1, 2})}, {.fast_mode = true}));
}

TEST_CASE("the parameters of recurrent networks have PyTorch's names, order and shapes", "[rnn]") {
  nn::LSTM lstm(2, 4, {.num_layers = 2, .bidirectional = true, .proj_size = 3});
  CHECK(names_of(lstm) ==
        "weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0 weight_hr_l0 "
        "weight_ih_l0_reverse weight_hh_l0_reverse bias_ih_l0_reverse bias_hh_l0_reverse weight_hr_l0_reverse "
        "weight_ih_l1 weight_hh_l1 bias_ih_l1 bias_hh_l1 weight_hr_l1 "
        "weight_ih_l1_reverse weight_hh_l1_reverse bias_ih_l1_reverse bias_hh_l1_reverse weight_hr_l1_reverse ");
  CHECK(lstm.weights(0).weight_ih.sizes() == IntVec{16, 2});
  CHECK(lstm.weights(1).weight_ih.sizes() == IntVec{16, 6});
  CHECK(lstm.weights(1, true).weight_hh.sizes() == IntVec{16, 3});
  CHECK(lstm.weights(1, true).weight_hr.sizes() == IntVec{3, 4});
  CHECK(names_of(nn::RNN(2, 3, {.bias = false})) == "weight_ih_l0 weight_hh_l0 ");
  CHECK(nn::GRU(2, 3).weights(0).bias_hh.sizes() == IntVec{9});
  CHECK(names_of(nn::GRUCell(2, 3)) == "weight_ih weight_hh bias_ih bias_hh ");
}

TEST_CASE("start values of recurrent networks are within one over the root of hidden_size", "[rnn]") {
  manual_seed(1);
  nn::GRU gru(8, 16);
  for (const Tensor& p : gru.parameters()) {
    CHECK(p.abs().max().item<double>() <= .25);
    CHECK(p.abs().max().item<double>() > .2);
  }
}

TEST_CASE("dropout between the layers of a recurrent network is for training", "[rnn]") {
  manual_seed(1);
  nn::GRU gru(2, 3, {.num_layers = 2, .dropout = 1});
  nn::GRU same(2, 3, {.num_layers = 2});
  same.load_state_dict(gru.state_dict());
  const Tensor x = randn({4, 2, 2});

  CHECK_FALSE(std::get<0>(gru(x)).equal(std::get<0>(same(x))));
  gru.eval();
  CHECK(std::get<0>(gru(x)).equal(std::get<0>(same(x))));
}

TEST_CASE("clones of recurrent networks compute the same and share nothing", "[rnn]") {
  nn::LSTM lstm(2, 3, {.num_layers = 2, .dropout = .5, .bidirectional = true});
  nn::RNNCell cell(2, 3, {.nonlinearity = nn::RNNNonlinearity::relu});
  lstm.eval();
  nn::LSTM other = nn::clone(lstm);
  nn::RNNCell other_cell = nn::clone(cell);
  const Tensor x = randn({4, 2, 2});

  CHECK(std::get<0>(other(x)).equal(std::get<0>(lstm(x))));
  CHECK(other_cell(x[0]).equal(cell(x[0])));
  nn::init::zeros_(other.weights(0).weight_ih);
  CHECK(lstm.weights(0).weight_ih.count_nonzero().item<std::int64_t>() == 24);
  CHECK(to_string(other) == "LSTM(2, 3, num_layers=2, dropout=0.5, bidirectional=True)");
  CHECK(to_string(other_cell) == "RNNCell(2, 3, nonlinearity=relu)");
}

TEST_CASE("recurrent networks name what does not fit", "[rnn]") {
  nn::LSTM lstm(2, 3, {.num_layers = 2, .proj_size = 1});
  CHECK(contains(message_of<ShapeError>([&] {
                   lstm(zeros({4, 5, 3}));
                 }),
                 "LSTM: input must be [t, n, 2] or [t, 2], got float32[4, 5, 3] on cpu"));
  CHECK(contains(message_of<ShapeError>([&] { lstm(zeros({0, 5, 2})); }), "LSTM: input has no times"));
  CHECK(contains(message_of<ShapeError>([&] {
                   lstm(zeros({4, 5, 2}), {zeros({2, 5, 3}), zeros({2, 5, 3})});
                 }),
                 "LSTM: h must be [2, 5, 1] (layers and directions, batch, size) for input [4, 5, 2], got [2, 5, 3]"));
  CHECK(contains(message_of<ShapeError>([&] {
                   nn::RNN(2, 3, {.batch_first = true})(zeros({4, 5, 3}));
                 }),
                 "RNN: input must be [n, t, 2]"));
  CHECK(contains(message_of<ShapeError>([&] {
                   nn::GRUCell(2, 3)(zeros({4, 2}), zeros({3, 3}));
                 }),
                 "GRUCell: hx must be [4, 3] for input [4, 2], got [3, 3]"));
  CHECK(contains(message_of<ValueError>([&] { nn::LSTM(2, 3, {.proj_size = 3}); }), "proj_size must be from 0"));
  CHECK(contains(message_of<ValueError>([&] { nn::GRU(2, 3, {.dropout = 1.5}); }), "dropout must be in [0, 1]"));
  CHECK(contains(message_of<ValueError>([&] { nn::RNN(2, 0); }), "must be positive"));
  CHECK(contains(message_of<IndexError>([&] { lstm.weights(2); }), "no weights of layer 2 among 2"));
  CHECK(contains(message_of<NotImplementedError>([&] { lstm.forward(zeros({4, 5, 2})); }), "LSTM"));
}
