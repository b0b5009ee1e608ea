#include "modules.h"

#include <taper/nn/activation.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/conv.h>
#include <taper/nn/layer_norm.h>
#include <taper/nn/linear.h>
#include <taper/nn/loss.h>
#include <taper/nn/pooling.h>

#include <functional>
#include <map>
#include <set>

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

std::int64_t single(const Args& a, const char* name, std::int64_t absent) {
  return a.has(name) ? a.ints_n(name, 1, absent)[0] : absent;
}
std::optional<std::int64_t> single_stride(const Args& a) {
  const bool is_given = a.has("stride") && !(a.is_list("stride") && a.ints("stride").empty());
  return is_given ? std::optional(single(a, "stride", 1)) : std::nullopt;
}
nn::PaddingMode padding_mode(const Args& a) {
  const std::string name = a.text("padding_mode", "zeros");
  if (name == "zeros") return nn::PaddingMode::zeros;
  if (name == "reflect") return nn::PaddingMode::reflect;
  if (name == "replicate") return nn::PaddingMode::replicate;
  if (name == "circular") return nn::PaddingMode::circular;
  a.unsupported("padding_mode '" + name + "'");
}
taper::Conv1dPadding padding_1d(const Args& a) {
  if (a.has("padding") && a.value("padding").is<std::string>()) return a.text("padding", "").c_str();
  return single(a, "padding", 0);
}
taper::OutputSizes output_size(const Args& a) {
  if (!a.is_list("output_size")) return {a.integer("output_size")};
  taper::OutputSizes sizes;
  for (const Value& v : a.value("output_size").get<List>())
    sizes.push_back(v.is<std::int64_t>() ? std::optional(v.get<std::int64_t>()) : std::nullopt);
  return sizes;
}

nn::InstanceNormOptions instance_norm_options(const Args& a) {
  return {.eps = a.real("eps", 1e-5),
          .momentum = a.real("momentum", 0.1),
          .affine = a.flag("affine", false),
          .track_running_stats = a.flag("track_running_stats", false)};
}
/// A module without options.
template <class M>
std::pair<const std::string, Append> plain(const char* name) {
  return {name, [](nn::Sequential& m, const Args&) { m.push_back(M()); }};
}

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
                                 .bias = a.flag("bias", true),
                                 .padding_mode = padding_mode(a)}));
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
      {"BatchNorm3d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::BatchNorm3d(a.integer("num_features"), batch_norm_options(a)));
       }},
      {"LayerNorm",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(
             nn::LayerNorm(taper::IntSpan(a.ints("normalized_shape")),
                           {.eps = a.real("eps", 1e-5), .elementwise_affine = a.flag("elementwise_affine", true)}));
       }},
      {"GroupNorm",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::GroupNorm(a.integer("num_groups"), a.integer("num_channels"),
                                   {.eps = a.real("eps", 1e-5), .affine = a.flag("affine", true)}));
       }},
      {"InstanceNorm1d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::InstanceNorm1d(a.integer("num_features"), instance_norm_options(a)));
       }},
      {"InstanceNorm2d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::InstanceNorm2d(a.integer("num_features"), instance_norm_options(a)));
       }},
      {"Conv1d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::Conv1d(a.integer("in_channels"), a.integer("out_channels"), single(a, "kernel_size", 1),
                                {.stride = single(a, "stride", 1),
                                 .padding = padding_1d(a),
                                 .dilation = single(a, "dilation", 1),
                                 .groups = a.integer("groups", 1),
                                 .bias = a.flag("bias", true),
                                 .padding_mode = padding_mode(a)}));
       }},
      {"ConvTranspose1d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::ConvTranspose1d(a.integer("in_channels"), a.integer("out_channels"),
                                         single(a, "kernel_size", 1),
                                         {.stride = single(a, "stride", 1),
                                          .padding = single(a, "padding", 0),
                                          .output_padding = single(a, "output_padding", 0),
                                          .dilation = single(a, "dilation", 1),
                                          .groups = a.integer("groups", 1),
                                          .bias = a.flag("bias", true)}));
       }},
      {"ConvTranspose2d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::ConvTranspose2d(a.integer("in_channels"), a.integer("out_channels"), pair(a, "kernel_size", 1),
                                         {.stride = pair(a, "stride", 1),
                                          .padding = pair(a, "padding", 0),
                                          .output_padding = pair(a, "output_padding", 0),
                                          .dilation = pair(a, "dilation", 1),
                                          .groups = a.integer("groups", 1),
                                          .bias = a.flag("bias", true)}));
       }},
      {"AvgPool1d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(
             nn::AvgPool1d(single(a, "kernel_size", 1), {.stride = single_stride(a),
                                                         .padding = single(a, "padding", 0),
                                                         .ceil_mode = a.flag("ceil_mode", false),
                                                         .count_include_pad = a.flag("count_include_pad", true)}));
       }},
      {"MaxPool1d",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::MaxPool1d(single(a, "kernel_size", 1), {.stride = single_stride(a),
                                                                 .padding = single(a, "padding", 0),
                                                                 .dilation = single(a, "dilation", 1),
                                                                 .ceil_mode = a.flag("ceil_mode", false)}));
       }},
      {"AdaptiveAvgPool2d",
       [](nn::Sequential& m, const Args& a) { m.push_back(nn::AdaptiveAvgPool2d(output_size(a))); }},
      {"AdaptiveMaxPool2d",
       [](nn::Sequential& m, const Args& a) { m.push_back(nn::AdaptiveMaxPool2d(output_size(a))); }},
      {"GELU", [](nn::Sequential& m, const Args& a) { m.push_back(nn::GELU(a.text("approximate", "none"))); }},
      {"ELU", [](nn::Sequential& m, const Args& a) { m.push_back(nn::ELU(a.real("alpha", 1))); }},
      {"CELU", [](nn::Sequential& m, const Args& a) { m.push_back(nn::CELU(a.real("alpha", 1))); }},
      {"LeakyReLU",
       [](nn::Sequential& m, const Args& a) { m.push_back(nn::LeakyReLU(a.real("negative_slope", 0.01))); }},
      {"Softplus",
       [](nn::Sequential& m, const Args& a) { m.push_back(nn::Softplus(a.real("beta", 1), a.real("threshold", 20))); }},
      {"Hardshrink", [](nn::Sequential& m, const Args& a) { m.push_back(nn::Hardshrink(a.real("lambd", 0.5))); }},
      {"Softshrink", [](nn::Sequential& m, const Args& a) { m.push_back(nn::Softshrink(a.real("lambd", 0.5))); }},
      {"Hardtanh", [](nn::Sequential& m,
                      const Args& a) { m.push_back(nn::Hardtanh(a.real("min_val", -1), a.real("max_val", 1))); }},
      {"Threshold",
       [](nn::Sequential& m, const Args& a) { m.push_back(nn::Threshold(a.real("threshold"), a.real("value"))); }},
      {"Softmax", [](nn::Sequential& m, const Args& a) { m.push_back(nn::Softmax(a.integer("dim"))); }},
      {"LogSoftmax", [](nn::Sequential& m, const Args& a) { m.push_back(nn::LogSoftmax(a.integer("dim"))); }},
      {"PReLU",
       [](nn::Sequential& m, const Args& a) {
         m.push_back(nn::PReLU(a.integer("num_parameters", 1), {.init = a.real("init", 0.25)}));
       }},
      plain<nn::Hardswish>("Hardswish"),
      plain<nn::Hardsigmoid>("Hardsigmoid"),
      plain<nn::SiLU>("SiLU"),
      plain<nn::Mish>("Mish"),
      plain<nn::ReLU6>("ReLU6"),
      plain<nn::SELU>("SELU"),
      plain<nn::Softsign>("Softsign"),
      plain<nn::LogSigmoid>("LogSigmoid"),
      plain<nn::Tanhshrink>("Tanhshrink"),
      plain<nn::Identity>("Identity"),
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

