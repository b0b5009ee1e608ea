#pragma once
#include <taper/nn/idx.h>
#include <taper/nn/module.h>

#include "report.h"

/// Lets the model classify the test images, normalized as in training, and collects what it gets wrong.
Evaluation evaluate(taper::nn::Module& model, taper::Device device, const taper::data::LabelledImages& test,
                    double mean, double std);
