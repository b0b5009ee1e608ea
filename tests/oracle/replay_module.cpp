// Modules, and training runs of small sequential models.
#include <taper/autograd/engine.h>

#include "modules.h"
#include "optimizers.h"
#include "replay.h"

namespace oracle {
namespace {

namespace nn = taper::nn;

Args constructor(Decoder& decoder, const Json& module) {
  const std::string name = module.at("module").get<std::string>();
  if (!has_module(name) && !has_loss_module(name) && !has_single_module(name)) throw Skip{"module " + name};
  return decoder.args(name, module.at("ctor"));
}

taper::TensorDict state_of(const Json& state, const std::string& prefix, Decoder& decoder) {
  taper::TensorDict dict;
  for (const auto& [name, spec] : state.items()) dict.insert(prefix + name, decoder.tensor(spec));
  return dict;
}

SingleModule as_single(const LossModule& loss) {
  return {loss.module, [loss](const Args& a) { return Outputs(loss.call(a.tensor("input"), a.tensor("target"))); },
          false};
}

/// One module: one that stands alone, or the only child of a model, where its tensors are called "0.weight".
class OneModule {
 public:
  explicit OneModule(const Context& c) : c_(c), r_(c.record), decoder_(c.archive), ctor_(constructor(decoder_, r_)) {
    if (has_loss_module(ctor_.op()))
      single_ = as_single(make_loss_module(ctor_));
    else if (has_single_module(ctor_.op()))
      single_ = make_single_module(ctor_);
    else
      append_module(model_, ctor_);
    prefix_ = single_.module ? "" : "0.";
    ctor_.check_all_read();
    module().to(dtype_named(r_.at("dtype").get<std::string>()));
    if (single_.has_state) module().load_state_dict(state_of(r_.at("state"), prefix_, decoder_));
    check_parameter_names();
  }

  void replay() {
    for (std::size_t i = 0; i < r_.at("steps").size(); ++i) {
      try {
        step(r_.at("steps")[i]);
      } catch (const Failure& f) {
        throw Failure{"step " + std::to_string(i) + ": " + f.what};
      }
    }
  }

 private:
  Tolerance tol(const char* which) const { return tolerance(r_.at("tol").at(which)); }

  void check_parameter_names() {
    const auto got = module().named_parameters();
    const Json& want = r_.at("params");
    if (got.size() != want.size()) throw Failure{std::to_string(got.size()) + " parameters, expected " + want.dump()};
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i].first != prefix_ + want[i].get<std::string>())
        throw Failure{"parameter " + std::to_string(i) + " is " + got[i].first.substr(prefix_.size()) + ", expected " +
                      want[i].dump()};
  }

  void step(const Json& s) {
    module().train(s.value("mode", "train") == "train");
    module().zero_grad();
    Decoder decoder(c_.archive);
    const Args args = decoder.args(ctor_.op(), s.at("args"));
    const Outputs out = forward(args);
    args.check_all_read();
    const Json& want = s.at("out");
    if (out.size() != want.size()) throw Failure{std::to_string(out.size()) + " outputs, expected " + want.dump()};
    for (std::size_t i = 0; i < out.size(); ++i)
      expect_output(c_, "out[" + std::to_string(i) + "]", out[i], want[i], tol("out"));
    if (s.contains("cotangents")) check_gradients(s, out, decoder.leaves);
    if (s.contains("buffers")) {
      const taper::TensorDict state = module().state_dict();
      for (const auto& [name, spec] : s.at("buffers").items())
        expect(c_, name, state.at(prefix_ + name), spec, tol("out"));
    }
  }

  nn::Module& module() { return single_.module ? *single_.module : model_; }
  Outputs forward(const Args& args) {
    if (single_.module) return single_.call(args);
    return model_(args.tensor("input"));
  }

  void check_gradients(const Json& s, const Outputs& out, const std::vector<Leaf>& leaves) {
    TensorList roots, cotangents;
    Decoder decoder(c_.archive);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!s.at("cotangents")[i].is_null()) {
        roots.push_back(out[i].get<Tensor>());
        cotangents.push_back(decoder.tensor(s.at("cotangents")[i]));
      }
    taper::autograd::backward(roots, cotangents);
    for (const auto& [path, spec] : s.at("grads").items())
      expect(c_, "gradient of " + path, find(path, leaves).grad(), spec, tol("grad"));
  }
  Tensor find(const std::string& path, const std::vector<Leaf>& leaves) {
    for (const Leaf& leaf : leaves)
      if (path == "args." + leaf.path) return leaf.tensor;
    for (const auto& [name, t] : module().named_parameters())
      if (path == "params." + name.substr(prefix_.size())) return t;
    throw Failure{"there is no " + path};
  }

  const Context& c_;
  const Json& r_;
  Decoder decoder_;
  const Args ctor_;
  nn::Sequential model_;
  SingleModule single_;
  std::string prefix_;
};

}  // namespace

void replay_module(const Context& c) { OneModule(c).replay(); }

void replay_training(const Context& c) {
  const Json& r = c.record;
  const Tolerance tol = tolerance(r.at("tol"));
  Decoder decoder(c.archive);
  nn::Sequential model;
  for (const Json& layer : r.at("layers")) {
    const Args ctor = constructor(decoder, layer);
    append_module(model, ctor);
    ctor.check_all_read();
  }
  const std::string loss_name = r.at("loss").get<std::string>();
  if (!c.ops.find(loss_name)) throw Skip{"op " + loss_name};
  model.to(dtype_named(r.at("dtype").get<std::string>()));
  model.load_state_dict(state_of(r.at("state"), "", decoder));
  const std::string optimizer_name = r.at("optimizer").get<std::string>();
  if (!has_optimizer(optimizer_name)) throw Skip{"optimizer " + optimizer_name};
  const auto optimizer =
      make_optimizer(optimizer_name, {{model.parameters(), decoder.args(optimizer_name, r.at("options"))}});

  const Tensor input = decoder.tensor(r.at("input")), target = decoder.tensor(r.at("target"));
  for (std::size_t t = 0; t < r.at("losses").size(); ++t) {
    optimizer->zero_grad();
    Args args(loss_name);
    args.set("input", {model(input)});
    args.set("target", {target});
    const Tensor loss = c.ops.call(args).at(0).get<Tensor>();
    expect_number("loss " + std::to_string(t), loss.item<double>(), number(r.at("losses")[t]), tol);
    loss.backward();
    optimizer->step();
  }
  const taper::TensorDict state = model.state_dict();
  for (const auto& [name, spec] : r.at("final_state").items()) expect(c, name, state.at(name), spec, tol);
  expect(c, "output", model.eval()(input), r.at("eval_output"), tol);
}

}  // namespace oracle
