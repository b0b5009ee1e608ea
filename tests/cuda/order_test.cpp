// Sorting and running results on CUDA devices, where long lines are worked on by many threads.
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");
const TensorOptions kHere{.device = cpu};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool same_pair(const std::tuple<Tensor, Tensor>& there, const std::tuple<Tensor, Tensor>& here) {
  const auto same = [](const Tensor& a, const Tensor& b) {
    return a.eq(b).logical_or(a.ne(a).logical_and(b.ne(b))).all().item<bool>();
  };
  return same(std::get<0>(there).cpu(), std::get<0>(here)) && std::get<1>(there).cpu().equal(std::get<1>(here));
}

}  // namespace

TEST_CASE("long lines are sorted on cuda as on the cpu, equals in their order", "[cuda]") {
  manual_seed(8);
  for (const std::int64_t n : {1, 31, 1024, 1025, 2048, 5000}) {
    INFO("entries: " << n);
    Tensor x = randint(-300, 300, {2, n}, kHere).to(float32).div(8);
    if (n > 2) x.select(0, 1).slice(0, 0, 3).fill_(kNan);
    for (const DType d : {float32, float64, int64, int32, uint8, int8, int16, float16, bool_}) {
      if (!is_floating(d) && n > 1025) continue;
      INFO(name_of(d));
      const Tensor of_dtype = x.nan_to_num().to(d), here = is_floating(d) ? x.to(d) : of_dtype;
      CHECK(same_pair(sort(here.to(kCuda)), sort(here)));
      CHECK(same_pair(sort(here.to(kCuda), 1, true), sort(here, 1, true)));
    }
    CHECK(same_pair(median(x.to(kCuda), 1), median(x, 1)));
    CHECK(same_pair(kthvalue(x.to(kCuda), (n + 2) / 3, 1), kthvalue(x, (n + 2) / 3, 1)));
    CHECK(same_pair(topk(x.t().to(kCuda), (n + 2) / 3, 0), topk(x.t(), (n + 2) / 3, 0)));
  }
}

TEST_CASE("long lines run on cuda to what they run to on the cpu", "[cuda]") {
  manual_seed(9);
  for (const std::int64_t n : {1, 33, 255, 1027, 9000}) {
    INFO("entries: " << n);
    const Tensor x = randn({2, n}, kHere), whole = randint(-9, 9, {2, n}, kHere);
    CHECK(cumsum(x.to(kCuda), 1).cpu().allclose(cumsum(x, 1), 1e-6, 1e-6));
    CHECK(cumsum(x.t().to(kCuda), 0).cpu().allclose(cumsum(x.t(), 0), 1e-6, 1e-6));
    CHECK(cumsum(whole.to(kCuda), 1).cpu().equal(cumsum(whole, 1)));
    CHECK(cumsum(whole.to(int8).to(kCuda), 1).cpu().equal(cumsum(whole.to(int8), 1)));
    CHECK(cumprod(x.to(kCuda), 1).cpu().allclose(cumprod(x, 1), 1e-5));
    CHECK(logcumsumexp(x.to(kCuda), 1).cpu().allclose(logcumsumexp(x, 1), 1e-6, 1e-6));
    CHECK(same_pair(cummax(whole.to(kCuda), 1), cummax(whole, 1)));
    CHECK(same_pair(cummin(x.to(kCuda), 1), cummin(x, 1)));
  }
}

TEST_CASE("a product that is 0 stays 0 on cuda, however large what follows", "[cuda]") {
  Tensor x = full({6000}, 1e5, kHere);
  x.select(0, 0).zero_();
  const Tensor running = cumprod(x.to(kCuda), 0).cpu();
  CHECK(running.equal(zeros({6000}, kHere)));

  x.select(0, 5000).fill_(std::numeric_limits<double>::infinity());
  const Tensor spoiled = cumprod(x.to(kCuda), 0).cpu();
  CHECK(spoiled.select(0, 4999).item<double>() == 0);
  CHECK(std::isnan(spoiled.select(0, 5999).item<double>()));
}

TEST_CASE("from the first NaN of a long line on the latest NaN is the extreme on cuda", "[cuda]") {
  Tensor x = arange(6000, kHere).to(float32);
  x.select(0, 3000).fill_(kNan);
  x.select(0, 4000).fill_(kNan);
  CHECK(same_pair(cummax(x.to(kCuda), 0), cummax(x, 0)));
  CHECK(same_pair(cummin(x.to(kCuda), 0), cummin(x, 0)));
}
