#pragma once
// Interleaved timing. The sides of a case take turns, sample by sample, so that a drift of the machine hits both
// alike; what is reported is the median of the paired ratios. With one thread the time is the thread's CPU time, which
// other programs' time slices do not lengthen; with more it is wall time.
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Side {
  std::string name;
  std::function<void()> run;
  int threads = 1;
  std::function<void()> enter = {};  // called before each sample, to set the number of threads
};

struct Result {
  std::vector<double> median_us;  // per side
  std::vector<double> ratio;      // median of side i / side 0, sample by sample
};

/// Times the sides against each other. `per_call` is how many units (nodes, steps) one run() makes.
Result measure(const std::vector<Side>& sides, double seconds, double per_call = 1);

/// Makes glibc keep freed memory, which the peer depends on: page faults cost it dearly on virtual machines.
void keep_freed_memory();

}  // namespace bench
