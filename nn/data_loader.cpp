#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/data.h>
#include <taper/random.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "worker_threads.h"

namespace taper::data {

namespace {

/// Keeps the order of samples apart from whatever else is drawn from the same seed.
constexpr std::uint64_t kShuffleKey = 0x9b1c'36f5'd0a8'7e43;

std::int64_t samples_in(const Dataset& dataset) {
  const std::int64_t n = dataset.size();
  check<ValueError>(n >= 0, "DataLoader: Dataset::size() must return the number of samples, got ", n);
  return n;
}

// Sizes and positions of batches are written so that no sum exceeds the number of samples: any batch_size is fine.
std::int64_t batches_in(std::int64_t samples, const DataLoaderOptions& o) {
  const bool has_rest = samples % o.batch_size != 0;
  return samples / o.batch_size + (has_rest && !o.drop_last ? 1 : 0);
}

void pin(Tensor& t) {
  if (t.defined() && t.device().is_cpu()) t = t.pin_memory();
}

/// How many batches can wait: what the workers may do ahead, but no more than there are.
std::int64_t batches_ahead(std::int64_t batches, const DataLoaderOptions& o) {
  return std::min(batches, std::int64_t(o.num_workers) * o.prefetch_factor);
}

}  // namespace

/// One pass over the data set, by the caller's thread or by workers that run ahead of it.
class DataLoader::Epoch {
 public:
  Epoch(std::shared_ptr<const Dataset> dataset, const DataLoaderOptions& options, std::int64_t epoch)
      : dataset_(std::move(dataset)),
        options_(options),
        samples_(samples_in(*dataset_)),
        batches_(batches_in(samples_, options)) {
    const std::int64_t ahead = batches_ahead(batches_, options);
    try {
      ring_.resize(std::size_t(ahead));
    } catch (const std::exception&) {
      raise<ValueError>("DataLoader: there is no memory to keep ", ahead, " batches ahead, which num_workers ",
                        options.num_workers, " and prefetch_factor ", options.prefetch_factor,
                        " ask for; use smaller ones");
    }
    if (options.shuffle) {
      Generator generator;
      generator.set_state({*options.seed ^ kShuffleKey, std::uint64_t(epoch)});
      order_ = randperm(samples_, {.device = cpu}, generator);
    } else {
      order_ = arange(samples_, {.device = cpu});
    }
    try {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(options.num_workers, batches_); ++i)
        workers_.start([](void* self) { static_cast<Epoch*>(self)->work(); }, this);
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Epoch() { stop(); }

  /// False at the end.
  bool next(Batch& batch) {
    batch = {};  // its memory serves the next one
    if (taken_ == batches_) return false;
    if (ring_.empty()) {
      const NoGradGuard no_grad;
      batch = make(taken_++);
      return true;
    }
    Slot slot = take();
    if (slot.error) std::rethrow_exception(slot.error);
    batch = std::move(slot.batch);
    return true;
  }

 private:
  struct Slot {
    Batch batch;
    std::exception_ptr error;
    bool full = false;
  };

  Batch make(std::int64_t i) const {
    const std::int64_t begin = i * options_.batch_size, n = std::min(options_.batch_size, samples_ - begin);
    Batch batch = dataset_->get_batch(IntSpan(order_.data<std::int64_t>() + begin, std::size_t(n)));
    if (options_.transform) batch = options_.transform(std::move(batch));
    if (options_.pin_memory && cuda::is_available()) pin(batch.data), pin(batch.target);
    return batch;
  }

  /// Waits for the next batch in order.
  Slot take() {
    std::unique_lock lock(mutex_);
    Slot& place = ring_[std::size_t(taken_) % ring_.size()];
    ready_.wait(lock, [&] { return place.full; });
    Slot slot = std::exchange(place, Slot{});
    ++taken_;
    lock.unlock();
    room_.notify_one();
    return slot;
  }

  void work() noexcept {
    const NoGradGuard no_grad;
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [&] { return stopped_ || begun_ == batches_ || begun_ - taken_ < std::int64_t(ring_.size()); });
      if (stopped_ || begun_ == batches_) return;
      const std::int64_t i = begun_++;
      lock.unlock();
      Slot slot;
      try {
        slot.batch = make(i);
      } catch (...) {
        slot.error = std::current_exception();
      }
      slot.full = true;
      lock.lock();
      ring_[std::size_t(i) % ring_.size()] = std::move(slot);
      ready_.notify_one();
    }
  }

  void stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
    workers_.join();
  }

  const std::shared_ptr<const Dataset> dataset_;
  const DataLoaderOptions options_;
  Tensor order_;  // int64[samples]
  const std::int64_t samples_, batches_;

  std::mutex mutex_;
  std::condition_variable ready_, room_;  // for the caller, for the workers
  std::vector<Slot> ring_;                // batch i is at i modulo its size
  std::int64_t begun_ = 0, taken_ = 0;
  bool stopped_ = false;
  WorkerThreads workers_;  // last: they are gone before what they use is
};

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  check<ValueError>(bool(dataset_), "DataLoader: the data set is null");
  check<ValueError>(options_.batch_size > 0, "DataLoader: batch_size must be positive, got ", options_.batch_size);
  check<ValueError>(options_.num_workers >= 0, "DataLoader: num_workers must not be negative, got ",
                    options_.num_workers);
  check<ValueError>(options_.prefetch_factor > 0, "DataLoader: prefetch_factor must be positive, got ",
                    options_.prefetch_factor);
  if (!options_.seed) options_.seed = default_generator().seed();
}

std::int64_t DataLoader::size() const { return batches_in(samples_in(*dataset_), options_); }

DataLoader::Iterator DataLoader::begin() {
  auto epoch = std::make_unique<Epoch>(dataset_, options_, epoch_);
  ++epoch_;
  return Iterator(std::move(epoch));
}

DataLoader::Iterator::Iterator(std::unique_ptr<Epoch> epoch) : epoch_(std::move(epoch)) { ++*this; }
DataLoader::Iterator::Iterator(Iterator&&) noexcept = default;
DataLoader::Iterator& DataLoader::Iterator::operator=(Iterator&&) noexcept = default;
DataLoader::Iterator::~Iterator() = default;

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  check<ValueError>(bool(epoch_), "DataLoader: the iterator is at the end of its epoch");
  // Until the batch is there the iterator counts as ended: after an exception there is nothing to go on with.
  std::unique_ptr<Epoch> epoch = std::move(epoch_);
  if (epoch->next(batch_)) epoch_ = std::move(epoch);
  return *this;
}

}  // namespace taper::data
