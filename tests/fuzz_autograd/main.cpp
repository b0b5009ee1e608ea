// Random programs through Taper and through a plain reference: every one must end in the same values and gradients, or
// be refused by both for the same reason. Prints the smallest program that fails.
//
//   fuzz_autograd --seed 1 --programs 20000
//   fuzz_autograd --seed date --programs 2000     the day decides
//   fuzz_autograd --seed 1 --only 17              one program, printed
//   fuzz_autograd --self-test                     breaks the reference on purpose; each break must be found
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "generate.h"
#include "reference.h"
#include "subject.h"

namespace fuzz {
namespace {

/// Both interpreters side by side.
class Machine {
 public:
  explicit Machine(const std::string& broken) : reference_(broken) {}

  struct Result {
    bool skipped = false, ended = false;
    std::string failure;
  };
  Result step(const Step& s) {
    const Verdict verdict = reference_.execute(s);
    if (verdict.skipped) return {true, false, {}};
    const Outcome outcome = subject_.execute(s);
    counts[outcome.refused]++;
    Result r;
    r.ended = reference_.ended() || (outcome.refused && (s.what == Do::backward || s.what == Do::grad));
    if (outcome.refused) {
      if (!(outcome.refused & (verdict.must | verdict.may)))
        r.failure = fmt::format("refused for {}, expected {}\n  message: {}", reasons(outcome.refused),
                                reasons(verdict.must | verdict.may), outcome.message);
      return r;
    }
    if (verdict.must) {
      r.failure = "accepted, expected to be refused for " + reasons(verdict.must);
      return r;
    }
    if (!r.ended && (s.what == Do::backward || s.what == Do::grad)) r.failure = compare();
    return r;
  }

  /// What differs between the two, if anything.
  std::string compare() {
    for (const auto& [v, _] : reference_.names()) {
      const Variable& want = reference_.at(v);
      const taper::Tensor& got = subject_.at(v);
      if (got.sizes().vec() != want.shape)
        return fmt::format("v{} has shape {}, expected another", v, taper::IntSpan(got.sizes()).size());
      if (const std::string d = differs(reference_.values(want), got); !d.empty()) return fmt::format("v{}: {}", v, d);
      if (const bool r = reference_.requires_grad(v); got.requires_grad() != r)
        return fmt::format("v{}.requires_grad() is {}, expected {}", v, !r, r);
      const taper::Tensor g = got.grad();
      const auto want_grad = reference_.grad(want);
      if (want_grad || g.defined()) {
        const auto expected = want_grad ? *want_grad : std::vector<double>(want.numel(), 0.0);
        if (const std::string d = differs(expected, g); !d.empty()) return fmt::format("v{}.grad(): {}", v, d);
      }
    }
    return {};
  }
  Reference& reference() { return reference_; }

  static inline std::map<unsigned, long> counts;

 private:
  std::string differs(const std::vector<double>& want, const taper::Tensor& t) const {
    const std::vector<double> got =
        t.defined() ? t.detach().to_vector<double>() : std::vector<double>(want.size(), 0.0);
    const double allowed = 1e-9 * std::max(1.0, reference_.scale());
    for (std::size_t i = 0; i < want.size(); ++i)
      if (i >= got.size() || !(std::abs(got[i] - want[i]) <= allowed + 1e-9 * std::abs(want[i])))
        return fmt::format("element {} is {}, expected {}", i, i < got.size() ? got[i] : NAN, want[i]);
    return {};
  }
  Reference reference_;
  Subject subject_;
};

/// Runs the steps that fit; they are what is left in `program`.
std::string run(Program& program, const std::string& broken) {
  Machine machine(broken);
  Program done;
  std::string failure;
  for (const Step& s : program) {
    const Machine::Result r = machine.step(s);
    if (r.skipped) continue;
    done.push_back(s);
    failure = r.failure;
    if (!failure.empty() || r.ended) break;
  }
  if (failure.empty() && !machine.reference().ended()) failure = machine.compare();
  program = std::move(done);
  return failure;
}

std::string generate_and_run(std::uint64_t seed, const std::string& broken, Program& program) {
  Generator generator(seed);
  Machine machine(broken);
  std::string failure;
  const int length = generator.length();
  for (int tries = 0; int(program.size()) < length && tries < 4 * length; ++tries) {
    const bool last = int(program.size()) + 1 == length || tries + 1 == 4 * length;
    const auto s = last ? generator.last_pass(machine.reference()) : generator.propose(machine.reference());
    if (!s) continue;
    const Machine::Result r = machine.step(*s);
    if (r.skipped) continue;
    program.push_back(*s);
    if (!r.failure.empty() || r.ended) return r.failure;
  }
  return machine.compare();
}

/// Leaves steps out, more at a time first, as long as the program still fails.
void shrink(Program& program, std::string& failure, const std::string& broken) {
  for (std::size_t chunk = program.size() / 2; chunk > 0;) {
    bool smaller = false;
    for (std::size_t at = program.size(); at > 0;) {
      at = at > chunk ? at - chunk : 0;
      Program less = program;
      less.erase(less.begin() + std::ptrdiff_t(at), less.begin() + std::ptrdiff_t(std::min(at + chunk, less.size())));
      const std::string f = run(less, broken);
      if (f.empty() || less.size() >= program.size()) continue;
      program = less, failure = f, smaller = true;
      at = std::min(at, program.size());
    }
    if (!smaller || chunk > program.size()) chunk /= 2;
  }
}

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t program) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ull + program * 0xD1B54A32D192ED03ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  return z ^ (z >> 31);
}

