// Taper on a CUDA device, measured: what tests/device/run asks for.
//
//   taper_device measure [--tiny]          what the device and the host take for the simplest things, as JSON
//   taper_device replays COUNT [--tiny]    a captured training step, replayed: losses stay finite, memory stays as it
//   is taper_device serve                     training steps, as standard input asks for them; see serve()
//
// The models, their first weights and their batches are those of benchmark.py, to the bit.
#include <taper/cuda.h>
#include <taper/nn/graphed.h>
#include <taper/taper.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cuda/host/biased_gemm.h"

using namespace taper;

namespace {

const Device kCuda("cuda");

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ---- Models --------------------------------------------------------------------------------------------------------
/// Numbers in [-1, 1) without a pattern, the same in every language that has float64.
Tensor numbers(IntSpan sizes, double phase, double scale) {
  std::vector<float> v(std::size_t(SizesAndStrides::contiguous(sizes).numel()));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double x = std::sin(double(i) * 12.9898 + phase * 78.233) * 43758.5453;
    v[i] = float((2 * (x - std::floor(x)) - 1) * scale);
  }
  return from_vector(std::move(v)).to(kCuda).view(sizes);
}

struct Case {
  std::string model;
  std::int64_t width, batch;
};

nn::Sequential make_model(const Case& c) {
  const std::int64_t w = c.width;
  if (c.model == "mlp")
    return nn::Sequential(nn::Linear(784, w), nn::ReLU(), nn::Linear(w, w / 2), nn::ReLU(), nn::Linear(w / 2, 10));
  if (c.model == "lenet")
    return nn::Sequential(nn::Conv2d(1, w, 5, {.padding = 2}), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(w, 16, 5),
                          nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(400, 120), nn::ReLU(),
                          nn::Linear(120, 84), nn::ReLU(), nn::Linear(84, 10));
  check<ValueError>(c.model == "vgg", "there is no model '", c.model, "': expected mlp, lenet or vgg");
  nn::Sequential net;
  std::int64_t channels = 3;
  for (const std::int64_t out : {w, 2 * w, 4 * w}) {
    for (int i = 0; i < 2; ++i) {
      net.push_back(nn::Conv2d(channels, out, 3, {.padding = 1}));
      net.push_back(nn::BatchNorm2d(out));
      net.push_back(nn::ReLU());
      channels = out;
    }
    net.push_back(nn::MaxPool2d(2));
  }
  net.push_back(nn::Flatten());
  net.push_back(nn::Linear(channels * 16, 4 * w));
  net.push_back(nn::ReLU());
  net.push_back(nn::Linear(4 * w, 10));
  return net;
}

/// A model with its optimizer and one batch. Adam for the perceptron, SGD with momentum for the others.
struct Training {
  Training(const Case& c, bool is_slow) : model(make_model(c)) {
    double phase = 1;
    for (const auto& [name, p] : model.named_parameters()) {
      NoGradGuard no_grad;
      Tensor value = p.detach();
      if (name.ends_with("bias"))
        value.zero_();
      else if (p.dim() > 1)
        value.copy_(numbers(p.sizes(), phase, std::sqrt(3.0 / double(p.numel() / p.size(0)))));
      phase += 1;
    }
    model.to(kCuda);
    // Rates so low that a fixed batch is never learnt by heart: it is steps that are timed, not what they lead to.
    if (c.model == "mlp")
      optimizer = std::make_unique<optim::Adam>(model.parameters(), optim::AdamOptions{.lr = is_slow ? 1e-9 : 1e-3});
    else
      optimizer = std::make_unique<optim::SGD>(model.parameters(),
                                               optim::SGDOptions{.lr = is_slow ? 1e-7 : 0.02, .momentum = 0.9});
    const IntVec sizes = c.model == "mlp"     ? IntVec{c.batch, 784}
                         : c.model == "lenet" ? IntVec{c.batch, 1, 28, 28}
                                              : IntVec{c.batch, 3, 32, 32};
    images = numbers(sizes, 0, 1);
    labels = arange(c.batch, TensorOptions{.dtype = int64, .device = cpu}).mul(7).remainder(10).to(kCuda);
  }
  Tensor step() {
    optimizer->zero_grad();
    const Tensor loss = cross_entropy(model.forward(images), labels);
    loss.backward();
    optimizer->step();
    return loss.detach();
  }

  nn::Sequential model;
  std::unique_ptr<optim::Optimizer> optimizer;
  Tensor images, labels;
};

