#include "modules.h"

#include <taper/nn/activation.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/conv.h>
#include <taper/nn/linear.h>
#include <taper/nn/loss.h>
#include <taper/nn/pooling.h>

#include <functional>
#include <map>

#include "image_args.h"
#include "reduction.h"

namespace oracle {
namespace {

namespace nn = taper::nn;

nn::BatchNormOptions batch_norm_options(const Args& a) {
  const nn::BatchNormOptions d;
  return {.eps = a.real("eps", d.eps),
          .momentum = a.is_none("momentum") ? std::optional<double>() : a.real("momentum", *d.momentum),
          .affine = a.flag("affine", d.affine),
          .track_running_stats = a.flag("track_running_stats", d.track_running_stats)};
}

using Append = std::function<void(nn::Sequential&, const Args&)>;

const std::map<std::string, Append>& modules() {
  static const std::map<std::string, Append> table = {
      {"Linear",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::Linear(a.integer("in_features"), a.integer("out_features"), {.bias = a.flag("bias", true)}));
       }},
      {"Conv2d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::Conv2d(a.integer("in_channels"), a.integer("out_channels"), pair(a, "kernel_size", 1),
                                {.stride = pair(a, "stride", 1),
                                 .padding = conv_padding(a),
                                 .dilation = pair(a, "dilation", 1),
                                 .groups = a.integer("groups", 1),
                                 .bias = a.flag("bias", true)}));
       }},
      {"BatchNorm1d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::BatchNorm1d(a.integer("num_features"), batch_norm_options(a)));
       }},
      {"BatchNorm2d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::BatchNorm2d(a.integer("num_features"), batch_norm_options(a)));
       }},
      {"MaxPool2d", [](nn::Sequential& m,
                       const Args& a) { m.push_back(nn::MaxPool2d(pair(a, "kernel_size", 1), max_pool_options(a))); }},
      {"AvgPool2d", [](nn::Sequential& m,
                       const Args& a) { m.push_back(nn::AvgPool2d(pair(a, "kernel_size", 1), avg_pool_options(a))); }},
      {"Flatten", [](nn::Sequential& m,
                     const Args& a) { m.push_back(nn::Flatten(a.integer("start_dim", 1), a.integer("end_dim", -1))); }},
      {"ReLU", [](nn::Sequential& m, const Args& a) { m.push_back(nn::ReLU({.inplace = a.flag("inplace", false)})); }},
      {"Tanh", [](nn::Sequential& m, const Args&) { m.push_back(nn::Tanh()); }},
      {"Sigmoid", [](nn::Sequential& m, const Args&) { m.push_back(nn::Sigmoid()); }},
      {"Dropout", [](nn::Sequential& m, const Args& a) { m.push_back(nn::Dropout(a.real("p", 0.5))); }},
  };
  return table;
}

template <class Loss, class Options>
LossModule loss_module(const Options& options) {
  const auto loss = std::make_shared<Loss>(options);
  return {loss, [loss](const Tensor& input, const Tensor& target) { return (*loss)(input, target); }};
}

}  // namespace

bool has_module(const std::string& name) { return modules().contains(name); }

void append_module(nn::Sequential& model, const Args& ctor) {
  const auto it = modules().find(ctor.op());
  if (it == modules().end()) throw Skip{"module " + ctor.op()};
  it->second(model, ctor);
}

bool has_loss_module(const std::string& name) { return name == "CrossEntropyLoss" || name == "MSELoss"; }

LossModule make_loss_module(const Args& ctor) {
  if (ctor.op() == "CrossEntropyLoss") return loss_module<nn::CrossEntropyLoss>(cross_entropy_options(ctor));
  if (ctor.op() == "MSELoss") return loss_module<nn::MSELoss>(nn::MSELossOptions{reduction(ctor)});
  throw Skip{"module " + ctor.op()};
}

}  // namespace oracle
