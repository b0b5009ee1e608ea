// Captured graphs: the same values as eager steps, memory of their own, and errors that leave everything usable.
#include <taper/autograd/checkpoint.h>
#include <taper/autograd/engine.h>
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/clip_grad.h>
#include <taper/nn/conv.h>
#include <taper/nn/graphed.h>
#include <taper/nn/linear.h>
#include <taper/nn/optim.h>
#include <taper/ops/activation.h>
#include <taper/ops/copy.h>
#include <taper/ops/dropout.h>
#include <taper/ops/loss.h>
#include <taper/ops/optim.h>
#include <taper/ops/pad.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/pools.h>
#include <taper/ops/reduce.h>
#include <taper/ops/resample.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");

struct Net final : nn::Module {
  nn::Linear fc1{6, 16}, fc2{16, 4};

  Tensor forward(const Tensor& x) override { return fc2(dropout(relu(fc1(x)), 0.3, is_training())); }
  void members(nn::MemberVisitor& v) override { v("fc1", fc1), v("fc2", fc2); }
};

constexpr int kWarmUp = 2, kSteps = 10, kBatch = 5;

/// What training leaves behind.
struct Outcome {
  std::vector<double> losses;
  TensorList parameters;  // of the cpu
  RandomStream generator;
  double steps = 0;  // as the state counts them
};

/// Training by eager steps or by replays of a graph, after the same steps to warm up. The learning rate falls, and
/// every third step has other gradients and is made eagerly in both.
template <class Optimizer, class Options>
Outcome train(bool by_graph, const Options& options, DType dtype = float32) {
  manual_seed(11);
  Net net;
  net.to(kCuda, dtype);
  const Tensor all = randn({kWarmUp + kSteps, kBatch, 6}, {.dtype = dtype, .device = kCuda});
  const Tensor target = arange(kBatch).remainder(4).to(kCuda);
  Optimizer optimizer(net.parameters(), options);
  Tensor input = all[0].clone(), loss;
  const auto step = [&] {
    optimizer.zero_grad();
    loss = cross_entropy(net.forward(input).to(float32), target);
    loss.backward();
    optimizer.step();
  };
  TensorList losses;
  for (int i = 0; i < kWarmUp; ++i) {
    input.copy_(all[i]);
    step();
  }
  cuda::Graph graph;
  if (by_graph) graph.capture(step);
  const Tensor of_graph = loss;
  for (int i = 0; i < kSteps; ++i) {
    const cuda::ForbidSync forbidden;
    optimizer.set_lr(options.lr / (1 + 0.2 * i));
    input.copy_(all[kWarmUp + i]);
    if (by_graph && i % 3 != 2) {
      graph.replay();
      losses.push_back(of_graph.detach().clone());
    } else {
      step();
      losses.push_back(loss.detach());
    }
  }
  Outcome outcome;
  for (const Tensor& l : losses) outcome.losses.push_back(l.template item<double>());
  for (const Tensor& p : net.parameters()) outcome.parameters.push_back(p.detach().cpu());
  outcome.generator = default_generator().state();
  const TensorDict state = optimizer.state_dict();
  if (const Tensor* steps = state.find("state.0.step")) outcome.steps = steps->item<double>();
  return outcome;
}

template <class Optimizer, class Options>
void check_same_training(const Options& options, DType dtype = float32) {
  const Outcome eager = train<Optimizer>(false, options, dtype), graph = train<Optimizer>(true, options, dtype);
  for (std::size_t i = 0; i < eager.losses.size(); ++i) CHECK(graph.losses[i] == Approx(eager.losses[i]).epsilon(1e-6));
  for (std::size_t i = 0; i < eager.parameters.size(); ++i)
    CHECK(graph.parameters[i].allclose(eager.parameters[i], 1e-6, 1e-7));
  CHECK(graph.generator.seed == eager.generator.seed);
  CHECK(graph.generator.stream == eager.generator.stream);
  CHECK(graph.steps == eager.steps);
}

}  // namespace

