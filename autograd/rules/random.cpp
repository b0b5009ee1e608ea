#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/random.h>

#include "rules.h"

namespace taper {
namespace {

/// What is drawn does not depend on what stood there, nor continuously on a probability.
struct RandomBackward final : Node {
  Gradients apply(Gradients g) override { return {zeros_like(g[0])}; }
};

}  // namespace

void install_random_rules() {
  differentiate<RandomBackward, ops::uniform>();
  differentiate<RandomBackward, ops::normal>();
  differentiate<RandomBackward, ops::bernoulli_fill>();
  differentiate<RandomBackward, ops::exponential>();
  differentiate<RandomBackward, ops::random>();
  differentiate<RandomBackward, ops::bernoulli>();
  ops::permutation.declare_non_differentiable();
}

}  // namespace taper
