#include <sys/wait.h>
#include <taper/allocator.h>
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/data.h>
#include <taper/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "support/catch.h"
#include "worker_threads.h"

using namespace taper;
using Catch::Matchers::Contains;
using data::Batch;
using data::DataLoader;
using data::TensorDataset;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers(std::int64_t n) {
  Numbers v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// Sample i is the number i.
TensorDataset counting(std::int64_t n) { return TensorDataset(arange(n), arange(n).mul(10)); }

Numbers order_of(DataLoader& loader) {
  Numbers order;
  for (auto& [x, y] : loader)
    for (const std::int64_t v : x.to_vector<std::int64_t>()) order.push_back(v);
  return order;
}

struct SampleError : std::runtime_error {
  explicit SampleError(std::int64_t i) : std::runtime_error("sample " + std::to_string(i)), index(i) {}
  std::int64_t index;
};

/// Ten samples, of which one cannot be read.
struct Faulty final : data::Dataset {
  explicit Faulty(std::int64_t bad) : bad_(bad) {}
  std::int64_t size() const override { return 10; }
  Batch get_batch(IntSpan indices) const override {
    for (const std::int64_t i : indices)
      if (i == bad_) throw SampleError(i);
    return {from_vector(indices.vec()), {}};
  }
  std::int64_t bad_;
};

struct Seconds {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  operator double() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
};

}  // namespace

TEST_CASE("a loader delivers all rows in order, in batches of which the last may be smaller") {
  DataLoader loader(counting(7), {.batch_size = 3});
  std::vector<Numbers> data, targets;
  for (auto& [x, y] : loader) {
    data.push_back(x.to_vector<std::int64_t>());
    targets.push_back(y.to_vector<std::int64_t>());
  }
  CHECK(data == std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(targets == std::vector<Numbers>{{0, 10, 20}, {30, 40, 50}, {60}});
  CHECK(loader.size() == 3);

  DataLoader whole(counting(7), {.batch_size = 3, .drop_last = true});
  CHECK(whole.size() == 2);
  CHECK(order_of(whole) == numbers(6));

  DataLoader none(counting(0), {.batch_size = 3, .num_workers = 2});
  CHECK(none.size() == 0);
  CHECK(order_of(none).empty());
}

TEST_CASE("rows keep shape and dtype, and are read through strides") {
  const Tensor pictures = arange(24).to(uint8).as_strided({4, 2, 3}, {1, 12, 4});
  const TensorDataset set(pictures);
  const Batch batch = set.get_batch({3, 0});
  CHECK(batch.data.dtype() == uint8);
  CHECK(batch.data.sizes() == IntSpan{2, 2, 3});
  CHECK(batch.data.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{3, 7, 11, 15, 19, 23, 0, 4, 8, 12, 16, 20});
  CHECK_FALSE(batch.target.defined());

  CHECK(TensorDataset(zeros({3, 0})).get_batch({1, 1}).data.sizes() == IntSpan{2, 0});
  CHECK_THROWS_WITH(set.get_batch({4}), Contains("there is no sample 4 among 4"));
  CHECK_THROWS_AS(set.get_batch({-1}), IndexError);
  CHECK_THROWS_AS(TensorDataset(zeros({3}), zeros({2})), ShapeError);
  CHECK_THROWS_AS(TensorDataset(full({}, 1)), ShapeError);
}

TEST_CASE("the order differs between epochs, repeats by seed and epoch, and is always a permutation", "[B76]") {
  const data::DataLoaderOptions options{.batch_size = 7, .shuffle = true, .seed = 5};
  DataLoader loader(counting(100), options);
  const Numbers first = order_of(loader), second = order_of(loader);
  CHECK(first != second);
  CHECK(first != numbers(100));
  for (const Numbers& order : {first, second}) {
    Numbers sorted = order;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == numbers(100));
  }

  DataLoader again(counting(100), {.batch_size = 9, .shuffle = true, .num_workers = 3, .seed = 5});
  CHECK(order_of(again) == first);
  CHECK(order_of(again) == second);
  again.set_epoch(1);
  CHECK(order_of(again) == second);
  CHECK(again.epoch() == 2);

  DataLoader other(counting(100), {.batch_size = 7, .shuffle = true, .seed = 6});
  CHECK(order_of(other) != first);
}

TEST_CASE("without a seed of its own a loader shuffles by that of manual_seed", "[B76]") {
  manual_seed(3);
  DataLoader a(counting(50), {.shuffle = true});
  rand({5});
  DataLoader b(counting(50), {.shuffle = true});
  manual_seed(4);
  DataLoader c(counting(50), {.shuffle = true});
  const Numbers order = order_of(a);
  CHECK(order_of(b) == order);
  CHECK(order_of(c) != order);
}

