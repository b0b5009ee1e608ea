#pragma once
#include <taper/tensor.h>

#include <chrono>
#include <cstdint>

/// Shows how an epoch goes: a bar that is redrawn on a terminal, one line per epoch elsewhere.
class Progress {
 public:
  Progress(int epoch, int epochs, std::int64_t images);
  /// After a step over n images. The losses are added up where they are: asking a device for each of them would make it
  /// wait.
  void step(std::int64_t n, const taper::Tensor& loss);
  /// After the epoch. Returns the mean loss.
  double finish(double test_accuracy);

 private:
  double seconds() const;
  double mean_loss() const;
  void draw() const;

  int epoch_, epochs_;
  std::int64_t images_, done_ = 0;
  taper::Tensor loss_sum_;
  double last_drawn_ = -1;
  bool terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
