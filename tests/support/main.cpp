// The test program: Catch2's own main, and a listener that counts what each test leaves behind.
#define CATCH_CONFIG_RUNNER
#include <taper/allocator.h>

#include <iostream>

#include "tests/support/catch.h"

namespace {

int leaking_tests = 0;

// No test may leave a tensor, a storage or a node alive: what the sanitizer's leak check cannot see, because a pool
// or a cycle still refers to it.
class LiveObjects : public CatchListener {
 public:
  using CatchListener::CatchListener;

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const long long tensors = taper::live_tensors() - tensors_;
    const long long storages = taper::live_storages() - storages_;
    const long long nodes = taper::live_nodes() - nodes_;
    if (tensors != 0 || storages != 0 || nodes != 0) {
      ++leaking_tests;
      std::cerr << "LEAK: \"" << test_name(stats) << "\" leaves " << tensors << " tensors, " << storages
                << " storages and " << nodes << " nodes behind\n";
    }
    // Each test answers for itself only.
    tensors_ += tensors;
    storages_ += storages;
    nodes_ += nodes;
  }

 private:
  long long tensors_ = 0;
  long long storages_ = 0;
  long long nodes_ = 0;
};
CATCH_REGISTER_LISTENER(LiveObjects)

}  // namespace

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  return failed != 0 ? failed : leaking_tests != 0 ? 1 : 0;
}
