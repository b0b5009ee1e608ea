// Which mutant is on, and which ones each test would notice: linked into the test programs by tests/cuda/mutate.
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
constexpr int kMost = 4096;
bool noted[kMost];
}  // namespace

extern "C" {
__attribute__((visibility("hidden"))) int taper_mutant_on = [] {
  const char* number = std::getenv("TAPER_MUTANT");
  return number != nullptr ? std::atoi(number) : 0;
}();
void taper_mutant_note(int number) { noted[number] = true; }
}

/// Writes "seconds, name, numbers" to the file of notes, and begins anew.
void write_mutant_notes(double seconds, const std::string& name) {
  const char* path = std::getenv("TAPER_MUTANT_NOTES");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%.3f\t%s\t", seconds, name.c_str());
  for (int i = 0; i < kMost; ++i)
    if (noted[i]) std::fprintf(file, "%d ", i), noted[i] = false;
  std::fprintf(file, "\n");
  std::fclose(file);
}

#ifdef TAPER_MUTANT_CATCH
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <chrono>

#include "tests/support/catch.h"

namespace {
class Notes : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo&) override { start_ = std::chrono::steady_clock::now(); }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    write_mutant_notes(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(),
                       stats.testInfo.name);
  }

 private:
  std::chrono::steady_clock::time_point start_;
};
CATCH_REGISTER_LISTENER(Notes)
}  // namespace
#else
namespace {
// The whole program is one test.
const struct AtExit {
  ~AtExit() { write_mutant_notes(0, "all"); }
} at_exit;
}  // namespace
#endif
