#pragma once
#include <thread>
#include <vector>

namespace taper::data {

/// How a thread is started; tests put one in its place that fails.
using ThreadStart = std::thread (*)(void (*body)(void*), void* argument);
extern constinit ThreadStart start_thread;

/// Threads that are joined in every case. Who owns them makes their body return first.
class WorkerThreads {
 public:
  WorkerThreads() = default;
  ~WorkerThreads() { join(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Throws Error if the system has no more threads.
  void start(void (*body)(void*), void* argument);
  void join() noexcept;

 private:
  std::vector<std::thread> threads_;
};

}  // namespace taper::data
