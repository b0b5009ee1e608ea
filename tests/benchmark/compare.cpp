// Taper against libtorch, in one process and interleaved: ratios above 1 mean that Taper is faster.
//
//   taper_benchmark [threads] [filter] [seconds per case]     small operations and training steps
//   taper_benchmark operators [filter] [seconds per case]     operators, each side with its best number of threads
#include <taper/taper.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "measure.h"
#include "operator_rows.h"
#include "peer.h"

using namespace taper;

namespace {

struct Mlp final : nn::Module {
  nn::Linear fc1{784, 128}, fc2{128, 10};
  Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }
  void members(nn::MemberVisitor& v) override { v("fc1", fc1), v("fc2", fc2); }
};

struct Lenet final : nn::Module {
  nn::Conv2d conv1{1, 6, 5, {.padding = 2}}, conv2{6, 16, 5};
  nn::Linear fc1{400, 120}, fc2{120, 84}, fc3{84, 10};
  Tensor forward(const Tensor& x) override {
    Tensor h = max_pool2d(relu(conv1(x)), 2);
    h = max_pool2d(relu(conv2(h)), 2);
    return fc3(relu(fc2(relu(fc1(h.flatten(1))))));
  }
  void members(nn::MemberVisitor& v) override {
    v("conv1", conv1), v("conv2", conv2), v("fc1", fc1), v("fc2", fc2), v("fc3", fc3);
  }
};

struct Training {
  std::unique_ptr<nn::Module> model;
  std::unique_ptr<optim::Optimizer> optimizer;
  Tensor x, y;
  Tensor step() {
    optimizer->zero_grad();
    Tensor loss = cross_entropy((*model)(x), y);
    loss.backward();
    optimizer->step();
    return loss;
  }
};

int threads = 1;
const char* filter = "";
double seconds = 1;

void report(const std::string& name, const std::vector<bench::Side>& sides, double per_call = 1) {
  const bench::Result r = bench::measure(sides, seconds, per_call);
  std::printf("%-34s %10.3f us", name.c_str(), r.median_us[0]);
  if (sides.size() > 1) std::printf(" %12.3f us   %6.2f x", r.median_us[1], r.ratio[1]);
  std::printf("\n");
  std::fflush(stdout);
}

void small_op(const std::string& name, std::function<void()> run, double per_call = 1) {
  if (!std::strstr(name.c_str(), filter)) return;
  std::vector<bench::Side> sides{{"taper", std::move(run), threads}};
#if TAPER_BENCHMARK_PEER
  if (auto other = peer::small_op(name)) sides.push_back({"libtorch", std::move(other), threads});
#endif
  report(name, sides, per_call);
}

void small_ops() {
  const Tensor a = ones({1}), b = ones({1}), m = ones({4, 4});
  Tensor w = ones({1}, {.requires_grad = true}), mw = ones({4, 4}, {.requires_grad = true}), target = ones({1});
  small_op("add, 1 element", [&] { a.add(b); });
  small_op("add, 1 element, recorded", [&] { w.add(b); });
  small_op("mul, 1 element, recorded", [&] { w.mul(b); });
  small_op("add_, 1 element", [&] { target.add_(b); });
  small_op("view", [&] { m.view({16}); });
  small_op("view, recorded", [&] { mw.view({16}); });
  small_op("empty, 64 elements", [] { empty({64}); });
  small_op(
      "backward, per node of 100 mul",
      [&] {
        Tensor y = w;
        for (int i = 0; i < 100; ++i) y = y.mul(b);
        y.backward();
        w.zero_grad();
      },
      100);
}

void train_step(const std::string& model, const std::string& optimizer, std::int64_t batch) {
  const std::string name = model + ", batch " + std::to_string(batch) + ", " + optimizer;
  if (!std::strstr(name.c_str(), filter)) return;
  manual_seed(1);
  auto t = std::make_shared<Training>();
  if (model == "mlp")
    t->model = std::make_unique<Mlp>();
  else
    t->model = std::make_unique<Lenet>();
  const TensorList parameters = t->model->parameters();
  t->x = model == "mlp" ? randn({batch, 784}) : randn({batch, 1, 28, 28});
  t->y = randint(0, 10, {batch});
  if (optimizer == "sgd")
    t->optimizer = std::make_unique<optim::SGD>(parameters, optim::SGDOptions{.lr = peer::kSgdRate, .momentum = 0.9});
  else
    t->optimizer = std::make_unique<optim::Adam>(parameters, optim::AdamOptions{.lr = peer::kAdamRate});

  std::vector<bench::Side> sides{{"taper", [t] { t->step(); }, threads}};
#if TAPER_BENCHMARK_PEER
  std::vector<std::vector<float>> initial;
  for (const Tensor& p : parameters) initial.push_back(p.detach().to_vector<float>());
  const peer::TrainStep other =
      peer::train_step(model, optimizer, batch, initial, t->x.to_vector<float>(), t->y.to_vector<std::int64_t>());
  // Both sides must do the same work: the same losses from the same parameters and batch.
  for (int i = 0; i < 6; ++i) {
    const double ours = t->step().item<double>(), theirs = other.run_and_read_loss();
    if (std::abs(ours - theirs) > 2e-3 * std::abs(theirs) + 1e-6) {
      std::fprintf(stderr, "%s: loss %g after %d steps, the peer's is %g\n", name.c_str(), ours, i, theirs);
      std::exit(1);
    }
  }
  sides.push_back({"libtorch", other.run, threads});
#endif
  report(name, sides);
}

