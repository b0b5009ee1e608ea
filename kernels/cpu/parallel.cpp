#include "parallel.h"

#include <taper/error.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#ifdef TAPER_PARALLEL_THREADS
#include <condition_variable>
#include <vector>
#else
#include <omp.h>
#endif

namespace taper {
namespace {

int default_threads() {
#ifdef TAPER_PARALLEL_THREADS
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#else
  // Called once, from the first thread that asks: a thread that changed its own OpenMP setting is not the rule.
  return std::max(1, omp_get_max_threads());
#endif
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{default_threads()};
  return count;
}

}  // namespace

void set_num_threads(int n) {
  constexpr int kMost = 1024;  // threads that cannot be started end the program
  check<ValueError>(n >= 1 && n <= kMost, "set_num_threads: the number of threads must be 1 to ", kMost, ", got ", n);
  thread_count().store(n, std::memory_order_relaxed);
}

int get_num_threads() { return thread_count().load(std::memory_order_relaxed); }

namespace cpu_kernels {
namespace {

thread_local bool is_serial = false;

/// A range cut into chunks, with the first exception any of them threw.
class Job {
 public:
  Job(std::int64_t begin, std::int64_t end, std::int64_t grain, const void* context, ChunkFunction f)
      : begin_(begin), end_(end), grain_(grain), chunks_((end - begin + grain - 1) / grain), context_(context), f_(f) {}

  void run_all() const {
    for (std::int64_t b = begin_; b < end_; b += grain_) f_(context_, b, std::min(b + grain_, end_));
  }

  /// The chunks of one thread out of `threads`: neighbours, so that each thread keeps to its own memory.
  void run_share(int thread, int threads) noexcept {
    SerialScope nested_work_stays_here;
    const std::int64_t last = chunks_ * (thread + 1) / threads;
    for (std::int64_t c = chunks_ * thread / threads; c < last && !failed_.load(std::memory_order_relaxed); ++c) {
      const std::int64_t b = begin_ + c * grain_;
      try {
        f_(context_, b, std::min(b + grain_, end_));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        failed_.store(true, std::memory_order_relaxed);
      }
    }
  }

  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::int64_t begin_, end_, grain_, chunks_;
  const void* context_;
  ChunkFunction f_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

#ifdef TAPER_PARALLEL_THREADS

/// Standing worker threads. ThreadSanitizer cannot see libgomp's barriers, so its preset uses these.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  /// False, with nothing done, while another thread's job has the workers.
  bool try_run(Job& job, int threads) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(workers_.size()) < threads - 1) {
        const int index = static_cast<int>(workers_.size()) + 1;
        workers_.emplace_back([this, index, seen = generation_] { work(index, seen); });
      }
      job_ = &job, threads_ = threads, pending_ = threads - 1, ++generation_;
    }
    wake_.notify_all();
    job.run_share(0, threads);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
    return true;
  }

 private:
  void work(int index, std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      if (index >= threads_) continue;
      Job* job = job_;
      const int threads = threads_;
      lock.unlock();
      job->run_share(index, threads);
      lock.lock();
      if (--pending_ == 0) done_.notify_one();
    }
  }

  std::mutex owner_, mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  Job* job_ = nullptr;
  int threads_ = 0, pending_ = 0;
  std::uint64_t generation_ = 0;
  bool stop_ = false;
};

bool run_on_threads(Job& job, int threads) {
  static Pool pool;
  return pool.try_run(job, threads);
}

#else

bool run_on_threads(Job& job, int threads) {
  // Always the whole team: libgomp ends and restarts threads when the team's size changes.
#pragma omp parallel num_threads(threads)
  job.run_share(omp_get_thread_num(), omp_get_num_threads());
  return true;
}

#endif

}  // namespace

SerialScope::SerialScope() noexcept : before_(is_serial) { is_serial = true; }
SerialScope::~SerialScope() { is_serial = before_; }

int available_threads() noexcept {
#ifndef TAPER_PARALLEL_THREADS
  if (omp_in_parallel()) return 1;  // a region that the caller of the library opened
#endif
  return is_serial ? 1 : get_num_threads();
}

void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, const void* context, ChunkFunction f) {
  Job job(begin, end, grain, context, f);
  const int threads = available_threads();
  if (threads == 1 || !run_on_threads(job, threads)) return job.run_all();
  job.rethrow();
}

#ifdef TAPER_PARALLEL_THREADS
LibraryThreads::LibraryThreads(int) noexcept : before_(0) {}
LibraryThreads::~LibraryThreads() = default;
#else
LibraryThreads::LibraryThreads(int n) noexcept : before_(omp_get_max_threads()) {
  if (n != before_) omp_set_num_threads(n);
}
LibraryThreads::~LibraryThreads() {
  if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
}
#endif

}  // namespace cpu_kernels
}  // namespace taper