TEST_CASE("a cuda graph computes anew from what its inputs hold", "[cuda][graph]") {
  Tensor x = tensor({1.0, 2.0, 3.0}).to(kCuda), y;
  cuda::Graph graph;

  graph.capture([&] {
    CHECK(cuda::is_current_stream_capturing());
    y = x * 2 + 1;
  });

  CHECK(graph.is_captured());
  CHECK_FALSE(cuda::is_current_stream_capturing());
  graph.replay();
  CHECK(values(y) == Values{3, 5, 7});
  x.copy_(tensor({10.0, 20.0, 30.0}));
  graph.replay();
  CHECK(values(y) == Values{21, 41, 61});
}

TEST_CASE("a cuda graph is captured in two calls as well, and replayed on any stream", "[cuda][graph]") {
  Tensor x = ones({100}, {.device = kCuda});
  cuda::Graph graph;
  graph.capture_begin();
  x.add_(1);
  graph.capture_end();

  graph.replay();
  cuda::Stream side;
  side.wait_stream(cuda::current_stream());
  {
    const cuda::StreamGuard guard(side);
    graph.replay();
    graph.replay();
  }
  cuda::current_stream().wait_stream(side);
  graph.replay();

  CHECK(values(x) == Values(100, 5));
}

TEST_CASE("replays of a cuda graph on two streams keep their order and their random numbers", "[cuda][graph]") {
  manual_seed(9);
  Tensor x = zeros({7}, {.device = kCuda});
  cuda::Graph graph;
  graph.capture([&] { x.mul_(2).add_(rand({7}, {.device = kCuda})); });
  cuda::Stream side;
  side.wait_stream(cuda::current_stream());
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    const cuda::StreamGuard guard(side);
    graph.replay();
  }
  cuda::current_stream().wait_stream(side);

  manual_seed(9);
  Tensor want = zeros({7}, {.device = kCuda});
  for (int i = 0; i < 6; ++i) want.mul_(2).add_(rand({7}, {.device = kCuda}));
  CHECK(x.equal(want));
}

TEST_CASE("memory of a cuda graph is not given to anybody else before reset", "[cuda][graph]") {
  const Tensor x = ones({1000}, {.device = kCuda});
  Tensor y;
  cuda::Graph graph;
  graph.capture([&] { y = (x + 1) * (x + 2); });

  TensorList others;
  for (int i = 0; i < 20; ++i) others.push_back(zeros({1000}, {.device = kCuda}));
  graph.replay();

  CHECK(values(y) == Values(1000, 6));
  for (const Tensor& t : others) CHECK(values(t) == Values(1000, 0));
}

TEST_CASE("memory of a cuda graph returns with reset, and with the tensors in it", "[cuda][graph]") {
  const Tensor x = ones({1 << 19}, {.device = kCuda});
  const cuda::MemoryStats before = cuda::memory_stats();
  Tensor y;
  cuda::Graph graph;
  graph.capture([&] { y = (x + 1).exp() * 2; });
  graph.replay();
  CHECK(cuda::memory_stats().reserved > before.reserved);

  graph.reset();
  CHECK_FALSE(graph.is_captured());
  CHECK(cuda::memory_stats().reserved > before.reserved);  // y is still there
  CHECK(y.isfinite().all().item<bool>());
  y = Tensor();

  CHECK(cuda::memory_stats().allocated == before.allocated);
  CHECK(cuda::memory_stats().reserved <= before.reserved + (std::size_t(2) << 20));  // what isfinite() needed
  CHECK(cuda::memory_stats().active_blocks == before.active_blocks);
  graph.capture([&] { y = x + 1; });  // may be captured again
  graph.replay();
  CHECK(y[0].item<double>() == 2);
}

