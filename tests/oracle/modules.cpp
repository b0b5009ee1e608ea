#include "modules.h"

#include <taper/nn/activation.h>
#include <taper/nn/linear.h>
#include <taper/nn/loss.h>

#include <functional>
#include <map>

#include "reduction.h"

namespace oracle {
namespace {

namespace nn = taper::nn;

using Append = std::function<void(nn::Sequential&, const Args&)>;

const std::map<std::string, Append>& modules() {
  static const std::map<std::string, Append> table = {
      {"Linear",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::Linear(a.integer("in_features"), a.integer("out_features"), {.bias = a.flag("bias", true)}));
       }},
      {"Flatten", [](nn::Sequential& m,
                     const Args& a) { m.push_back(nn::Flatten(a.integer("start_dim", 1), a.integer("end_dim", -1))); }},
      {"ReLU", [](nn::Sequential& m, const Args& a) { m.push_back(nn::ReLU({.inplace = a.flag("inplace", false)})); }},
      {"Tanh", [](nn::Sequential& m, const Args&) { m.push_back(nn::Tanh()); }},
      {"Sigmoid", [](nn::Sequential& m, const Args&) { m.push_back(nn::Sigmoid()); }},
      {"Dropout", [](nn::Sequential& m, const Args& a) { m.push_back(nn::Dropout(a.real("p", 0.5))); }},
  };
  return table;
}

using CallLoss = std::function<Tensor(const Args& ctor, const Tensor& input, const Tensor& target)>;

const std::map<std::string, CallLoss>& losses() {
  static const std::map<std::string, CallLoss> table = {
      {"CrossEntropyLoss",
       [](const Args& a, const Tensor& input, const Tensor& target) {
         return nn::CrossEntropyLoss(cross_entropy_options(a))(input, target);
       }},
      {"MSELoss", [](const Args& a, const Tensor& input,
                     const Tensor& target) { return nn::MSELoss({.reduction = reduction(a)})(input, target); }},
  };
  return table;
}

}  // namespace

bool has_module(const std::string& name) { return modules().contains(name); }

void append_module(nn::Sequential& model, const Args& ctor) {
  const auto it = modules().find(ctor.op());
  if (it == modules().end()) throw Skip{"module " + ctor.op()};
  it->second(model, ctor);
}

bool has_loss_module(const std::string& name) { return losses().contains(name); }

Tensor call_loss_module(const Args& ctor, const Tensor& input, const Tensor& target) {
  const Tensor loss = losses().at(ctor.op())(ctor, input, target);
  ctor.check_all_read();
  return loss;
}

}  // namespace oracle
