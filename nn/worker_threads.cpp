#include "worker_threads.h"

#include <taper/error.h>

#include <system_error>

namespace taper::data {

constinit ThreadStart start_thread = [](void (*body)(void*), void* argument) { return std::thread(body, argument); };

void WorkerThreads::start(void (*body)(void*), void* argument) {
  threads_.reserve(threads_.size() + 1);  // once a thread runs, nothing may fail before it is kept
  try {
    threads_.push_back(start_thread(body, argument));
  } catch (const std::system_error& e) {
    raise<Error>("DataLoader: cannot start worker thread ", threads_.size() + 1, ": ", e.what(),
                 "; use a smaller num_workers");
  }
}

void WorkerThreads::join() noexcept {
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
  threads_.clear();
}

}  // namespace taper::data
