#include <taper/factory.h>
#include <taper/nn/activation.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/checkpoint.h>
#include <taper/nn/data.h>
#include <taper/nn/linear.h>
#include <taper/nn/loss.h>
#include <taper/nn/sequential.h>

#include "support/catch.h"
#include "support/temporary_folder.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

/// A run of training with everything that has a state: dropout, running
/// statistics, moments, rates, order of samples.
struct Run {
  nn::Sequential net{nn::Linear(5, 8), nn::BatchNorm1d(8), nn::ReLU(), nn::Dropout(0.3), nn::Linear(8, 3)};
  optim::Adam optimizer{net.parameters(), {.lr = 0.01, .weight_decay = 0.01, .amsgrad = true}};
  optim::StepLR scheduler{optimizer, 1, 0.5};
  data::DataLoader loader;
  std::vector<float> losses;

  explicit Run(const data::TensorDataset& samples)
      : loader(samples, {.batch_size = 16, .shuffle = true, .num_workers = 2, .seed = 3}) {}

  void epoch() {
    nn::CrossEntropyLoss criterion;
    for (auto& [x, y] : loader) {
      optimizer.zero_grad();
      Tensor loss = criterion(net(x), y);
      loss.backward();
      optimizer.step();
      losses.push_back(loss.item<float>());
    }
    scheduler.step();
  }
};

data::TensorDataset samples() {
  Generator g(1);
  return data::TensorDataset(randn({100, 5}, {}, g), randint(3, {100}, {}, g));
}

std::vector<std::vector<float>> values(const nn::Module& m) {
  std::vector<std::vector<float>> out;
  for (const auto& [name, t] : m.state_dict()) out.push_back(t.to(float32).to_vector<float>());
  return out;
}

}  // namespace

TEST_CASE("two epochs, saved, loaded, and two more equal four epochs bit for bit") {
  TemporaryFolder folder;
  const std::string path = folder / "run.safetensors";
  const data::TensorDataset set = samples();
  manual_seed(7);
  Run whole(set);
  for (int i = 0; i < 4; ++i) whole.epoch();

  manual_seed(7);
  Run first(set);
  first.epoch(), first.epoch();
  nn::save_checkpoint(path, first.net, first.optimizer, {.epoch = 2, .metadata = {{"data", "random"}}},
                      {.scheduler = &first.scheduler});

  manual_seed(999);
  Run second(set);
  const nn::CheckpointInfo info =
      nn::load_checkpoint(path, second.net, second.optimizer, {.scheduler = &second.scheduler});
  CHECK(info.epoch == 2);
  CHECK(info.metadata.at("data") == "random");
  second.loader.set_epoch(info.epoch);
  second.epoch(), second.epoch();

  std::vector<float> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  CHECK(losses == whole.losses);
  CHECK(values(second.net) == values(whole.net));
  CHECK(second.optimizer.lr() == whole.optimizer.lr());
  CHECK(default_generator().seed() == 7);
}

TEST_CASE("a checkpoint that does not fit is refused and changes nothing", "[B74]") {
  TemporaryFolder folder;
  const std::string path = folder / "run.safetensors";
  const data::TensorDataset set = samples();
  manual_seed(1);
  Run run(set);
  run.epoch();
  nn::save_checkpoint(path, run.net, run.optimizer, {.epoch = 1}, {.scheduler = &run.scheduler});

  manual_seed(2);
  Run other(set);
  const auto before = values(other.net);
  const nn::CheckpointExtras extras{.scheduler = &other.scheduler};
  const auto refuses = [&](const char* reason) {
    INFO(reason);
    CHECK_THROWS_WITH(nn::load_checkpoint(path, other.net, other.optimizer, extras), Contains(reason));
    CHECK(values(other.net) == before);
    CHECK(other.optimizer.state_dict().find("state.0.step") == nullptr);
    CHECK(other.scheduler.last_epoch() == 0);
    CHECK(default_generator().seed() == 2);
  };
  const TensorDict good = load_file(path);
  const auto with = [&](const char* name, const Tensor& t) {
    TensorDict bad = good;
    bad[name] = t;
    save_file(bad, path);
  };
  with("model.4.weight", zeros({3, 9}));
  refuses("'4.weight' is [3, 9]");
  with("optimizer.state.5.exp_avg", zeros({4}));
  refuses("'state.5.exp_avg' must have shape");
  with("optimizer.state.99.exp_avg", zeros({4}));
  refuses("unexpected 'state.99.exp_avg'");
  with("scheduler.base_lrs", zeros({2}, float64));
  refuses("LRScheduler.load_state_dict");
  with("random", tensor({1, -1}));
  refuses("stream");
  with("random", tensor({1}));
  refuses("lacks 'random'");
  with("epoch", tensor({1, 2}));
  refuses("lacks 'epoch'");
  with("stranger", tensor({1}));
  refuses("is no checkpoint: it holds 'stranger'");

  save_file(good, path);
  CHECK_THROWS_WITH(nn::load_checkpoint(path, other.net, other.optimizer),
                    Contains("has a scheduler state, but no scheduler was given"));
  nn::save_checkpoint(path, run.net, run.optimizer, {});
  refuses("has no scheduler state, but a scheduler was given");
  CHECK(nn::load_checkpoint(path, other.net, other.optimizer).epoch == 0);
  CHECK(values(other.net) == values(run.net));
}