bool has_loss_module(const std::string& name) {
  static const std::set<std::string> names = {"CrossEntropyLoss", "MSELoss",   "L1Loss",  "NLLLoss",
                                              "SmoothL1Loss",     "HuberLoss", "BCELoss", "BCEWithLogitsLoss"};
  return names.contains(name);
}

LossModule make_loss_module(const Args& ctor) {
  if (ctor.op() == "CrossEntropyLoss") return loss_module<nn::CrossEntropyLoss>(cross_entropy_options(ctor));
  if (ctor.op() == "MSELoss") return loss_module<nn::MSELoss>(nn::MSELossOptions{reduction(ctor)});
  if (ctor.op() == "L1Loss") return loss_module<nn::L1Loss>(reduction(ctor));
  if (ctor.op() == "NLLLoss")
    return loss_module<nn::NLLLoss>(taper::NllLossOptions{.weight = ctor.optional_tensor("weight"),
                                                          .ignore_index = ctor.integer("ignore_index", -100),
                                                          .reduction = reduction(ctor)});
  if (ctor.op() == "SmoothL1Loss")
    return loss_module<nn::SmoothL1Loss>(nn::SmoothL1LossOptions{reduction(ctor), ctor.real("beta", 1)});
  if (ctor.op() == "HuberLoss")
    return loss_module<nn::HuberLoss>(nn::HuberLossOptions{reduction(ctor), ctor.real("delta", 1)});
  if (ctor.op() == "BCELoss")
    return loss_module<nn::BCELoss>(nn::BCELossOptions{ctor.optional_tensor("weight"), reduction(ctor)});
  if (ctor.op() == "BCEWithLogitsLoss")
    return loss_module<nn::BCEWithLogitsLoss>(nn::BCEWithLogitsLossOptions{
        ctor.optional_tensor("weight"), reduction(ctor), ctor.optional_tensor("pos_weight")});
  throw Skip{"module " + ctor.op()};
}

}  // namespace oracle
