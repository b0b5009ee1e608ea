#include <taper/allocator.h>
#include <taper/factory.h>
#include <taper/memory_report.h>
#include <taper/ops/pointwise.h>
#include <taper/tensor_impl.h>

#include <map>
#include <sstream>

#include "support/catch.h"

using namespace taper;

namespace {

/// The bytes that each line of the report states, by the line's name.
std::map<std::string, std::int64_t> bytes_by_line() {
  std::map<std::string, std::int64_t> out;
  std::istringstream report(memory_report());
  for (std::string line; std::getline(report, line);) {
    std::string name = line.substr(0, 28);
    name.erase(name.find_last_not_of(' ') + 1);
    std::istringstream rest(line.substr(28));
    std::string unit;
    rest >> out[name] >> unit;
    CHECK(unit == "bytes");
  }
  return out;
}

}  // namespace

TEST_CASE("the memory report tells elements, rounding, tensors and graph apart", "[S48]") {
  auto before = bytes_by_line();
  for (const char* line : {"data", "allocator rounding", "tensors", "storages", "graph and metadata", "cached"}) {
    CAPTURE(line);
    CHECK(before.count(line) == 1);
  }

  const Tensor x = zeros({1000});
  auto with_tensor = bytes_by_line();
  CHECK(with_tensor["data"] - before["data"] == 4000);
  CHECK(with_tensor["tensors"] - before["tensors"] == std::int64_t(sizeof(TensorImpl)));
  CHECK(with_tensor["storages"] - before["storages"] == std::int64_t(sizeof(StorageImpl)));

  const Tensor same = x.view({10, 100});
  auto with_view = bytes_by_line();
  CHECK(with_view["data"] == with_tensor["data"]);
  CHECK(with_view["tensors"] - with_tensor["tensors"] == std::int64_t(sizeof(TensorImpl)));
  CHECK(with_view["storages"] == with_tensor["storages"]);

  Tensor w = ones({1});
  w.requires_grad_();
  Tensor y = w;
  for (int i = 0; i < 100; ++i) y = y * 2;
  auto with_graph = bytes_by_line();
  if (with_graph["graph and metadata"] != 0)  // where the pools are bypassed, objects are not counted
    CHECK(with_graph["graph and metadata"] - with_view["graph and metadata"] > 100 * 64);
  CHECK(with_graph["data"] - with_view["data"] < 100 * 64);
}