/// Number of programs that failed, at most `most`.
int fuzz(std::uint64_t seed, std::uint64_t first, std::uint64_t count, int most, const std::string& broken,
         bool quiet) {
  int failures = 0;
  for (std::uint64_t i = first; i < first + count; ++i) {
    Program program;
    std::string failure = generate_and_run(seed_of(seed, i), broken, program);
    if (failure.empty()) continue;
    shrink(program, failure, broken);
    if (!quiet)
      fmt::print("FAILED program {} of seed {}, shrunk to {} steps: {}\n{}", i, seed, program.size(), failure,
                 to_string(program));
    std::fflush(stdout);
    if (++failures >= most) break;
  }
  return failures;
}

int self_test() {
  int missed = 0;
  for (const std::string& rule : Reference::rules()) {
    const int found = fuzz(1, 0, 3000, 1, rule, false);
    fmt::print("{}: \"{}\"\n", found ? "found" : "MISSED", rule);
    missed += !found;
  }
  return missed;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  CLI::App app{"Random programs through Taper's autograd and a plain reference"};
  std::string seed_text = "1";
  std::uint64_t programs = 1000, first = 0, only = 0;
  int most = 1;
  bool self_test = false, statistics = false;
  app.add_option("--seed", seed_text, "A number, or 'date'")->capture_default_str();
  app.add_option("--programs", programs, "How many")->capture_default_str();
  app.add_option("--first", first, "Number of the first program")->capture_default_str();
  auto* one = app.add_option("--only", only, "Print and run this program alone");
  app.add_option("--failures", most, "Stop after so many")->capture_default_str();
  app.add_flag("--self-test", self_test, "Break the reference on purpose and see that it is found");
  app.add_flag("--statistics", statistics, "Print how often what was refused");
  CLI11_PARSE(app, argc, argv);

  if (self_test) return fuzz::self_test() ? 1 : 0;
  const std::uint64_t seed = seed_text == "date"
                                 ? std::uint64_t(std::chrono::duration_cast<std::chrono::hours>(
                                                     std::chrono::system_clock::now().time_since_epoch())
                                                     .count() /
                                                 24)
                                 : std::stoull(seed_text);
  if (*one) {
    fuzz::Program program;
    const std::string failure = fuzz::generate_and_run(fuzz::seed_of(seed, only), "", program);
    fmt::print("{}{}\n", fuzz::to_string(program), failure.empty() ? "passed" : failure);
    return failure.empty() ? 0 : 1;
  }
  const int failures = fuzz::fuzz(seed, first, programs, most, "", false);
  if (statistics)
    for (const auto& [refused, times] : fuzz::Machine::counts)
      fmt::print("{:>10} steps: {}\n", times, fuzz::reasons(refused));
  fmt::print("fuzz_autograd: seed {}, {} programs, {} failed\n", seed, programs, failures);
  return failures ? 1 : 0;
}
