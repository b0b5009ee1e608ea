// Initialisers and random sources, by the moments of a large sample.
#include <taper/random.h>

#include <algorithm>
#include <cmath>

#include "replay.h"

namespace oracle {
namespace {

Tensor random_sample(const Args& a) {
  const std::string& function = a.op();
  if (function == "randperm") return taper::randperm(a.integer("n"));
  const IntVec size = a.ints("size");
  if (function == "rand") return taper::rand(size);
  if (function == "randn") return taper::randn(size);
  if (function == "randint") return taper::randint(a.integer("low", 0), a.integer("high"), size);
  if (function == "bernoulli") return taper::empty(size).fill_(a.real("p")).bernoulli_(a.real("p"));
  if (function == "uniform_") return taper::empty(size).uniform_(a.real("a", 0), a.real("b", 1));
  if (function == "normal_") return taper::empty(size).normal_(a.real("mean", 0), a.real("std", 1));
  throw Skip{"op " + function};
}

std::vector<double> numbers(const Tensor& t) {
  const Array a = read(t);
  return a.floating ? a.reals : std::vector<double>(a.integers.begin(), a.integers.end());
}

void expect_near(const std::string& what, double got, const Json& want, const Json& tol) {
  expect_number(what, got, number(want), {0, number(tol)});
}

/// Whatever of mean, std, min, max and bounds the record states.
void check_moments(const std::string& what, const Tensor& t, const Json& want) {
  const std::vector<double> x = numbers(t);
  double mean = 0, variance = 0;
  for (double v : x) mean += v / double(x.size());
  for (double v : x) variance += (v - mean) * (v - mean) / double(x.size() - 1);
  const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
  if (want.contains("mean") && want.contains("mean_tol"))
    expect_near(what + "mean", mean, want.at("mean"), want.at("mean_tol"));
  if (want.contains("std") && want.contains("std_tol"))
    expect_near(what + "deviation", std::sqrt(variance), want.at("std"), want.at("std_tol"));
  if (want.contains("edge_tol")) {
    expect_near(what + "least value", *least, want.at("min"), want.at("edge_tol"));
    expect_near(what + "greatest value", *greatest, want.at("max"), want.at("edge_tol"));
  }
  if (want.contains("bounds") && (*least < number(want.at("bounds")[0]) || *greatest > number(want.at("bounds")[1])))
    throw Failure{what + "values leave the bounds"};
}

void check_permutation(const Tensor& t) {
  std::vector<double> x = numbers(t);
  std::sort(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != double(i)) throw Failure{"is no permutation"};
}

void replay_random(const Context& c) {
  Decoder decoder(c.archive);
  const Args args = decoder.args(c.record.at("function").get<std::string>(), c.record.at("options"));
  const Tensor sample = random_sample(args);
  args.check_all_read();
  check_moments("", sample, c.record);
  if (c.record.contains("property")) {
    if (args.op() != "randperm") throw Skip{"feature property " + c.record.at("property").get<std::string>()};
    check_permutation(sample);
  }
}

}  // namespace

void replay_init(const Context& c) {
  const std::string init = c.record.at("init").get<std::string>();
  taper::manual_seed(20230714);
  if (init == "random") return replay_random(c);
  throw Skip{"init " + init};
}

}  // namespace oracle