TEST_CASE("workers deliver the same batches in the same order as the loop itself", "[S134]") {
  for (const int workers : {0, 1, 2, 4}) {
    DataLoader loader(counting(101), {.batch_size = 4, .num_workers = workers, .transform = [](Batch b) {
                                        return Batch{b.data.add(0), b.target};
                                      }});
    CHECK(order_of(loader) == numbers(101));
    CHECK(order_of(loader) == numbers(101));
  }
}

TEST_CASE("a batch taken from a loader stays as it is when the loop goes on") {
  DataLoader loader(counting(8), {.batch_size = 2, .num_workers = 1});
  std::vector<Batch> kept;
  for (Batch& b : loader) kept.push_back(b);
  CHECK(kept[1].data.to_vector<std::int64_t>() == Numbers{2, 3});
}

TEST_CASE("what a sample throws in a worker reaches the loop as it was, after the batches before it", "[B78]") {
  for (const int workers : {0, 1, 4}) {
    DataLoader loader(Faulty(7), {.batch_size = 2, .num_workers = workers});
    Numbers seen;
    const Seconds time;
    try {
      for (auto& [x, y] : loader)
        for (const std::int64_t v : x.to_vector<std::int64_t>()) seen.push_back(v);
      FAIL("nothing was thrown");
    } catch (const SampleError& e) {
      CHECK(e.index == 7);
    }
    CHECK(seen == numbers(6));
    CHECK(time < 1);
  }
}

TEST_CASE("what a transform throws reaches the loop, also in place of the first batch", "[B78]") {
  DataLoader loader(counting(10), {.num_workers = 2, .transform = [](Batch b) -> Batch {
                                     if (b.data.item<std::int64_t>() == 0) throw SampleError(0);
                                     return b;
                                   }});
  CHECK_THROWS_AS(loader.begin(), SampleError);
  auto i = DataLoader(Faulty(1)).begin();
  CHECK_THROWS_AS(++i, SampleError);
  CHECK(i == std::default_sentinel);
  CHECK_THROWS_AS(++i, ValueError);
}