/// One of the two ways to make steps.
struct Stepper {
  Stepper(const Case& c, bool is_graph, bool is_slow)
      : training(std::make_shared<Training>(c, is_slow)),
        graphed(nn::make_graphed(Step{training.get()})),
        by_graph(is_graph) {}
  Tensor operator()() { return by_graph ? graphed() : training->step(); }

  struct Step {
    Training* training;
    Tensor operator()() const { return training->step(); }
  };
  std::shared_ptr<Training> training;  // at its place, whatever the stepper does
  nn::Graphed<Step> graphed;
  bool by_graph;
};

std::vector<double> losses_of(Stepper& stepper, int count) {
  TensorList losses;
  for (int i = 0; i < count; ++i) losses.push_back(stepper().clone());
  std::vector<double> values;
  for (const Tensor& loss : losses) values.push_back(loss.item<double>());
  return values;
}

/// Microseconds of a step, in about so many seconds.
double time_steps(Stepper& stepper, double seconds) {
  for (int i = 0; i < 5; ++i) stepper();
  cuda::synchronize();
  const double begin = now_us();
  long steps = 0;
  for (long batch = 1; now_us() - begin < seconds * 1e6; steps += batch, batch = std::min(batch * 2, 64L)) {
    for (long i = 0; i < batch; ++i) stepper();
    cuda::synchronize();
  }
  return (now_us() - begin) / double(steps);
}

/// Answers lines with lines, so that two programs can take turns:
///
///   time MODEL WIDTH BATCH eager|graph SECONDS     -> microseconds of a step
///   losses MODEL WIDTH BATCH eager|graph COUNT     -> the first losses
///   precision highest|high|medium                  -> ok; that of products of float32, from now on
///   forget                                         -> ok, and the models are gone
/// What goes wrong is answered by "error" and a message.
void serve() {
  std::map<std::string, std::unique_ptr<Stepper>> kept;
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      char verb[16] = "", model[16] = "", mode[16] = "";
      long width = 0, batch = 0;
      double amount = 0;
      const int got =
          std::sscanf(line.c_str(), "%15s %15s %ld %ld %15s %lf", verb, model, &width, &batch, mode, &amount);
      if (got == 1 && !std::strcmp(verb, "forget")) {
        kept.clear();
        cuda::empty_cache();
        std::printf("ok\n");
      } else if (got == 2 && !std::strcmp(verb, "precision")) {
        set_float32_matmul_precision(model);
        std::printf("ok\n");
      } else {
        check<ValueError>(got == 6 && width > 0 && batch > 0 && amount > 0, "cannot read '", line, "'");
        const Case c{model, width, batch};
        const bool is_graph = !std::strcmp(mode, "graph");
        if (!std::strcmp(verb, "losses")) {
          Stepper stepper(c, is_graph, false);
          for (const double loss : losses_of(stepper, int(amount))) std::printf("%.9g ", loss);
          std::printf("\n");
        } else {
          auto& stepper = kept[std::string(model) + '/' + std::to_string(width) + '/' + std::to_string(batch) + mode +
                               get_float32_matmul_precision()];
          if (!stepper) stepper = std::make_unique<Stepper>(c, is_graph, true);
          std::printf("%.4f\n", time_steps(*stepper, amount));
        }
      }
    } catch (const std::exception& e) {
      std::string message = e.what();
      for (char& c : message)
        if (c == '\n') c = ' ';
      std::printf("error %s\n", message.c_str());
    }
    std::fflush(stdout);
  }
}

// ---- The simplest things --------------------------------------------------------------------------------------------
/// Microseconds of a call on the device, of the best of three rounds.
template <class F>
double on_device_us(int calls, F f) {
  double best = 1e300;
  f();
  for (int round = 0; round < 3; ++round) {
    cuda::Event begin(true), end(true);
    begin.record();
    for (int i = 0; i < calls; ++i) f();
    end.record();
    end.synchronize();
    best = std::min(best, double(begin.elapsed_time(end)) * 1e3 / calls);
  }
  return best;
}
/// Microseconds of the host for a call that it does not wait for.
template <class F>
double on_host_us(int calls, F f) {
  double best = 1e300;
  f();
  for (int round = 0; round < 3; ++round) {
    cuda::synchronize();
    const double begin = now_us();
    for (int i = 0; i < calls; ++i) f();
    best = std::min(best, (now_us() - begin) / calls);
  }
  cuda::synchronize();
  return best;
}

