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
        "or clone() before writing; inside a DetectAnomaly scope around both calls this error names their lines");
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
  CHECK(e.remedy == "write before the forward pass, or to a clone()");
  CHECK(contains(e.what(), "but mutable_data() changed its memory, now at version 1; write before the forward pass"));
}

TEST_CASE("the remedy fits who wrote: only operators with a form without the underscore advise it", "[S96]") {
  Tensor a = leaf({1, 2});
  const auto remedy_of = [&](auto&& write) {
    Tensor b = fixed({3, 4});
    const Tensor loss = (a * b).sum();
    write(b);
    return conflict_of(loss).remedy;
  };
  const std::string plain = "use the form without the underscore, or clone() before writing";
  CHECK(remedy_of([](Tensor& b) { b.add_(1); }) == plain);
  CHECK(remedy_of([](Tensor& b) { b.index_put_({tensor({0, 1})}, 1.0); }) == plain);
  CHECK(remedy_of([](Tensor& b) { b.unsqueeze_(0); }) == plain);
  CHECK(remedy_of([](Tensor& b) { b[0] = 1.0; }) == "make a new tensor with full_like(), or clone() before writing");
  CHECK(remedy_of([](Tensor& b) {
          b.copy_(fixed({5, 6}));
        }) == "assign a new tensor, x = src.clone(), or clone() before writing");
  CHECK(remedy_of([](Tensor& b) { b.zero_(); }) == "make a new tensor with zeros_like(), or clone() before writing");
  CHECK(remedy_of([](Tensor& b) { b.normal_(); }) == "make a new tensor with randn_like(), or clone() before writing");
  CHECK(remedy_of([](Tensor& b) {
          add_out(b, fixed({1, 2}), fixed({1, 2}));
        }) == "give add() another `out`, or clone() before writing");
}

TEST_CASE("growing a tensor and giving it other memory are no writes: what was saved is still there", "[S96]") {
  Tensor a = leaf({1, 2}), b = fixed({3, 4}), c = fixed({5, 6});
  const Tensor loss = (a * b + a * c).sum();
  b.resize_({100});
  c.set_data(fixed({7, 8}));
  loss.backward();
  CHECK(values(a.grad()) == Values{8, 10});
}

TEST_CASE("an optimizer that steps between forward and backward is told to wait", "[S96]") {
  nn::Linear first(2, 2), second(2, 1);
  TensorList parameters = first.parameters();
  for (const Tensor& p : second.parameters()) parameters.push_back(p);
  optim::SGD sgd(parameters, {.lr = 0.1});
  optim::Adam adam(parameters, {.lr = 0.1});
  const auto loss = [&] { return second(first(ones({1, 2}))).sum(); };
  loss().backward();
  const Tensor before_sgd = loss();
  sgd.step();
  const auto e = conflict_of(before_sgd);
  CHECK(e.modified_by == "sgd_step_");
  CHECK(e.remedy == "call backward() before the optimizer's step(), or compute the loss again after it");
  const Tensor before_adam = loss();
  adam.step();
  CHECK(conflict_of(before_adam).remedy == e.remedy);

  const Tensor before_update = loss();
  {
    const NoGradGuard no_grad;
    second.weight.mul_(0.5);
  }
  CHECK(conflict_of(before_update).remedy ==
        "call backward() before the leaf is updated, or compute the result again after it");
}

TEST_CASE("running statistics that move between forward and backward are named", "[S96]") {
  nn::BatchNorm1d bn(2);
  Tensor a = ones({2}, {.requires_grad = true});
  const Tensor loss = (a * bn.running_mean).sum();
  bn(ones({3, 2}));
  const auto e = conflict_of(loss);
  CHECK(e.modified_by == "batch_norm");
  CHECK(contains(e.remedy, "before batch_norm() updates its running statistics again"));
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
