// Checks every operator with the samples of tests/ops/samples.cpp, and writes docs/ops.md.
//
//   op_table                        all checks
//   op_table gradients exp mul      one kind of check, of some operators
//   op_table --write docs/ops.md    the table of operators
//   op_table --check docs/ops.md    fails if that file is another
//   op_table --planted              fails unless mistakes made on purpose are found
#include <taper/allocator.h>
#include <taper/autograd/autograd_meta.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "checks.h"

namespace op_table {

void Report::enter(const OpSamples& op, std::size_t sample, Layout layout) {
  enter(op.name + ", sample " + std::to_string(sample) + ", " + name_of(layout));
}
void Report::fail(const std::string& what) {
  ++failures_;
  if (output_ == printed) std::printf("FAILED %s: %s\n", where_.c_str(), what.c_str());
}

void check_registry(Report& report) {
  std::set<const OpEntry*> sampled, known;
  std::set<std::string> names;
  for (const OpSamples& op : samples::all()) {
    report.enter(op.name);
    report.require(sampled.insert(op.op).second && names.insert(op.name).second, "is in the table twice");
    report.require(!op.samples.empty(), "has no sample");
  }
  for (const OpEntry* op = OpEntry::first(); op; op = op->next()) {
    known.insert(op);
    if (sampled.count(op)) continue;
    report.enter(std::string(op->name()) + '(' + op->arguments() + ')');
    report.fail("has no samples; add them to tests/ops/samples.cpp");
  }
  for (const OpSamples& op : samples::all()) {
    report.enter(op.name);
    report.require(known.count(op.op) > 0, "is not in the list of operators: it has neither kernel nor rule");
  }
}

namespace {

int check_operators(const std::string& kind, const std::set<std::string>& names) {
  Report report;
  if (names.empty()) check_registry(report);
  std::size_t checked = 0;
  for (const OpSamples& op : samples::all()) {
    if (!names.empty() && !names.count(op.name)) continue;
    ++checked;
    const auto nodes = live_nodes(), tensors = live_tensors(), storages = live_storages();
    if (kind != "forms") check_gradients(report, op);
    if (kind != "gradients") check_forms(report, op);
    report.enter(op.name);
    report.require(nodes == live_nodes() && tensors == live_tensors() && storages == live_storages(),
                   "leaves tensors, storages or nodes behind");
  }
  std::printf("%zu operators, %d failures\n", checked, report.failures());
  return report.failures() > 0 || checked == 0;
}

int compare_table(const std::string& path) {
  std::ifstream file(path);
  std::stringstream there;
  there << file.rdbuf();
  if (file && there.str() == written_table()) return 0;
  std::printf("%s is out of date; write it anew with: op_table --write docs/ops.md\n", path.c_str());
  return 1;
}

int write_table(const std::string& path) {
  std::ofstream file(path);
  file << written_table();
  return file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace op_table

int main(int argc, char** argv) {
  using namespace op_table;
  taper::ensure_kernels();
  taper::ensure_rules();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string kind = arguments.empty() ? "all" : arguments[0];
  if (arguments.size() == 2 && kind == "--write") return write_table(arguments[1]);
  if (arguments.size() == 2 && kind == "--check") return compare_table(arguments[1]);
  if (kind == "--planted") return finds_planted_errors() ? 0 : 1;
  if (kind != "all" && kind != "gradients" && kind != "forms") {
    std::fprintf(stderr,
                 "usage: op_table [all|gradients|forms [OPERATOR...]] | --write FILE | --check FILE | --planted\n");
    return 2;
  }
  return check_operators(kind, {arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end()});
}