TEST_CASE("replays of a cuda graph draw the random numbers that calls would draw", "[cuda][graph]") {
  Tensor a, b;
  cuda::Graph graph;
  manual_seed(3);
  graph.capture([&] {
    a = rand({7}, {.device = kCuda});
    b = randn({7}, {.device = kCuda});
  });
  CHECK(default_generator().state().stream == 0);  // nothing has been drawn

  TensorList got;
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    got.push_back(a.clone());
    got.push_back(b.clone());
    if (i == 1) manual_seed(8);  // from here on another sequence
  }
  manual_seed(3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (i == 2) manual_seed(8);
    CHECK(got[2 * i].equal(rand({7}, {.device = kCuda})));
    CHECK(got[2 * i + 1].equal(randn({7}, {.device = kCuda})));
  }
}

TEST_CASE("ten replays of a network with dropout and Adam train as ten eager steps", "[cuda][graph]") {
  check_same_training<optim::Adam>(optim::AdamOptions{.lr = 1e-2});
  check_same_training<optim::Adam>(optim::AdamOptions{.lr = 1e-2, .weight_decay = 0.1, .amsgrad = true}, float64);
}

TEST_CASE("replays train as eager steps with AdamW and SGD", "[cuda][graph]") {
  check_same_training<optim::AdamW>(optim::AdamWOptions{.lr = 1e-2});
  check_same_training<optim::SGD>(optim::SGDOptions{.lr = 0.1});
  check_same_training<optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01});
}

TEST_CASE("replays train bfloat16 parameters as eager steps do", "[cuda][graph]") {
  check_same_training<optim::Adam>(optim::AdamOptions{.lr = 1e-2}, bfloat16);
}

TEST_CASE("replays train a convolutional network as eager steps do, with its running statistics", "[cuda][graph]") {
  const auto after = [](bool by_graph) {
    manual_seed(4);
    nn::Conv2d conv1(1, 4, 5, {.padding = 2}), conv2(4, 8, 3);
    nn::BatchNorm2d norm(4);
    nn::Linear fc(8 * 2 * 2, 10);
    TensorList params;
    for (nn::Module* m : {static_cast<nn::Module*>(&conv1), static_cast<nn::Module*>(&norm),
                          static_cast<nn::Module*>(&conv2), static_cast<nn::Module*>(&fc)}) {
      m->to(kCuda);
      for (const Tensor& p : m->parameters()) params.push_back(p);
    }
    const Tensor all = randn({8, 4, 1, 12, 12}, {.device = kCuda}), labels = arange(4).to(kCuda);
    Tensor images = all[0].clone(), loss;
    optim::SGD optimizer(params, {.lr = 0.05, .momentum = 0.9});
    const auto step = [&] {
      optimizer.zero_grad();
      const Tensor h = max_pool2d(relu(norm(conv1(images))), 2);
      loss = cross_entropy(fc(avg_pool2d(relu(conv2(h)), 2).flatten(1)), labels);
      loss.backward();
      nn::utils::clip_grad_norm_(params, 1.0);
      optimizer.step();
    };
    cuda::Graph graph;
    for (int i = 0; i < 8; ++i) {
      images.copy_(all[i]);
      if (by_graph && i == 2) graph.capture(step);
      by_graph&& i >= 2 ? graph.replay() : step();
    }
    TensorList result{loss.detach().cpu(), norm.running_mean.cpu(), norm.running_var.cpu()};
    CHECK(norm.num_batches_tracked.item<int>() == 8);
    for (const Tensor& p : params) result.push_back(p.detach().cpu());
    return result;
  };
  const TensorList eager = after(false), graph = after(true);
  for (std::size_t i = 0; i < eager.size(); ++i) CHECK(graph[i].allclose(eager[i], 1e-6, 1e-7));
}

