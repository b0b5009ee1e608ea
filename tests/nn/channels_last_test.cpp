// Images in channels_last order stay so through whatever a convolutional net is made of, without hidden copies.
#include <taper/taper.h>

#include <functional>
#include <optional>

#include "support/catch.h"
#include "support/values.h"

using namespace taper;

namespace {

constexpr MemoryFormat kLast = MemoryFormat::channels_last;

bool is_last(const Tensor& t) { return t.is_contiguous(kLast) && !t.is_contiguous(); }
bool alike(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  return a.sizes() == b.sizes() && allclose(a.detach().to(float64), b.detach().to(float64), tolerance, tolerance);
}

/// Those of the cpu; of cuda's, some copy.
bool kernels_read_both_orders() { return default_device().is_cpu(); }

struct Step {
  const char* name;
  std::function<Tensor(const Tensor&)> call;
};
std::vector<Step> steps() {
  manual_seed(11);
  const Tensor kernel = randn({5, 6, 3, 3}), last = kernel.contiguous(kLast), back = randn({6, 4, 2, 2}),
               grouped = randn({6, 3, 3, 3});
  const Tensor scale = randn({6}), shift = randn({6}), five = randn({5});
  return {
      {"pointwise", [](const Tensor& x) { return (x * 2 + x.relu()).tanh(); }},
      {"with another in the same order", [](const Tensor& x) { return where(x > 0, x, x.square()) - x; }},
      {"with numbers along the channels",
       [=](const Tensor& x) {
         return x * scale.view({6, 1, 1});
       }},
      {"clamp", [](const Tensor& x) { return x.clamp(-0.5, 0.5); }},
      {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"dropout", [](const Tensor& x) { return manual_seed(3), dropout(x, 0.5); }},
      {"dropout2d", [](const Tensor& x) { return manual_seed(3), dropout2d(x, 0.5); }},
      {"conv2d", [=](const Tensor& x) { return conv2d(x, kernel, five, {.padding = 1}); }},
      {"conv2d, its kernel in this order too", [=](const Tensor& x) { return conv2d(x, last); }},
      {"conv2d, grouped", [=](const Tensor& x) { return conv2d(x, grouped, {}, {.groups = 2}); }},
      {"conv_transpose2d", [=](const Tensor& x) { return conv_transpose2d(x, back, {}, {.stride = 2}); }},
      {"batch_norm", [=](const Tensor& x) { return batch_norm(x, scale, shift, {}, {}, true); }},
      {"group_norm", [=](const Tensor& x) { return group_norm(x, 3, scale, shift); }},
      {"group_norm of one group", [](const Tensor& x) { return group_norm(x, 1); }},
      {"instance_norm", [=](const Tensor& x) { return instance_norm(x, {}, {}, scale, shift); }},
      {"max_pool2d", [](const Tensor& x) { return max_pool2d(x, 2); }},
      {"avg_pool2d", [](const Tensor& x) { return avg_pool2d(x, 3, {.stride = 1, .padding = 1}); }},
      {"adaptive_avg_pool2d",
       [](const Tensor& x) {
         return adaptive_avg_pool2d(x, {3, 4});
       }},
      {"pad",
       [](const Tensor& x) {
         return pad(x, {1, 2, 0, 1});
       }},
      {"pad, cutting",
       [](const Tensor& x) {
         return pad(x, {-1, 2, 0, -1}, "constant", 3);
       }},
      {"pad, reflecting",
       [](const Tensor& x) {
         return pad(x, {1, 2, 0, 1}, "reflect");
       }},
      {"pad, replicating",
       [](const Tensor& x) {
         return pad(x, {1, 2, 0, 1}, "replicate");
       }},
      {"pad, around",
       [](const Tensor& x) {
         return pad(x, {1, 2, 0, 1}, "circular");
       }},
      {"interpolate", [](const Tensor& x) { return interpolate(x, {.scale_factor = {2}}); }},
      {"interpolate, bilinear",
       [](const Tensor& x) {
         return interpolate(x, {.size = {3, 9}, .mode = "bilinear"});
       }},
      {"interpolate, bicubic",
       [](const Tensor& x) {
         return interpolate(x, {.size = {9, 5}, .mode = "bicubic"});
       }},
      {"softmax over the channels", [](const Tensor& x) { return softmax(x, 1); }},
      {"log_softmax over the channels", [](const Tensor& x) { return log_softmax(x, -3); }},
      {"softmax over the columns", [](const Tensor& x) { return softmax(x, 3); }},
      {"cat over the channels",
       [](const Tensor& x) {
         return cat({x, x.square()}, 1);
       }},
      {"cat over the rows",
       [](const Tensor& x) {
         return cat({x, x.square(), x}, 2);
       }},
  };
}

/// The result and the gradient of x for a smooth sum.
std::pair<Tensor, Tensor> run(const Step& step, const Tensor& x) {
  Tensor leaf = x.detach().requires_grad_();
  const Tensor y = step.call(leaf);
  y.sin().sum().backward();
  return {y, leaf.grad()};
}

}  // namespace