bool is_first = true;
void report(const char* name, double value) {
  std::printf("%s\n  \"%s\": %.6g", is_first ? "" : ",", name, value);
  std::fflush(stdout);
  is_first = false;
}

/// For which products cuBLASLt has a kernel that adds a bias, and whether it computes the same as a product and a sum.
bool measure_biased_products() {
  bool is_right = true;
  for (const std::string precision : {"highest", "high", "medium"}) {
    set_float32_matmul_precision(precision);
    const double limit = precision == "highest" ? 1e-5 : precision == "high" ? 3e-3 : 3e-2;
    int asked = 0, found = 0;
    std::string missing;
    double off = 0;
    for (const std::int64_t batch : {1, 16, 64, 250})
      for (const std::int64_t outputs : {10, 84, 120, 512}) {
        const std::int64_t inputs = outputs == 10 ? 84 : 400;
        const Tensor x = numbers({batch, inputs}, 1, 1), w = numbers({outputs, inputs}, 2, 1);
        const Tensor bias = numbers({outputs}, 3, 1), y = zeros({batch, outputs}, {.device = kCuda});
        const auto memory = [](const Tensor& t) { return static_cast<float*>(t.impl()->data()); };
        const cuda_kernels::OnDevice on(0);
        cuda_kernels::Gemm product;
        product.trans_b = true;
        product.m = batch, product.n = outputs, product.k = inputs;
        product.lda = product.ldb = inputs, product.ldc = outputs;
        ++asked;
        if (cuda_kernels::biased_gemm("linear", on, product, memory(x), memory(w), memory(bias), memory(y))) {
          ++found;
          const Tensor want = x.matmul(w.t()) + bias;
          off = std::max(off, ((y - want).abs().max() / want.abs().max()).item<double>());
        } else {
          missing += ' ' + std::to_string(batch) + 'x' + std::to_string(outputs);
        }
      }
    is_right = is_right && off <= limit;
    std::printf(",\n  \"biased_product_%s\": \"%d of %d, off by %.2g%s%s%s\"", precision.c_str(), found, asked, off,
                off <= limit ? "" : " WRONG", missing.empty() ? "" : "; none for", missing.c_str());
  }
  set_float32_matmul_precision("highest");
  return is_right;
}

int measure(bool tiny) {
  const cuda::DeviceProperties p = cuda::device_properties();
  std::printf("{\n  \"device\": \"%s\",\n  \"compute_capability\": \"%d.%d\"", p.name.c_str(), p.major, p.minor);
  is_first = false;
  report("multi_processors", p.multi_processors);
  report("memory_GiB", double(p.total_memory) / double(1 << 30));

  {
    const std::int64_t bytes = tiny ? 1 << 18 : std::int64_t(1) << 30;
    const Tensor a = ones({bytes / 4}, {.device = kCuda});
    Tensor b = zeros({bytes / 4}, {.device = kCuda});
    const auto rate = [&](double us, double passes) { return passes * double(bytes) / us * 1e-3; };
    report("copy_GB_per_s", rate(on_device_us(5, [&] { b.copy_(a); }), 2));
    report("add_GB_per_s", rate(on_device_us(5, [&] { b.add_(a); }), 3));
    report("exp_GB_per_s", rate(on_device_us(5, [&] { a.exp(); }), 2));
    report("sum_GB_per_s", rate(on_device_us(5, [&] { a.sum(); }), 1));
    const Tensor lines = a.view({-1, 1024});
    report("softmax_GB_per_s", rate(on_device_us(5, [&] { softmax(lines, 1); }), 2));
    const Tensor pinned = zeros({bytes / 16}, {.device = cpu}).pin_memory();
    Tensor there = zeros({bytes / 16}, {.device = kCuda});
    report("host_to_device_GB_per_s", rate(on_device_us(3, [&] { there.copy_(pinned, true); }), 0.25));
    Tensor back = pinned;
    report("device_to_host_GB_per_s", rate(on_device_us(3, [&] { back.copy_(there, true); }), 0.25));
  }
  cuda::empty_cache();
  {
    const std::int64_t n = tiny ? 32 : 8192;
    const Tensor a = numbers({n, n}, 1, 1), b = numbers({n, n}, 2, 1);
    const auto rate = [&](const Tensor& x, const Tensor& y) {
      return 2.0 * double(n) * double(n) * double(n) / on_device_us(3, [&] { x.matmul(y); }) * 1e-6;
    };
    report("matmul_float32_TFLOP_per_s", rate(a, b));
    report("matmul_bfloat16_TFLOP_per_s", rate(a.to(bfloat16), b.to(bfloat16)));
    set_float32_matmul_precision("high");
    report("matmul_float32_high_TFLOP_per_s", rate(a, b));
    set_float32_matmul_precision("medium");
    report("matmul_float32_medium_TFLOP_per_s", rate(a, b));
    set_float32_matmul_precision("highest");
  }
  cuda::empty_cache();

  const int calls = tiny ? 10 : 500;
  Tensor x = zeros({1}, {.device = kCuda});
  report("operator_on_host_us", on_host_us(calls, [&] { x.add_(1); }));
  report("operator_us", on_device_us(calls, [&] { x.add_(1); }));
  Tensor w = zeros({1}, {.device = kCuda});
  w.requires_grad_();
  report("recorded_operator_on_host_us", on_host_us(calls, [&] { w.mul(2); }));
  cuda::Graph one, many;
  one.capture([&] { x.add_(1); });
  many.capture([&] {
    for (int i = 0; i < calls; ++i) x.add_(1);
  });
  report("replay_of_one_node_on_host_us", on_host_us(calls, [&] { one.replay(); }));
  report("replay_of_one_node_us", on_device_us(calls, [&] { one.replay(); }));
  const int replays = tiny ? 2 : 50;
  report("node_of_a_graph_us", on_device_us(replays, [&] { many.replay(); }) / calls);
  const bool is_right = measure_biased_products();
  std::printf("\n}\n");
  return is_right ? 0 : 1;
}