TEST_CASE("a cuda graph steps more parameters than a launch takes, in groups with rates of their own",
          "[cuda][graph]") {
  const auto after = [](bool by_graph) {
    TensorList slow, fast;
    for (int i = 0; i < 75; ++i)
      (i % 2 ? fast : slow)
          .push_back(full({std::int64_t(i % 4 + 1)}, 1 + i, {.dtype = i % 9 ? float32 : float64, .device = kCuda}));
    optim::Adam optimizer({{slow, {.lr = 0.01}}, {fast, {.lr = 0.1}}});
    const auto step = [&] {
      optimizer.zero_grad();
      for (const TensorList* list : {&slow, &fast})
        for (const Tensor& p : *list) Tensor(p).set_grad(p.detach().cos());
      optimizer.step();
    };
    step();
    cuda::Graph graph;
    if (by_graph) graph.capture(step);
    for (int i = 0; i < 4; ++i) {
      if (i == 2) optimizer.set_lr(0, 0.1);  // now both groups have one rate
      if (i == 3) optimizer.options(1).betas = {0.5, 0.9};
      by_graph ? graph.replay() : step();
    }
    TensorList all;
    for (const TensorList* list : {&slow, &fast})
      for (const Tensor& p : *list) all.push_back(p.cpu());
    return all;
  };
  const TensorList eager = after(false), graph = after(true);
  for (std::size_t i = 0; i < eager.size(); ++i) CHECK(graph[i].equal(eager[i]));
}

TEST_CASE("a checkpoint in a cuda graph drops the same elements when it computes again", "[cuda][graph]") {
  manual_seed(2);
  Tensor x = ones({50}, {.device = kCuda}).requires_grad_(), y;
  const auto work = [&] {
    x.zero_grad();
    y = autograd::checkpoint([](const Tensor& t) { return dropout(t * 3, 0.5); }, x);
    y.sum().backward();
  };
  work();
  cuda::Graph graph;
  graph.capture(work);
  graph.replay();
  const Tensor first = y.detach().clone();
  CHECK(x.grad().equal(first));
  graph.replay();
  CHECK(x.grad().equal(y.detach()));
  CHECK_FALSE(y.detach().equal(first));
}

TEST_CASE("waiting for the device in the capture of a cuda graph throws, and all goes on as before", "[cuda][graph]") {
  const Tensor x = ones({3}, {.device = kCuda});
  const cuda::MemoryStats before = cuda::memory_stats();
  const RandomStream drawn = default_generator().state();
  cuda::Graph graph;

  CHECK(contains(message_of<cuda::SyncError>([&] {
                   graph.capture([&] {
                     const Tensor noise = rand({1 << 20}, {.device = kCuda});
                     (noise.sum() + x[0]).item<double>();
                   });
                 }),
                 "recorded into a graph"));

  CHECK_FALSE(graph.is_captured());
  CHECK_FALSE(cuda::is_current_stream_capturing());
  CHECK(default_generator().state().stream == drawn.stream);
  CHECK(cuda::memory_stats().allocated == before.allocated);
  CHECK(cuda::memory_stats().reserved == before.reserved);
  CHECK_THROWS_AS(graph.capture([&] { cuda::synchronize(); }), cuda::SyncError);
  CHECK_THROWS_AS(graph.capture([&] { cuda::current_stream().synchronize(); }), cuda::SyncError);
  CHECK_THROWS_AS(graph.capture([&] {
    cuda::Event event;
    event.record();
    event.synchronize();
  }),
                  cuda::SyncError);
  CHECK(values(x + 1) == Values(3, 2));
  Tensor y;
  graph.capture([&] { y = x + 1; });
  graph.replay();
  CHECK(values(y) == Values(3, 2));
}

TEST_CASE("an exception in the capture of a cuda graph is passed on, and the graph is as before", "[cuda][graph]") {
  const Tensor x = ones({3}, {.device = kCuda});
  Tensor y;
  cuda::Graph graph;
  CHECK_THROWS_AS(graph.capture([&] {
    y = x + 1;
    throw std::out_of_range("enough");
  }),
                  std::out_of_range);
  CHECK_FALSE(cuda::is_current_stream_capturing());
  CHECK_THROWS_AS(graph.capture([&] { y = x + ones({5}, {.device = kCuda}); }), ShapeError);
  y = Tensor();

  graph.capture([&] { y = x + 2; });
  graph.replay();
  CHECK(values(y) == Values(3, 3));
}

