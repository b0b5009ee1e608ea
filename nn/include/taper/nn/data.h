#pragma once
#include <taper/tensor.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace taper::data {

/// Samples stacked along their first dimension; `target` is undefined where a data set has none.
struct Batch {
  Tensor data;
  Tensor target;
};

/// Samples that can be had by number. A loader calls get_batch() from several threads at the same time.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  /// The samples of these indices, in their order, stacked.
  virtual Batch get_batch(IntSpan indices) const = 0;
};

/// Rows of tensors on the cpu: sample i is data[i] and target[i]. The tensors are shared, not copied, unless they are
/// not contiguous. Throws ShapeError if they do not have the same number of rows.
class TensorDataset final : public Dataset {
 public:
  explicit TensorDataset(const Tensor& data, const Tensor& target = {});
  std::int64_t size() const override { return data_.size(0); }
  /// Throws IndexError for an index that is not in [0, size()).
  Batch get_batch(IntSpan indices) const override;
  const Tensor& data() const { return data_; }
  const Tensor& target() const { return target_; }

 private:
  Tensor data_, target_;
};

/// What a loader does with each batch it has gathered, in the thread that gathered it: any callable from Batch to Batch
/// that may run in several threads at the same time.
class BatchTransform {
 public:
  BatchTransform() = default;
  template <class F>
  requires(!std::is_same_v<F, BatchTransform> && std::is_invocable_r_v<Batch, const F&, Batch>) BatchTransform(F f)
      : function_(std::make_shared<Holder<F>>(std::move(f))) {}

  explicit operator bool() const { return bool(function_); }
  Batch operator()(Batch batch) const { return function_->call(std::move(batch)); }

 private:
  struct Function {
    virtual ~Function() = default;
    virtual Batch call(Batch batch) const = 0;
  };
  template <class F>
  struct Holder final : Function {
    explicit Holder(F f) : function(std::move(f)) {}
    Batch call(Batch batch) const override { return function(std::move(batch)); }
    F function;
  };
  std::shared_ptr<const Function> function_;
};

/// A transform: data of mean 0 and deviation 1, see normalize_images().
class Normalize {
 public:
  Normalize(double mean, double std) : mean_{mean}, std_{std} {}
  /// One of each for every channel.
  Normalize(std::vector<double> mean, std::vector<double> std) : mean_(std::move(mean)), std_(std::move(std)) {}
  Batch operator()(Batch batch) const;

 private:
  std::vector<double> mean_, std_;
};

struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;                  ///< leave out a last batch that is not full
  int num_workers = 0;                     ///< threads that prepare batches ahead; 0: the caller's thread prepares them
  int prefetch_factor = 2;                 ///< batches ahead, per worker
  std::optional<std::uint64_t> seed = {};  ///< of the shuffling; absent: that of default_generator(), see manual_seed()
  BatchTransform transform = {};
  /// Batches on the cpu come in pinned memory, from which `to(device, {.non_blocking = true})` copies while the host
  /// goes on. Nothing happens where there is no CUDA device.
  bool pin_memory = false;
};

/// Goes through a data set in batches, once per `for (auto& [data, target] : loader)`.
///
/// The order of a shuffled epoch depends on the seed and the number of the epoch alone, so it differs from epoch to
/// epoch and repeats in the next run, whatever the number of workers. Batches always come in order. What a data set or
/// a transform throws in a worker is thrown to the loop, in the place of its batch, and ends the epoch. Leaving the
/// loop early stops the workers and waits for them. Batches are prepared without recording gradients.
class DataLoader {
  class Epoch;

 public:
  DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options = {});
  template <class D>
  requires std::is_base_of_v<Dataset, D> DataLoader(D dataset, DataLoaderOptions options = {})
      : DataLoader(std::shared_ptr<const Dataset>(std::make_shared<D>(std::move(dataset))), std::move(options)) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    Iterator(Iterator&&) noexcept;
    Iterator& operator=(Iterator&&) noexcept;
    ~Iterator();
    Batch& operator*() { return batch_; }
    Batch* operator->() { return &batch_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& i, std::default_sentinel_t) { return !i.epoch_; }

   private:
    friend class DataLoader;
    explicit Iterator(std::unique_ptr<Epoch> epoch);
    std::unique_ptr<Epoch> epoch_;  // null at the end
    Batch batch_;
  };

  /// Starts an epoch. Throws Error if a worker thread cannot be started.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  /// Number of batches in an epoch. Throws ValueError, as begin() does, if the data set has a negative size.
  std::int64_t size() const;
  const Dataset& dataset() const { return *dataset_; }
  const DataLoaderOptions& options() const { return options_; }
  /// The number of the epoch that begin() starts next, from 0; to be set when training goes on from a checkpoint.
  std::int64_t epoch() const { return epoch_; }
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }

 private:
  std::shared_ptr<const Dataset> dataset_;
  DataLoaderOptions options_;
  std::int64_t epoch_ = 0;
};

}  // namespace taper::data
