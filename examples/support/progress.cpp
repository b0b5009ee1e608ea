#include "progress.h"

#include <taper/grad_mode.h>
#include <unistd.h>

#include <cstdio>
#include <string>

Progress::Progress(int epoch, int epochs, std::int64_t images)
    : epoch_(epoch), epochs_(epochs), images_(images), terminal_(isatty(STDOUT_FILENO) == 1) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Progress::mean_loss() const { return done_ ? loss_sum_.item<double>() / double(done_) : 0; }

void Progress::step(std::int64_t n, const taper::Tensor& loss) {
  done_ += n;
  const taper::NoGradGuard no_grad;
  const taper::Tensor sum = loss.to(taper::float64).mul(double(n));
  loss_sum_ = loss_sum_.defined() ? loss_sum_.add_(sum) : sum;
  if (!terminal_ || seconds() - last_drawn_ < 0.1) return;
  last_drawn_ = seconds();
  draw();
}

void Progress::draw() const {
  constexpr int kWidth = 30;
  const double rate = double(done_) / seconds();
  const int filled = int(kWidth * done_ / images_);
  const std::string bar = std::string(std::size_t(filled), '#') + std::string(std::size_t(kWidth - filled), '.');
  std::printf("\repoch %d/%d [%s] %7.0f images/s  loss %.4f  %3.0f s left ", epoch_, epochs_, bar.c_str(), rate,
              mean_loss(), double(images_ - done_) / rate);
  std::fflush(stdout);
}

double Progress::finish(double test_accuracy) {
  const double loss = mean_loss();
  if (terminal_) std::printf("\r\033[K");
  std::printf("epoch %d/%d  loss %.4f  test accuracy %.4f  %.1f s  %.0f images/s\n", epoch_, epochs_, loss,
              test_accuracy, seconds(), double(done_) / seconds());
  std::fflush(stdout);
  return loss;
}
