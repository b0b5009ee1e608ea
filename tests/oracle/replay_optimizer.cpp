// Optimizer trajectories, gradient clipping and learning-rate schedules.
#include <taper/error.h>
#include <taper/nn/clip_grad.h>

#include "optimizers.h"
#include "replay.h"

namespace oracle {
namespace {

/// Entry t of the first dimension.
Array entry(const Array& a, std::size_t t) {
  const std::size_t count = std::size_t(a.shape.at(0)), size = a.reals.size() / count;
  Array e{.dtype = a.dtype, .shape = IntVec(a.shape.begin() + 1, a.shape.end()), .floating = true};
  e.reals.assign(a.reals.begin() + std::ptrdiff_t(t * size), a.reals.begin() + std::ptrdiff_t((t + 1) * size));
  return e;
}

Json merged(Json defaults, const Json& own) {
  for (const auto& [name, v] : own.items()) defaults[name] = v;
  return defaults;
}

std::vector<OptimizerGroup> groups_of(const Context& c, const TensorList& params) {
  Decoder decoder(c.archive);
  const std::string name = c.record.at("optimizer").get<std::string>();
  const Json& options = c.record.at("options");
  if (!c.record.contains("groups")) return {{params, decoder.args(name, options)}};
  std::vector<OptimizerGroup> groups;
  for (const Json& g : c.record.at("groups")) {
    TensorList members;
    for (const Json& i : g.at("params")) members.push_back(params.at(i.get<std::size_t>()));
    groups.push_back({members, decoder.args(name, merged(options, g.value("options", Json::object())))});
  }
  return groups;
}

void check_state(const Context& c, const taper::optim::Optimizer& optimizer, Tolerance tol) {
  const taper::TensorDict state = optimizer.state_dict();
  const Json& want = c.record.at("state");
  for (std::size_t i = 0; i < want.size(); ++i)
    for (const auto& [name, spec] : want[i].items()) {
      const std::string key = "state." + std::to_string(i) + "." + name;
      const Tensor* got = state.find(key);
      if (!got) throw Failure{key + " is missing"};
      if (spec.is_object() && spec.contains("shape"))
        expect(c, key, *got, spec, tol);
      else
        expect_number(key, got->item<double>(), number(spec), tol);
    }
}

void replay_trajectory(const Context& c) {
  const Json& r = c.record;
  const Tolerance tol = tolerance(r.at("tol"));
  Decoder decoder(c.archive);
  TensorList params;
  std::vector<Array> grads, want;
  for (std::size_t i = 0; i < r.at("params").size(); ++i) {
    params.push_back(decoder.tensor(r.at("params")[i]).requires_grad_());
    grads.push_back(c.archive.array(r.at("grads")[i]));
    want.push_back(c.archive.array(r.at("trajectory")[i]));
  }
  const auto optimizer = make_optimizer(r.at("optimizer").get<std::string>(), groups_of(c, params));
  for (std::size_t t = 0; t < r.at("present").size(); ++t) {
    for (std::size_t i = 0; i < params.size(); ++i)
      params[i].set_grad(r.at("present")[t][i].get<bool>() ? make_tensor(entry(grads[i], t)) : Tensor());
    optimizer->step();
    for (std::size_t i = 0; i < params.size(); ++i)
      if (const std::string d = difference(params[i], entry(want[i], t), tol); !d.empty())
        throw Failure{"parameter " + std::to_string(i) + " after step " + std::to_string(t) + ": " + d};
  }
  check_state(c, *optimizer, tol);
}

void replay_clipping(const Context& c) {
  const Json& r = c.record;
  const std::string function = r.at("function").get<std::string>();
  Decoder decoder(c.archive);
  const Args options = decoder.args(function, r.at("options"));
  TensorList params;
  for (const Json& g : r.at("grads")) {
    const Tensor grad = g.is_null() ? Tensor() : decoder.tensor(g);
    Tensor param = make_tensor({.dtype = r.at("dtype").get<std::string>(),
                                .shape = grad.defined() ? grad.sizes().vec() : IntVec{2},
                                .floating = true});
    param.requires_grad_();
    param.set_grad(grad);
    params.push_back(param);
  }
  const auto clip = [&] {
    if (function == "clip_grad_value_") {
      taper::nn::utils::clip_grad_value_(params, options.real("clip_value"));
      return Tensor();
    }
    if (function != "clip_grad_norm_") throw Skip{"function " + function};
    return taper::nn::utils::clip_grad_norm_(params, options.real("max_norm"), options.real("norm_type", 2),
                                             options.flag("error_if_nonfinite", false));
  };
  if (r.contains("throws")) {
    std::vector<Snapshot> before;
    for (const Tensor& p : params)
      if (p.grad().defined()) before.emplace_back(p.grad());
    try {
      clip();
    } catch (const taper::Error&) {
      for (const Snapshot& s : before)
        if (const std::string change = s.change(); !change.empty())
          throw Failure{"changes a gradient although it throws: " + change};
      return;
    }
    throw Failure{"does not throw"};
  }
  const Tolerance tol = tolerance(r.at("tol"));
  const Tensor norm = clip();
  options.check_all_read();
  if (r.contains("total_norm")) expect_number("norm", norm.item<double>(), number(r.at("total_norm")), tol);
  for (std::size_t i = 0; i < params.size(); ++i)
    expect(c, "gradient " + std::to_string(i), params[i].grad(), r.at("after")[i], tol);
}

}  // namespace

void replay_optimizer(const Context& c) { c.record.contains("function") ? replay_clipping(c) : replay_trajectory(c); }

void replay_schedule(const Context& c) {
  const Json& r = c.record;
  const Tolerance tol = tolerance(r.at("tol"));
  const std::string name = r.at("scheduler").get<std::string>();
  Decoder decoder(c.archive);
  std::vector<OptimizerGroup> groups;
  for (const Json& lr : r.at("initial_lr")) {
    const Tensor param = make_tensor({.dtype = "float32", .shape = {1}, .floating = true, .reals = {0}});
    groups.push_back({{Tensor(param).requires_grad_()}, decoder.args("SGD", {{"lr", lr}, {"momentum", 0.9}})});
  }
  const auto optimizer = make_optimizer("SGD", groups);
  const Schedule schedule = make_schedule(*optimizer, name, r.at("options"), decoder);
  const Json& want = r.at("lr");
  for (std::size_t t = 0; t < want.size(); ++t) {
    if (t > 0) {
      optimizer->step();
      if (schedule.plateau)
        schedule.plateau->step(number(r.at("metrics").at(t - 1)));
      else
        schedule.last().step();
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::string where = std::to_string(g) + " after " + std::to_string(t) + " steps";
      expect_number("rate " + where, optimizer->lr(g), number(want[t][g]), tol);
      if (r.contains("momentum"))
        expect_number("momentum " + where, optimizer->momentum(g).value(), number(r.at("momentum")[t][g]), tol);
    }
  }
  if (!r.value("step_past_end_throws", false)) return;
  try {
    schedule.last().step();
    schedule.last().step();
  } catch (const taper::Error&) {
    return;
  }
  throw Failure{"steps past its end"};
}

}  // namespace oracle
