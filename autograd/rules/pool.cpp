#include <taper/autograd/record.h>
#include <taper/ops/pool.h>

#include "rules.h"

namespace taper {
namespace {

Pool2dImage image_of(const Tensor& t) { return {{t.size(2), t.size(3)}, suggested_memory_format(t)}; }

struct MaxPool2dBackward final : Node {
  Saved input{this, "x"}, indices{this, "indices"};
  Pool2dWindow window;
  void save(const Tensor& x, const Pool2dWindow& o, const bool&) {
    window = o;
    input = x;
  }
  void save_output(const std::array<Tensor, 2>& y) { indices = y[1]; }
  Gradients apply(Gradients g) override {
    return {ops::max_pool2d_backward(g[0], indices.get(), image_of(input.get()), window)};
  }
};

// Which element was largest does not change when elements move a little, so the places are constants.
struct MaxPool2dBackwardBackward final : Node {
  Saved indices{this, "indices"};
  Pool2dWindow window;
  void save(const Tensor&, const Tensor& i, const Pool2dImage&, const Pool2dWindow& o) {
    window = o;
    indices = i;
  }
  Gradients apply(Gradients gg) override { return {ops::max_pool2d_at(gg[0], indices.get(), window), Tensor()}; }
};

struct MaxPool2dAtBackward final : Node {
  Saved indices{this, "indices"};
  Pool2dWindow window;
  Pool2dImage image;
  void save(const Tensor& x, const Tensor& i, const Pool2dWindow& o) {
    window = o;
    image = image_of(x);
    indices = i;
  }
  Gradients apply(Gradients g) override {
    return {ops::max_pool2d_backward(g[0], indices.get(), image, window), Tensor()};
  }
};

struct AvgPool2dBackward final : Node {
  Pool2dWindow window;
  AvgPool2dDivision division;
  Pool2dImage image;
  void save(const Tensor& x, const Pool2dWindow& o, const AvgPool2dDivision& d) {
    window = o;
    division = d;
    image = image_of(x);
  }
  Gradients apply(Gradients g) override { return {ops::avg_pool2d_backward(g[0], image, window, division)}; }
};

struct AvgPool2dBackwardBackward final : Node {
  Pool2dWindow window;
  AvgPool2dDivision division;
  void save(const Tensor&, const Pool2dImage&, const Pool2dWindow& o, const AvgPool2dDivision& d) {
    window = o;
    division = d;
  }
  Gradients apply(Gradients gg) override { return {ops::avg_pool2d(gg[0], window, division)}; }
};

}  // namespace

void install_pool_rules() {
  differentiate<MaxPool2dBackward, ops::max_pool2d>();
  differentiate<MaxPool2dBackwardBackward, ops::max_pool2d_backward>();
  differentiate<MaxPool2dAtBackward, ops::max_pool2d_at>();
  differentiate<AvgPool2dBackward, ops::avg_pool2d>();
  differentiate<AvgPool2dBackwardBackward, ops::avg_pool2d_backward>();
}

}  // namespace taper