TEST_CASE("leaving the loop early joins the workers", "[B78]") {
  std::atomic<int> running{0};
  struct Busy {
    std::atomic<int>* running;
    Batch operator()(Batch b) const {
      ++*running;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --*running;
      return b;
    }
  };
  const Seconds time;
  DataLoader loader(counting(100'000), {.num_workers = 4, .transform = Busy{&running}});
  for (auto& [x, y] : loader) {
    CHECK(x.item<std::int64_t>() == 0);
    break;
  }
  CHECK(running == 0);
  CHECK(time < 1);
}

TEST_CASE("an epoch outlives its loader") {
  std::optional<DataLoader> loader(std::in_place, counting(10), data::DataLoaderOptions{.num_workers = 1});
  auto i = loader->begin();
  loader.reset();
  ++i;
  CHECK(i->data.item<std::int64_t>() == 1);
}

TEST_CASE("a thread that cannot be started is an error, and those that were started end", "[B78]") {
  static int allowed;
  static const data::ThreadStart real = data::start_thread;
  struct Restore {
    ~Restore() { data::start_thread = real; }
  } restore;
  data::start_thread = [](void (*body)(void*), void* argument) {
    if (allowed-- == 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return real(body, argument);
  };

  const Seconds time;
  for (const int n : {0, 2}) {
    allowed = n;
    DataLoader loader(counting(100), {.num_workers = 3});
    CHECK_THROWS_WITH(loader.begin(), Contains("cannot start worker thread " + std::to_string(n + 1)) &&
                                          Contains("use a smaller num_workers"));
    CHECK(loader.epoch() == 0);
  }
  CHECK(time < 1);
}

#if !defined(__SANITIZE_THREAD__)  // which cannot follow threads of a child whose parent had threads before
TEST_CASE("a process can end while workers run ahead", "[B78]") {
  const pid_t child = ::fork();
  if (child == 0) {
    static DataLoader loader(counting(1000), {.num_workers = 4});
    static auto i = loader.begin();
    std::exit(i->data.item<std::int64_t>() == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("batches are prepared without recording") {
  Tensor factor = full({1}, 2.0).requires_grad_();
  for (const int workers : {0, 1}) {
    DataLoader loader(TensorDataset(ones({4, 1})), {.num_workers = workers, .transform = [factor](Batch b) {
                                                      return Batch{b.data.mul(factor), b.target};
                                                    }});
    CHECK_FALSE(loader.begin()->data.requires_grad());
    CHECK(GradMode::is_enabled());
  }
}

TEST_CASE("options that make no loader are refused") {
  CHECK_THROWS_AS(DataLoader(counting(3), {.batch_size = 0}), ValueError);
  CHECK_THROWS_AS(DataLoader(counting(3), {.num_workers = -1}), ValueError);
  CHECK_THROWS_AS(DataLoader(counting(3), {.prefetch_factor = 0}), ValueError);
  CHECK_THROWS_AS(DataLoader(std::shared_ptr<const data::Dataset>()), ValueError);
}

TEST_CASE("batches of any size and any number of batches ahead are fine", "[S134]") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const int workers : {0, 2})
    for (const std::int64_t batch_size : {kMost, kMost - 1, kMost / 2, std::int64_t(4)}) {
      DataLoader loader(counting(3), {.batch_size = batch_size, .num_workers = workers});
      CHECK(loader.size() == 1);
      CHECK(order_of(loader) == Numbers{0, 1, 2});
      CHECK(DataLoader(counting(3), {.batch_size = batch_size, .drop_last = true}).size() == 0);
      CHECK(DataLoader(counting(0), {.batch_size = batch_size}).size() == 0);
    }
  constexpr int kManyAhead = std::numeric_limits<int>::max();
  DataLoader loader(counting(5), {.batch_size = 2, .num_workers = 3, .prefetch_factor = kManyAhead});
  CHECK(order_of(loader) == Numbers{0, 1, 2, 3, 4});
}

TEST_CASE("a data set of negative size is refused by that name") {
  struct Negative final : data::Dataset {
    std::int64_t size() const override { return -5; }
    Batch get_batch(IntSpan) const override { return {}; }
  };
  for (const bool shuffle : {false, true}) {
    DataLoader loader(Negative(), {.shuffle = shuffle});
    CHECK_THROWS_WITH(loader.begin(), Contains("Dataset::size() must return the number of samples, got -5"));
    CHECK_THROWS_AS(loader.size(), ValueError);
    CHECK(loader.epoch() == 0);
  }
}

TEST_CASE("pictures of bytes become floats of mean 0 and deviation 1") {
  const Tensor bytes = arange(256).to(uint8);
  DataLoader loader(TensorDataset(bytes.reshape({4, 1, 8, 8})),
                    {.batch_size = 4, .transform = data::Normalize(0.286, 0.353)});
  const Tensor x = loader.begin()->data;
  CHECK(x.dtype() == float32);
  CHECK(x.sizes() == IntSpan{4, 1, 8, 8});
  const auto values = x.to_vector<float>();
  for (int i = 0; i < 256; ++i) CHECK(values[std::size_t(i)] == Approx((i / 255.0 - 0.286) / 0.353).margin(1e-6));
}

TEST_CASE("channels are scaled by numbers of their own, whatever the strides and the dtype") {
  const Tensor bytes = arange(12).to(uint8).as_strided({2, 3, 1, 2}, {6, 1, 3, 3});
  const data::Normalize scale({0, .5, 1}, {1, 2, 4});
  const Tensor x = scale({bytes, {}}).data;
  const Tensor y = scale({bytes.to(float64).div(255), {}}).data;
  CHECK(y.dtype() == float64);
  const auto got = x.to_vector<float>();
  const auto want = y.to_vector<double>();
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-6));
  CHECK(want[2] == Approx((1 / 255. - .5) / 2));

  CHECK_THROWS_AS(scale({bytes.reshape({4, 3}), {}}), ShapeError);
  CHECK_THROWS_AS(data::Normalize(0, 0)({bytes, {}}), ValueError);
  CHECK_THROWS_AS(data::Normalize({0, 1}, {1})({bytes, {}}), ValueError);
  CHECK_THROWS_AS(data::Normalize(0, 1)({arange(3), {}}), DTypeError);
}

TEST_CASE("batches that are let go give their memory to the next ones", "[S168]") {
  if (!memory_is_pooled()) return;
  const TensorDataset rows(zeros({640, 1000}), zeros({640}, int64));
  for (const int workers : {0, 2}) {
    DataLoader loader(rows, {.batch_size = 10, .num_workers = workers, .prefetch_factor = 1});
    std::set<const void*> places;
    for (const Batch& batch : loader) places.insert(batch.data.data_ptr());
    // One in the loop's hands, and those that are prepared and being prepared.
    CHECK(places.size() <= std::size_t(2 * workers + 2));
  }
}
