#pragma once
// What the benchmark asks of the other side. No header of the peer shows here, so that neither side's names or
// compile time touch the other.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// A call to be timed, and its result as numbers.
struct Prepared {
  std::function<void()> run;
  std::function<std::vector<float>()> result;
};
struct OperatorRow {
  std::string name;
  std::function<Prepared()> prepare;
};

}  // namespace bench

namespace peer {

/// One training step (forward, cross-entropy, backward, optimizer) on a fixed batch; returns the loss when asked to.
struct TrainStep {
  std::function<void()> run;
  std::function<double()> run_and_read_loss;
};

/// Learning rates at which a fixed batch is never learnt by heart: gradients, momenta and moments that sink to denormal
/// size make arithmetic many times slower, on both sides.
inline constexpr double kSgdRate = 1e-7, kAdamRate = 1e-9;

void set_threads(int n);
/// model: "mlp" or "lenet"; optimizer: "sgd" or "adam". `parameters` are the initial values, in order.
TrainStep train_step(const std::string& model, const std::string& optimizer, std::int64_t batch,
                     const std::vector<std::vector<float>>& parameters, const std::vector<float>& images,
                     const std::vector<std::int64_t>& labels);

/// Small operations by name: see small_ops() in compare.cpp. Empty for a name that the peer does not know.
std::function<void()> small_op(const std::string& name);

/// The rows of operator_rows.h, made with the peer.
std::vector<bench::OperatorRow> operator_rows();

}  // namespace peer
