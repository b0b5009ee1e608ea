// What an error about an overwritten value tells.
#include <taper/taper.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }
Tensor fixed(std::initializer_list<TensorData> v) { return tensor(v, float64); }

InplaceConflictError conflict_of(const Tensor& loss) {
  try {
    loss.backward();
  } catch (const InplaceConflictError& e) {
    return e;
  }
  FAIL("the conflict was not seen");
  throw 0;
}

}  // namespace

TEST_CASE("a conflict tells the argument, both operators, the views, both versions and the remedy", "[S96][B4]") {
  Tensor a = leaf({{1, 2}, {3, 4}}), b = fixed({{5, 6}, {7, 8}});
  b.add_(1);
  Tensor loss = (a * b).sum();
  b.transpose(0, 1).select(0, 1).mul_(2);

  const InplaceConflictError e = conflict_of(loss);

  CHECK(e.saved_by == "mul");
  CHECK(e.saved_as == "other");
  CHECK_FALSE(e.saved_output);
  CHECK(e.modified_by == "mul_");
  CHECK(e.modified_through == std::vector<std::string>{"transpose", "select"});
  CHECK(e.saved_version == 1);
  CHECK(e.current_version == 2);
  CHECK(e.remedy == "use the form without the underscore, or clone() before writing");
  CHECK(e.saved_at.empty());
  CHECK(e.modified_at.empty());
  CHECK(std::string(e.what()) ==
        "backward of mul needs its input 'other' (float64[2, 2] on cpu) as the forward pass left it, at version 1, but "
        "mul_() through transpose -> select changed its memory, now at version 2; use the form without the underscore, "
        "or clone() before writing; inside a DetectAnomaly scope this error names the lines of both calls");
  CHECK_FALSE(a.grad().defined());
}

TEST_CASE("a conflict tells an output from an input, and a write through detach()", "[S96][B4]") {
  Tensor o = leaf({1, 2, 3}).sigmoid();
  Tensor loss = o.sum();
  o.detach().zero_();

  const InplaceConflictError e = conflict_of(loss);

  CHECK(e.saved_by == "sigmoid");
  CHECK(e.saved_as == "result");
  CHECK(e.saved_output);
  CHECK(e.modified_through == std::vector<std::string>{"detach"});
  CHECK(contains(e.what(), "needs its output 'result' (float64[3] on cpu)"));
  CHECK(contains(e.what(), "zero_() through detach changed its memory"));
}

TEST_CASE("a conflict with a write that has no other form advises a copy only", "[S96]") {
  Tensor a = leaf({1, 2}), b = fixed({3, 4});
  Tensor loss = (a * b).sum();
  b.mutable_data<double>()[0] = 9;

  const InplaceConflictError e = conflict_of(loss);

  CHECK(e.modified_by == "mutable_data");
  CHECK(e.modified_through.empty());
  CHECK(e.remedy == "clone() before writing");
  CHECK(contains(e.what(), "but mutable_data() changed its memory, now at version 1; clone() before writing"));
}

TEST_CASE("an overwritten indices result is an output though it has no history", "[S96]") {
  Tensor x = leaf({3, 1, 2});
  auto [largest, at] = x.max(0);
  at.zero_();
  const InplaceConflictError e = conflict_of(largest);
  CHECK(e.saved_output);
  CHECK(e.modified_by == "zero_");
}

TEST_CASE("a view of a view tells its whole path, and a very long path ends in dots", "[S72][S96]") {
  Tensor x = zeros({2, 2});
  Tensor v = x;
  for (int i = 0; i < 100; ++i) v = v.transpose(0, 1);
  v.add_(1);
  std::string text;
  append_to(text, x.storage()->last_writer_path());
  CHECK(text ==
        "transpose -> transpose -> transpose -> transpose -> transpose -> transpose -> transpose -> transpose -> ...");
  x.add_(1);
  CHECK(x.storage()->last_writer_path() == nullptr);
  CHECK(x.transpose(0, 1).impl()->view_path() == x.t().impl()->view_path());
}
