// oracle_replay [FOLDER]: replays recorded cases of the reference and compares.
#include <taper/allocator.h>
#include <taper/cuda.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

#include "replay.h"

namespace {

struct Options {
  std::string folder;
  std::string family, id, op;  // empty: all
  taper::Device device;
  bool list_skipped = false, summary = false;
};

struct Count {
  int replayed = 0, failed = 0, skipped = 0;
};

[[noreturn]] void usage(int status) {
  (status ? std::cerr : std::cout)
      << "usage: oracle_replay [FOLDER] [--family NAME] [--id TEXT] [--op NAME] [--device NAME]\n"
         "                     [--list-skipped] [--summary]\n"
         "Replays the cases in FOLDER (default: $TAPER_ORACLE_DIR, or the cases that came with the source).\n"
         "  --family NAME    this family only\n"
         "  --id TEXT        cases whose id contains TEXT\n"
         "  --op NAME        cases of this operation, module, optimizer or scheduler\n"
         "  --device NAME    where the tensors are. cuda: a case that meets an operator without a kernel there is "
         "skipped.\n"
         "                   meta: operations only, comparing shapes and dtypes\n"
         "  --list-skipped   a line for each case, or part of one, that was not replayed, with the reason\n"
         "  --summary        numbers per family, and the reasons of skips by their numbers\n";
  std::exit(status);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto next = [&]() -> std::string {
      if (++i == argc) usage(2);
      return argv[i];
    };
    if (arg == "--family")
      o.family = next();
    else if (arg == "--id")
      o.id = next();
    else if (arg == "--op")
      o.op = next();
    else if (arg == "--device")
      o.device = taper::Device(next());
    else if (arg == "--list-skipped")
      o.list_skipped = true;
    else if (arg == "--summary")
      o.summary = true;
    else if (arg == "--help" || arg == "-h")
      usage(0);
    else if (arg.starts_with("-") || !o.folder.empty())
      usage(2);
    else
      o.folder = arg;
  }
  if (o.folder.empty()) {
    const char* chosen = std::getenv("TAPER_ORACLE_DIR");
    o.folder = chosen && *chosen ? chosen : TAPER_ORACLE_DEFAULT_DIR;
  }
  return o;
}

char current_case[256];

/// A crash would lose the name of the case that caused it.
void name_case(int signal) {
  [[maybe_unused]] ssize_t n = write(STDERR_FILENO, "oracle_replay: crashed in ", 26);
  n = write(STDERR_FILENO, current_case, std::strlen(current_case));
  n = write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What is alive now; a case must leave as much.
struct Live {
  std::int64_t tensors = taper::live_tensors(), storages = taper::live_storages(), nodes = taper::live_nodes();

  std::string left() const {
    const Live now;
    if (now.tensors == tensors && now.storages == storages && now.nodes == nodes) return {};
    return "leaves " + std::to_string(now.tensors - tensors) + " tensors, " + std::to_string(now.storages - storages) +
           " storages, " + std::to_string(now.nodes - nodes) + " nodes alive";
  }
};

class Replay {
 public:
  explicit Replay(Options options) : options_(std::move(options)) {}

  int run() {
    for (const oracle::Family& family : oracle::find_families(options_.folder))
      if (options_.family.empty() || options_.family == family.name) replay(family);
    if (options_.summary) print_summary();
    Count total;
    for (const auto& [name, n] : counts_)
      total.replayed += n.replayed, total.failed += n.failed, total.skipped += n.skipped;
    std::printf("replayed %d, failed %d, skipped %d\n", total.replayed, total.failed, total.skipped);
    return total.failed > 0;
  }

 private:
  bool wanted(const oracle::Json& record) const {
    const bool is_operation = record.contains("op") && record.contains("out") && !record.contains("throws");
    if (options_.device.is_meta() && !is_operation) return false;
    if (!options_.id.empty() && record.at("id").get<std::string>().find(options_.id) == std::string::npos) return false;
    if (options_.op.empty()) return true;
    for (const char* key : {"op", "module", "optimizer", "function", "scheduler", "init", "model"})
      if (record.contains(key) && record.at(key) == options_.op) return true;
    return false;
  }

  void replay(const oracle::Family& family) {
    const oracle::Archive archive(family.tensors);
    for (const oracle::Json& record : oracle::read_cases(family))
      if (wanted(record)) replay(family.name, record, archive);
  }

  void replay(const std::string& family, const oracle::Json& record, const oracle::Archive& archive) {
    const std::string id = record.at("id").get<std::string>();
    std::snprintf(current_case, sizeof current_case, "%s", id.c_str());
    std::vector<std::string> partial;
    Count& n = counts_[family];
    const Live before;
    try {
      oracle::replay({family, record, archive, ops_, partial});
      if (const std::string left = before.left(); !left.empty()) throw oracle::Failure{left};
      ++n.replayed;
      for (const std::string& reason : partial) note(id + " (in part)", reason);
    } catch (const oracle::Skip& skip) {
      ++n.skipped;
      note(id, skip.reason);
    } catch (const oracle::Failure& failure) {
      fail(n, id, failure.what);
    } catch (const std::exception& e) {
      fail(n, id, std::string("throws: ") + e.what());
    }
    // A failure on a device may leave errors of its own behind; they belong to this case.
    if (options_.device.is_cuda()) taper::cuda::synchronize();
  }

  void fail(Count& n, const std::string& id, const std::string& what) {
    static constexpr std::string_view kMissing = ": no kernel for cuda";
    if (const std::size_t at = what.find(kMissing); options_.device.is_cuda() && at != std::string::npos) {
      std::size_t begin = at;
      while (begin > 0 && what[begin - 1] != ' ') --begin;
      ++n.skipped;
      return note(id, "no cuda kernel for " + what.substr(begin, at - begin));
    }
    if (options_.device.is_meta() && oracle::needs_values(id)) {
      ++n.skipped;
      return note(id, "the result's shape is in values, or it is a value of the host");
    }
    ++n.replayed, ++n.failed;
    std::printf("FAILED %s: %s\n", id.c_str(), what.c_str());
  }
  void note(const std::string& id, const std::string& reason) {
    ++reasons_[reason];
    if (options_.list_skipped) std::printf("skipped %s: %s\n", id.c_str(), reason.c_str());
  }

  void print_summary() const {
    std::printf("%-12s %8s %8s %8s\n", "family", "replayed", "failed", "skipped");
    for (const auto& [name, n] : counts_)
      std::printf("%-12s %8d %8d %8d\n", name.c_str(), n.replayed, n.failed, n.skipped);
    std::multimap<int, std::string, std::greater<>> by_number;
    for (const auto& [reason, n] : reasons_) by_number.emplace(n, reason);
    for (const auto& [n, reason] : by_number) std::printf("%6d  %s\n", n, reason.c_str());
  }

  const Options options_;
  const oracle::OpTable ops_;
  std::map<std::string, Count> counts_;
  std::map<std::string, int> reasons_;
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a crash must not take failures with it
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, name_case);
  try {
    Options options = parse(argc, argv);
    if (options.device.is_cuda()) {
      taper::cuda::set_device(options.device.index);
      taper::cuda::set_immediate_checks(true);  // errors where the cpu has them
    }
    taper::set_default_device(options.device);
    return Replay(std::move(options)).run();
  } catch (const std::exception& e) {
    std::cerr << "oracle_replay: " << e.what() << '\n';
    return 2;
  }
}