TEST_CASE("cuda graphs say what is wrong with the order of calls", "[cuda][graph]") {
  const Tensor x = ones({3}, {.device = kCuda});
  cuda::Graph graph, other;
  CHECK(contains(message_of<ValueError>([&] { graph.replay(); }), "nothing has been captured"));
  CHECK(contains(message_of<ValueError>([&] { graph.capture_end(); }), "no capture_begin()"));
  graph.reset();

  graph.capture([&] {
    x.add(1);
    CHECK(contains(message_of<ValueError>([&] { other.capture([] {}); }), "captures a graph already"));
    CHECK(contains(message_of<ValueError>([&] { graph.capture_begin(); }), "captures a graph already"));
    CHECK(contains(message_of<ValueError>([&] { graph.reset(); }), "is being captured"));
    CHECK(contains(message_of<ValueError>([&] { graph.replay(); }), "nothing has been captured"));
    x.add(2);
  });
  CHECK(contains(message_of<ValueError>([&] { graph.capture([] {}); }), "holds a capture"));
  other.capture([&] { CHECK(contains(message_of<ValueError>([&] { graph.replay(); }), "while another one")); });
  other.replay();  // nothing
  cuda::Graph moved = std::move(graph);
  moved.replay();
  CHECK_FALSE(graph.is_captured());
  { cuda::Graph(std::move(moved)).replay(); }
  {
    cuda::Graph forgotten;
    forgotten.capture_begin();
  }
  CHECK_FALSE(cuda::is_current_stream_capturing());
}

TEST_CASE("a cuda graph keeps the tables that operators make on the cpu", "[cuda][graph]") {
  const Tensor x = ones({1, 2, 5, 7}, {.device = kCuda});
  const auto compute = [&x] {
    const Tensor larger = interpolate(x, {.size = {8, 9}, .mode = "bilinear"});
    const Tensor counted = larger + arange(9., {.device = x.device()}) + tensor({2.}, {.device = x.device()});
    const Tensor mirrored = taper::pad(counted, {1, 2}, "reflect");
    return TensorList{mirrored, adaptive_avg_pool2d(x, {3}), eye(3, 3, {.device = x.device()}),
                      linspace(0, 1, 4, {.device = x.device()}), adaptive_max_pool2d(x, {{2}, {3}})};
  };
  cuda::Graph graph;
  TensorList results;
  graph.capture([&] { results = compute(); });
  for (int i = 0; i < 3; ++i) {
    Tensor(x).normal_();
    (void)full({64}, -1., {.device = cpu}).pin_memory();  // what is free on the host is used again
    graph.replay();
    const TensorList expected = compute();
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(equal(results[k], expected[k]));
  }
}

TEST_CASE("what a cuda graph cannot hold is refused in its capture", "[cuda][graph]") {
  const Tensor x = ones({3}, {.device = kCuda}), on_cpu = ones({3}, {.device = cpu});
  const Tensor pinned = on_cpu.pin_memory();
  cuda::Graph graph;
  CHECK(contains(message_of<NotImplementedError>([&] { graph.capture([&] { on_cpu.to(kCuda); }); }),
                 "cannot be captured into a graph"));
  CHECK_THROWS_AS(graph.capture([&] { Tensor(x).copy_(pinned, true); }), NotImplementedError);
  CHECK_THROWS_AS(graph.capture([&] { Tensor(pinned).copy_(x, true); }), NotImplementedError);
  CHECK_THROWS_AS(graph.capture([&] { randperm(5, {.device = kCuda}); }), NotImplementedError);
  Generator own(4);
  CHECK(contains(message_of<NotImplementedError>([&] { graph.capture([&] { rand({5}, {.device = kCuda}, own); }); }),
                 "default generator"));
  CHECK(contains(message_of<ValueError>([&] { graph.capture([] { manual_seed(1); }); }), "was seeded in the capture"));
  const Tensor g = ones({3}, {.device = kCuda});
  CHECK(
      contains(message_of<NotImplementedError>([&] { graph.capture([&] { sgd_step_(x, g, Tensor(), {.lr = 0.1}); }); }),
               "by itself"));
  CHECK(values(x) == Values(3, 1));
}