/// See operator_rows.h.
struct OwnSide {
  using Tensor = taper::Tensor;
  using Dims = IntVec;
  template <class V>
  static Tensor tensor(const std::vector<V>& values, const Dims& sizes) {
    return from_span(std::span(values)).clone().view(sizes);
  }
  static std::vector<float> read(const Tensor& t) { return t.detach().to(float32).to_vector<float>(); }
  static void drop_grad(Tensor& t) { t.zero_grad(); }
  static Tensor var_of_rows(const Tensor& x) { return x.var(IntSpan{1}); }
  static Tensor cat(const Tensor& x, const Tensor& y, std::int64_t dim) { return taper::cat({x, y}, dim); }
  static Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t padding) {
    return taper::conv2d(x, weight, bias, {.padding = padding});
  }
  static Tensor max_pool2d(const Tensor& x, std::int64_t size) { return taper::max_pool2d(x, size); }
  static Tensor avg_pool2d(const Tensor& x, std::int64_t size) { return taper::avg_pool2d(x, size); }
  static Tensor twice_as_large(const Tensor& x) {
    return interpolate(x, {.size = {2 * x.size(2), 2 * x.size(3)}, .mode = "bilinear"});
  }
};

/// Both sides must have done the same work.
void check_results(const std::string& name, const std::vector<float>& ours, const std::vector<float>& theirs) {
  bool same = ours.size() == theirs.size();
  for (std::size_t i = 0; same && i < ours.size(); ++i)
    same = ours[i] == theirs[i] || std::abs(ours[i] - theirs[i]) <= 2e-3f * std::abs(theirs[i]) + 2e-3f;
  if (same) return;
  std::fprintf(stderr, "%s: the results differ\n", name.c_str());
  std::exit(1);
}

/// One table, with the ratios' geometric mean below it.
void operator_table() {
  constexpr int kThreads[] = {1, 2};
  const std::vector<bench::OperatorRow> own = bench::operator_rows<OwnSide>();
  std::vector<bench::OperatorRow> others;
#if TAPER_BENCHMARK_PEER
  others = peer::operator_rows();
#endif
  std::printf("%-52s %16s %16s %8s\n", "us (threads)", "Taper", "libtorch", "ratio");
  double log_sum = 0, lowest = 0;
  int count = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& name = own[i].name;
    if (!std::strstr(name.c_str(), filter)) continue;
    std::vector<bench::Side> sides;
    const bench::Prepared ours = own[i].prepare();
    for (const int n : kThreads) sides.push_back({"taper", ours.run, n, [n] { set_num_threads(n); }});
#if TAPER_BENCHMARK_PEER
    const bench::Prepared theirs = others[i].prepare();
    check_results(name, ours.result(), theirs.result());
    for (const int n : kThreads) sides.push_back({"libtorch", theirs.run, n, [n] { peer::set_threads(n); }});
#endif
    const bench::Result r = bench::measure(sides, seconds);
    const auto best = [&](std::size_t side) { return r.median_us[side] <= r.median_us[side + 1] ? side : side + 1; };
    std::printf("%-52s %12.1f (%d)", name.c_str(), r.median_us[best(0)], kThreads[best(0)]);
    if (sides.size() > 2) {
      const double ratio = r.median_us[best(2)] / r.median_us[best(0)];
      std::printf(" %12.1f (%d) %8.2f", r.median_us[best(2)], kThreads[best(2) - 2], ratio);
      lowest = count ? std::min(lowest, ratio) : ratio;
      log_sum += std::log(ratio), ++count;
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  if (count) std::printf("%d rows: geometric mean %.2f, lowest %.2f\n", count, std::exp(log_sum / count), lowest);
}

}  // namespace

int main(int argc, char** argv) {
  const bool operators = argc > 1 && std::strcmp(argv[1], "operators") == 0;
  if (argc > 1 && !operators) threads = std::atoi(argv[1]);
  if (argc > 2) filter = argv[2];
  if (argc > 3) seconds = std::atof(argv[3]);
  bench::keep_freed_memory();
  if (operators) {
    operator_table();
    return 0;
  }
  set_num_threads(threads);
  std::printf("%-34s %13s", threads == 1 ? "1 thread, CPU time" : "several threads, wall time", "Taper");
#if TAPER_BENCHMARK_PEER
  peer::set_threads(threads);
  std::printf(" %15s   %8s", "libtorch", "ratio");
#endif
  std::printf("\n");
  small_ops();
  for (const char* model : {"mlp", "lenet"})
    for (const char* optimizer : {"adam", "sgd"})
      for (const std::int64_t batch : {1, 16, 64, 256}) train_step(model, optimizer, batch);
  return 0;
}
