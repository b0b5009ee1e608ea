#pragma once
#include <taper/parallel.h>

/// Sets the number of threads for one test.
class ThreadCount {
 public:
  explicit ThreadCount(int n) : before_(taper::get_num_threads()) { taper::set_num_threads(n); }
  ~ThreadCount() { taper::set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};