// ---- Replays --------------------------------------------------------------------------------------------------------
int replays(int count, bool tiny) {
  const Case c = tiny ? Case{"lenet", 2, 2} : Case{"lenet", 6, 64};
  const int compared = std::min(count, 50);
  std::vector<double> eager, graph;
  {
    Stepper stepper(c, false, false);
    eager = losses_of(stepper, compared);
  }
  {
    Stepper stepper(c, true, false);
    graph = losses_of(stepper, compared);
  }
  double off = 0;
  for (std::size_t i = 0; i < eager.size(); ++i)
    off = std::max(off, std::abs(graph[i] - eager[i]) / (1 + std::abs(eager[i])));
  int failures = 0;
  const auto expect = [&](bool holds, const char* what) {
    std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
    failures += holds ? 0 : 1;
  };
  std::printf("losses of %d steps: eager %.6g to %.6g, graph to %.6g, furthest apart %.3g%s\n", compared, eager.front(),
              eager.back(), graph.back(), off, eager == graph ? " (the same bits)" : "");
  expect(off < 1e-4, "replays train as eager steps do");
  if (count >= 30) expect(eager.back() < eager.front(), "the loss falls");

  Stepper stepper(c, true, true);
  for (int i = 0; i < 10; ++i) stepper();
  Tensor loss, sum = zeros({}, {.device = kCuda});
  cuda::synchronize();
  const cuda::MemoryStats before = cuda::memory_stats();
  const double begin = now_us();
  {
    const cuda::ForbidSync forbidden;
    for (int i = 0; i < count; ++i) sum.add_(loss = stepper());
  }
  cuda::synchronize();
  const cuda::MemoryStats after = cuda::memory_stats();
  std::printf("%d replays: %.2f us each, loss %.6g, %zu KiB in use, %zu KiB reserved\n", count,
              (now_us() - begin) / count, loss.item<double>(), after.allocated >> 10, after.reserved >> 10);
  expect(std::isfinite(sum.item<double>()), "every loss is finite");
  expect(after.allocated == before.allocated, "memory in use is as before");
  expect(after.reserved == before.reserved && after.driver_allocations == before.driver_allocations,
         "the driver was asked for no memory");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool tiny = argc > 2 && !std::strcmp(argv[argc - 1], "--tiny");
  if (!cuda::is_available()) {
    std::fprintf(stderr, "taper_device: %s\n", cuda::why_unavailable().c_str());
    return 2;
  }
  try {
    if (verb == "measure") return measure(tiny);
    if (verb == "replays" && argc > 2) return replays(std::max(1, std::atoi(argv[2])), tiny);
    if (verb == "serve") return serve(), 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "taper_device: %s\n", e.what());
    return 1;
  }
  std::fprintf(stderr, "usage: taper_device measure [--tiny] | replays COUNT [--tiny] | serve\n");
  return 2;
}