TEST_CASE("images keep their order in memory and their values, forward and backward, without hidden copies",
          "[memory_format][S79]") {
  manual_seed(7);
  const Tensor x = randn({2, 6, 7, 8}), last = x.contiguous(kLast);
  for (const Step& step : steps()) {
    INFO(step.name);
    const auto [expected, expected_grad] = run(step, x);
    std::optional<ForbidImplicitCopies> forbid;
    if (kernels_read_both_orders()) forbid.emplace();
    const LayoutCopies before = layout_copies();
    const auto [y, grad] = run(step, last);
    if (kernels_read_both_orders()) CHECK(layout_copies().count == before.count);
    CHECK(is_last(y));
    CHECK(is_last(grad));
    CHECK(alike(y, expected));
    CHECK(alike(grad, expected_grad, 1e-4));
  }
}

TEST_CASE("16-bit images keep their order through norms, too", "[memory_format]") {
  manual_seed(7);
  for (const DType d : {float16, bfloat16}) {
    const Tensor x = randn({2, 4, 5, 5}).to(d), last = x.contiguous(kLast);
    const Tensor y = group_norm(last, 2);
    CHECK(is_last(y));
    CHECK(y.dtype() == d);
    CHECK(alike(y, group_norm(x, 2), d == float16 ? 2e-3 : 2e-2));
  }
}

TEST_CASE("volumes and lines keep their order through cat and pads", "[memory_format]") {
  const Tensor volume = arange(48, float32).view({1, 2, 2, 3, 4}).contiguous(kLast);
  CHECK(is_last(cat({volume, volume}, 1)));
  CHECK(is_last(pad(volume, {1, 1}, "constant")));
  CHECK(is_last(relu(volume)));
  CHECK(is_last(cat({volume, volume}, 4)));
  CHECK_FALSE(is_last(cat({volume, volume.contiguous()}, 1)));
}

TEST_CASE("instance_norm moves its running statistics the same in either order", "[memory_format]") {
  manual_seed(7);
  const Tensor x = randn({3, 4, 5, 6});
  Tensor mean[2], var[2];
  for (const int i : {0, 1}) {
    mean[i] = zeros({4}), var[i] = ones({4});
    instance_norm(i ? x.contiguous(kLast) : x, mean[i], var[i]);
  }
  CHECK(alike(mean[0], mean[1]));
  CHECK(alike(var[0], var[1]));
}

namespace {

struct Net final : nn::Module {
  nn::Conv2d first{3, 8, 3, {.padding = 1}}, second{8, 16, 3, {.stride = 2, .padding = 1}}, last{16, 4, 1};
  nn::BatchNorm2d norm{8};
  nn::GroupNorm groups{4, 16};
  nn::Linear head{4, 10};
  Tensor forward(const Tensor& x) override {
    Tensor y = max_pool2d(relu(norm(first(x))), 2);
    y = gelu(groups(second(pad(y, {1, 1, 1, 1}, "reflect"))));
    y = last(interpolate(dropout(y, 0.1), {.scale_factor = {2}}));
    orders.push_back(is_last(y));
    return head(adaptive_avg_pool2d(y, {1, 1}).flatten(1));
  }
  void members(nn::MemberVisitor& v) override {
    v("first", first), v("second", second), v("last", last), v("norm", norm), v("groups", groups), v("head", head);
  }
  std::vector<bool> orders;
};

}  // namespace

TEST_CASE("a convolutional net trains in channels_last order without a hidden copy", "[memory_format][S79][S81]") {
  const auto train = [](MemoryFormat format) {
    manual_seed(21);
    Net net;
    net.to(format);
    optim::SGD sgd(net.parameters(), {.lr = 0.05});
    const Tensor x = randn({4, 3, 12, 12}).contiguous(format), target = randint(10, {4});
    Values losses;
    net.train();
    const auto step = [&] {
      net.zero_grad();
      const Tensor loss = cross_entropy(net(x), target);
      loss.backward();
      sgd.step();
      losses.push_back(loss.item<double>());
    };
    if (format == kLast) {
      reset_copy_stats();
      std::optional<ForbidImplicitCopies> forbid;
      if (kernels_read_both_orders()) forbid.emplace();
      step();
      step();
      if (kernels_read_both_orders()) CHECK(copy_stats().empty());
      CHECK(net.orders == std::vector<bool>{true, true});
    } else {
      step();
      step();
    }
    return losses;
  };
  const Values rows = train(MemoryFormat::contiguous), last = train(kLast);
  CHECK(last[0] == Approx(rows[0]).epsilon(1e-4));
  CHECK(last[1] == Approx(rows[1]).epsilon(1e-3));
}

TEST_CASE("a module put into channels_last order keeps its parameters, their gradients and its ties",
          "[memory_format][S67]") {
  manual_seed(2);
  nn::Conv2d conv(3, 4, 3);
  const Tensor weight = conv.weight, before = conv.weight.detach().clone();
  conv(randn({1, 3, 5, 5})).sum().backward();
  const Tensor grad = conv.weight.grad();
  conv.to(kLast);
  CHECK(conv.weight.is_same(weight));
  CHECK(is_last(conv.weight));
  CHECK(is_last(conv.weight.grad()));
  CHECK(values(conv.weight) == values(before));
  CHECK(values(conv.weight.grad()) == values(grad));
  CHECK(conv.bias.is_contiguous());
  conv.to(MemoryFormat::contiguous);
  CHECK(conv.weight.is_contiguous());
  CHECK(values(conv.weight) == values(before));
}
