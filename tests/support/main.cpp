// The test program: Catch2's own main, and a listener that counts what each test leaves behind.
//
// With TAPER_TEST_DEVICE=cuda the same tests run on a CUDA device: whatever they make is made there. Tests that are
// about the cpu are left out; tests/cuda/cpu_only.txt lists them with the reason. A test that meets an operator without
// a CUDA kernel counts as skipped, and the operators are named at the end.
#define CATCH_CONFIG_RUNNER
#include <taper/allocator.h>
#include <taper/cuda.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "tests/support/catch.h"

namespace {

bool on_cuda = false;
int leaking_tests = 0, failed_tests = 0, skipped_tests = 0;
std::map<std::string, int> missing_kernels;  // operator -> tests that met it first

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

// Tells tests that failed from tests that only met an operator without a CUDA kernel.
class MissingKernels : public CatchListener {
 public:
  using CatchListener::CatchListener;

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    if (stats.assertionResult.isOk()) return false;
    static const std::string kMissing = ": no kernel for cuda";
    const std::string text = stats.assertionResult.hasMessage() ? std::string(stats.assertionResult.getMessage()) : "";
    const std::size_t at = text.find(kMissing);
    if (!on_cuda || at == std::string::npos) {
      failed_ = true;
      return false;
    }
    if (missing_.empty())
      missing_ = text.substr(text.find_last_of(" \n", at) + 1, at - text.find_last_of(" \n", at) - 1);
    return false;
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (failed_) {
      ++failed_tests;
      if (on_cuda) std::cerr << "FAILED on cuda: \"" << test_name(stats) << "\"\n";
    } else if (!missing_.empty()) {
      ++skipped_tests;
      ++missing_kernels[missing_];
    }
    failed_ = false;
    missing_.clear();
  }

 private:
  bool failed_ = false;
  std::string missing_;
};
CATCH_REGISTER_LISTENER(MissingKernels)

/// The tests that run on the cpu alone, as a test specification that leaves them out.
std::string all_but_cpu_only() {
  std::ifstream file(TAPER_SOURCE_DIR "/tests/cuda/cpu_only.txt");
  std::string spec, line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      spec += "~" + line;
      continue;
    }
    spec += "~\"";
    for (const char c : line) {
      if (c == '"' || c == ',' || c == '[' || c == ']' || c == '\\') spec += '\\';
      spec += c;
    }
    spec += '"';
  }
  return spec;
}

/// Adds to what the command line chose, which is everything, or tags; a test that it names runs whatever it is.
void leave_out(Catch::Session& session, const std::string& spec) {
  std::vector<std::string>& specs = session.configData().testsOrTags;
  if (specs.empty()) specs.emplace_back();
  for (std::string& s : specs)
    if (s.empty() || s.back() == ']') s += spec;
}

void choose_cuda(Catch::Session& session) {
  if (!taper::cuda::is_available()) {
    std::cerr << "TAPER_TEST_DEVICE=cuda: " << taper::cuda::why_unavailable() << '\n';
    std::exit(2);
  }
  on_cuda = true;
  taper::set_default_device(taper::Device("cuda"));
  taper::cuda::set_immediate_checks(true);  // errors where the cpu has them
  leave_out(session, all_but_cpu_only());
}

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return error;
  session.configData().filenamesAsTags = true;  // "[#reduce_test]" is reduce_test.cpp
  const char* device = std::getenv("TAPER_TEST_DEVICE");
  if (device && std::string(device) == "cuda") {
    choose_cuda(session);
  } else if (!taper::cuda::is_available()) {
    leave_out(session, "~[cuda]");  // tests that need a device
  }
  const int failed = session.run();
  if (on_cuda) {
    std::cerr << "on cuda: " << failed_tests << " tests failed, " << skipped_tests
              << " met an operator without a cuda kernel:";
    for (const auto& [name, tests] : missing_kernels) std::cerr << ' ' << name << " (" << tests << ')';
    std::cerr << '\n';
    return failed_tests != 0 || leaking_tests != 0 ? 1 : 0;
  }
  return failed != 0 ? failed : leaking_tests != 0 ? 1 : 0;
}
