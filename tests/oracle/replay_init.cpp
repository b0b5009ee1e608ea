// Initialisers and random sources, by the moments of a large sample.
#include <taper/factory.h>
#include <taper/nn/init.h>
#include <taper/random.h>

#include <algorithm>
#include <cmath>

#include "modules.h"
#include "replay.h"

namespace oracle {
namespace {

namespace nn = taper::nn;

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
  if (function == "exponential_") {
    Tensor x = taper::empty(size);
    return taper::exponential_(x, a.real("lambd", 1));
  }
  throw Skip{"op " + function};
}

nn::init::Nonlinearity nonlinearity(const std::string& name) {
  using enum nn::init::Nonlinearity;
  const std::pair<const char*, nn::init::Nonlinearity> names[] = {
      {"linear", linear}, {"conv1d", conv1d}, {"conv2d", conv2d},         {"conv3d", conv3d}, {"sigmoid", sigmoid},
      {"tanh", tanh},     {"relu", relu},     {"leaky_relu", leaky_relu}, {"selu", selu}};
  for (const auto& [known, value] : names)
    if (name == known) return value;
  throw Skip{"nonlinearity " + name};
}
nn::init::KaimingOptions kaiming_options(const Args& a) {
  const std::string mode = a.text("mode", "fan_in");
  return {.a = a.real("a", 0),
          .mode = mode == "fan_in" ? nn::init::FanMode::fan_in : nn::init::FanMode::fan_out,
          .nonlinearity = nonlinearity(a.text("nonlinearity", "leaky_relu"))};
}

Tensor initialised(const Args& a, Tensor t) {
  namespace init = nn::init;
  const std::string& name = a.op();
  if (name == "uniform_") return init::uniform_(t, a.real("a", 0), a.real("b", 1));
  if (name == "normal_") return init::normal_(t, a.real("mean", 0), a.real("std", 1));
  if (name == "constant_") return init::constant_(t, a.real("val"));
  if (name == "zeros_") return init::zeros_(t);
  if (name == "ones_") return init::ones_(t);
  if (name == "xavier_uniform_") return init::xavier_uniform_(t, a.real("gain", 1));
  if (name == "xavier_normal_") return init::xavier_normal_(t, a.real("gain", 1));
  if (name == "kaiming_uniform_") return init::kaiming_uniform_(t, kaiming_options(a));
  if (name == "kaiming_normal_") return init::kaiming_normal_(t, kaiming_options(a));
  if (name == "trunc_normal_")
    return init::trunc_normal_(
        t, {.mean = a.real("mean", 0), .std = a.real("std", 1), .a = a.real("a", -2), .b = a.real("b", 2)});
  if (name == "orthogonal_") return init::orthogonal_(t, a.real("gain", 1));
  if (name == "eye_") return init::eye_(t);
  if (name == "dirac_") return init::dirac_(t, a.integer("groups", 1));
  if (name == "sparse_") return init::sparse_(t, a.real("sparsity"), a.real("std", 0.01));
  throw Skip{"init " + name};
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

void check_orthogonal(const Tensor& t, double gain, bool rows) {
  const Tensor w = t.to(taper::float64).flatten(1), other = w.t();
  const Tensor products = rows ? w.matmul(other) : other.matmul(w);
  const std::vector<double> got = numbers(products), one = numbers(taper::eye(products.size(0)));
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_number("product of directions", got[i], gain * gain * one[i], {0, 1e-5});
}

void check_zeros_per_column(const Tensor& t, std::int64_t want) {
  for (std::int64_t column = 0; column < t.size(1); ++column) {
    const std::vector<double> x = numbers(t.select(1, column));
    if (std::count(x.begin(), x.end(), 0.) != want) throw Failure{"has another number of zeros in a column"};
  }
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

void replay_initialiser(const Context& c) {
  const Json& r = c.record;
  Decoder decoder(c.archive);
  const Args args = decoder.args(r.at("init").get<std::string>(), r.at("options"));
  const IntVec shape = r.at("shape").get<IntVec>();
  const Tensor t = initialised(args, taper::empty(shape));
  args.check_all_read();
  if (r.contains("values")) expect(c, "values", t, r.at("values"), {});
  if (r.contains("fan_in") && r.contains("fan_out")) {
    const nn::init::Fans fans = nn::init::calculate_fan_in_and_fan_out(t);
    expect_number("fan_in", double(fans.in), number(r.at("fan_in")), {});
    expect_number("fan_out", double(fans.out), number(r.at("fan_out")), {});
  }
  check_moments("", t, r);
  if (r.contains("zeros_per_column")) check_zeros_per_column(t, r.at("zeros_per_column").get<std::int64_t>());
  if (r.contains("property")) {
    if (args.op() != "orthogonal_") throw Skip{"feature property " + r.at("property").get<std::string>()};
    check_orthogonal(t, args.real("gain", 1), r.at("rows").get<bool>());
  }
}

/// Keys are "relu" or "leaky_relu:0.2".
void replay_gains(const Json& gains) {
  for (const auto& [key, want] : gains.items()) {
    const std::size_t colon = key.find(':');
    std::optional<double> param;
    if (colon != std::string::npos) param = std::stod(key.substr(colon + 1));
    expect_number("gain of " + key, nn::init::calculate_gain(nonlinearity(key.substr(0, colon)), param), number(want),
                  {1e-12, 0});
  }
}

/// What a module holds when it is new.
void replay_default(const Context& c) {
  const std::string name = c.record.at("module").get<std::string>();
  if (!has_module(name) && !has_single_module(name)) throw Skip{"module " + name};
  Decoder decoder(c.archive);
  const Args ctor = decoder.args(name, c.record.at("ctor"));
  nn::Sequential model;
  const bool single = has_single_module(name);
  if (!single) append_module(model, ctor);
  const taper::TensorDict state = single ? make_single_module(ctor).module->state_dict() : model.state_dict();
  ctor.check_all_read();
  for (const auto& [key, want] : c.record.at("parameters").items()) {
    const Tensor* t = state.find(single ? key : "0." + key);
    if (!t) throw Failure{key + " is missing"};
    if (t->sizes().vec() != want.at("shape").get<IntVec>())
      throw Failure{key + ": shape " + to_text(t->sizes()) + ", expected " + want.at("shape").dump()};
    if (!want.contains("constant")) {
      check_moments(key + ": ", *t, want);
      continue;
    }
    for (double v : numbers(*t)) expect_number(key, v, number(want.at("constant")), {});
  }
}

}  // namespace

void replay_init(const Context& c) {
  const Json& r = c.record;
  taper::manual_seed(20230714);
  if (r.contains("gains")) return replay_gains(r.at("gains"));
  const std::string init = r.at("init").get<std::string>();
  if (init == "random") return replay_random(c);
  if (init == "default") return replay_default(c);
  replay_initialiser(c);
}

}  // namespace oracle