TEST_CASE("steps that a cuda graph would freeze are refused, and other steps than in the capture", "[cuda][graph]") {
  Tensor p = ones({3}, {.device = kCuda}).requires_grad_();
  p.set_grad(ones({3}, {.device = kCuda}));
  cuda::Graph graph;
  optim::RMSprop other({p});
  other.step();
  CHECK(contains(message_of<NotImplementedError>([&] { graph.capture([&] { other.step(); }); }),
                 "RMSprop.step: cannot be captured"));

  auto adam = std::make_unique<optim::Adam>(TensorList{p});
  CHECK(contains(message_of<ValueError>([&] { graph.capture([&] { adam->step(); }); }), "make a step before"));
  adam->step();
  graph.capture([&] { adam->step(); });
  const auto steps = [&] {
    const TensorDict state = adam->state_dict();
    return state.find("state.0.step")->item<double>();
  };
  CHECK(steps() == 1);  // the capture is no step
  graph.replay();
  CHECK(steps() == 2);

  const Tensor before = p.detach().clone();
  adam->load_state_dict(adam->state_dict());
  CHECK(contains(message_of<ValueError>([&] { graph.replay(); }), "capture again"));
  CHECK(steps() == 2);
  CHECK(p.detach().equal(before));
  adam.reset();
  CHECK(contains(message_of<ValueError>([&] { graph.replay(); }), "is gone"));
  CHECK(p.detach().equal(before));
}

TEST_CASE("make_graphed warms a step up, captures it and replays it", "[cuda][graph]") {
  const auto train_on = [](Device device, bool graphed, int& calls) {
    manual_seed(6);
    Tensor w = ones({4}, {.device = device}).requires_grad_();
    Tensor x = zeros({4}, {.device = device});
    optim::Adam optimizer({w}, {.lr = 0.1});
    const auto step = [&] {
      ++calls;
      optimizer.zero_grad();
      const Tensor loss = (dropout(w, 0.3) * x).square().sum();
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
    auto fast = nn::make_graphed(step, 2);
    std::vector<double> losses;
    for (int i = 0; i < 6; ++i) {
      x.fill_(i + 1);
      losses.push_back((graphed ? fast() : step()).item<double>());
      if (i == 3) fast.reset();  // is captured a second time
    }
    return losses;
  };
  int eager_calls = 0, graphed_calls = 0, cpu_calls = 0;
  const std::vector<double> eager = train_on(kCuda, false, eager_calls), graphed = train_on(kCuda, true, graphed_calls);
  const std::vector<double> on_cpu = train_on(cpu, true, cpu_calls);
  CHECK(graphed == eager);
  for (std::size_t i = 0; i < eager.size(); ++i) CHECK(on_cpu[i] == Approx(eager[i]).epsilon(1e-5));
  CHECK(eager_calls == 6);
  CHECK(graphed_calls == 4);
  CHECK(cpu_calls == 6);
  CHECK_THROWS_AS(nn::make_graphed([] { return Tensor(); }, 0), ValueError);
}

TEST_CASE("an optimizer's step that failed in the capture of a cuda graph cannot be replayed in parts",
          "[cuda][graph]") {
  Tensor p = ones({3}, {.device = kCuda}).requires_grad_(), q = ones({2}, {.device = kCuda}).requires_grad_();
  optim::SGD optimizer({p, q}, {.lr = 0.1, .momentum = 0.5});
  p.set_grad(ones({3}, {.device = kCuda}));
  optimizer.step();
  q.set_grad(ones({2}, {.device = kCuda}));
  const Tensor before = p.detach().clone();
  cuda::Graph graph;
  graph.capture([&] { CHECK_THROWS_AS(optimizer.step(), ValueError); });  // q has no state yet

  CHECK_THROWS_AS(graph.replay(), ValueError);

  CHECK(p.detach().equal(before));
}
