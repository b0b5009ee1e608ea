// Where elements lie, when memory is shared and when it is copied.
#include <taper/allocator.h>
#include <taper/factory.h>
#include <taper/layout_copies.h>
#include <taper/ops/conv.h>
#include <taper/ops/index.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <random>

#include "tests/support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

using Floats = std::vector<float>;

Tensor counted(IntVec sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(n, float32).view(sizes);
}
/// The elements in the order of memory.
Floats in_memory(const Tensor& t) {
  const auto* p = static_cast<const float*>(t.data_ptr());
  return {p, p + t.numel()};
}

struct CountedImpl final : TensorImpl {
  using TensorImpl::TensorImpl;
  IntrusivePtr<TensorImpl> shallow_copy_and_detach(bool) const override { return {}; }
  void shallow_copy_from(const TensorImpl&) override {}
  ~CountedImpl() override { log().push_back('i'); }
  static std::string& log() {
    static std::string text;
    return text;
  }
};

}  // namespace

TEST_CASE("an impl of a class of one's own is made once and released before its memory", "[S6][S14]") {
  std::string& log = CountedImpl::log();
  log.clear();
  float memory[4] = {1, 2, 3, 4};
  Tensor lent = from_blob(DataPtr(memory, nullptr, sizeof memory,
                                  [](void*, void*, std::size_t) noexcept { CountedImpl::log().push_back('d'); }),
                          {4}, {1}, {});
  {
    const Tensor t(make_intrusive<CountedImpl>(lent.storage(), float32, SizesAndStrides::contiguous({4})));
    CHECK(dynamic_cast<CountedImpl*>(t.impl()) != nullptr);
    CHECK(t.use_count() == 1);
    lent = Tensor();
    CHECK(log.empty());
    CHECK(in_memory(t) == Floats{1, 2, 3, 4});
  }
  CHECK(log == "id");
}

TEST_CASE("an element's address follows from offset and strides", "[S36][S43]") {
  std::mt19937 random(1);
  const Tensor x = counted({5, 6, 7});
  for (int trial = 0; trial < 1000; ++trial) {
    Tensor v = x;
    for (int step = 0; step < 3; ++step) {
      const std::int64_t d = std::int64_t(random() % 3), n = v.size(d);
      if (random() % 2 == 0)
        v = v.transpose(d, std::int64_t(random() % 3));
      else if (n > 1)
        v = v.slice(d, std::int64_t(random()) % (n - 1), n, 1 + std::int64_t(random() % 2));
    }
    IntVec at;
    std::int64_t place = v.storage_offset();
    Tensor element = v;
    for (std::int64_t d = 0; d < 3; ++d) {
      at.push_back(std::int64_t(random()) % v.size(d));
      place += at.back() * v.stride(d);
      element = element[at.back()];
    }
    REQUIRE(element.data_ptr() == static_cast<const char*>(x.storage()->data()) + 4 * place);
    REQUIRE(element.item<float>() == float(place));
  }
  CHECK(counted({2, 3})[1][2].item<float>() == 5);
  const Tensor d = counted({3, 4}), e = d.t();
  CHECK(d[1][2].item<float>() == 6);
  CHECK(e.strides() == IntSpan{1, 4});
  CHECK(e[1][2].item<float>() == 9);
}

TEST_CASE("contiguous means row-major, whatever the stride of a size of 1", "[S75]") {
  CHECK(counted({3, 1}).t().is_contiguous());
  CHECK(counted({2, 3}).is_contiguous());
  CHECK_FALSE(counted({2, 3}).t().is_contiguous());
  CHECK_FALSE(counted({4}).slice(0, 0, 4, 2).is_contiguous());
  CHECK(zeros({0, 3}).t().is_contiguous());
  CHECK(counted({}).is_contiguous());
}

TEST_CASE("contiguous() gives itself where that will do, and else a copy that is counted", "[S76][S77][S78]") {
  const Tensor x = counted({2, 3});
  const LayoutCopies before = layout_copies();
  const Tensor same = x.contiguous();
  CHECK(same.is_same(x));
  CHECK(x.use_count() == 2);
  CHECK(layout_copies().count == before.count);

  const Tensor source = x.t(), copy = source.contiguous();
  CHECK(in_memory(copy) == Floats{0, 3, 1, 4, 2, 5});
  CHECK(copy.strides() == IntSpan{2, 1});
  CHECK(source.strides() == IntSpan{1, 3});
  CHECK(counted({3, 4}).t().contiguous().strides() == IntSpan{3, 1});
  CHECK(layout_copies().count == before.count + 2);
  CHECK(layout_copies().bytes == before.bytes + 24 + 48);
}

TEST_CASE("a clone is independent, and copy_ needs no memory", "[S83][S84]") {
  const Tensor x = full({3}, 100.0);
  Tensor z = x.clone();
  z[0] = 200.0;
  CHECK(x.to_vector<float>() == Floats{100, 100, 100});
  CHECK(z.storage() != x.storage());

  const std::int64_t before = memory_stats().allocated_bytes;
  z.copy_(x);
  CHECK(memory_stats().allocated_bytes == before);
  const Tensor other = x.clone();
  CHECK(memory_stats().allocated_bytes == before + 12);
}

TEST_CASE("broadcasting repeats by a stride of 0 and takes no memory", "[S149]") {
  const Tensor x = counted({3});
  const std::int64_t before = memory_stats().allocated_bytes;
  const Tensor wide = x.view({1, 3}).expand({2, 3});
  CHECK(wide.strides() == IntSpan{0, 1});
  CHECK(memory_stats().allocated_bytes == before);
  CHECK((counted({2, 3}) + x).to_vector<float>() == Floats{0, 2, 4, 3, 5, 7});
}

TEST_CASE("tensors are strided, and asking for sparse ones is an error that says so", "[S51]") {
  const Tensor t = ones({2, 3});
  CHECK(t.layout() == Layout::strided);
  CHECK(t.t().layout() == Layout::strided);
  CHECK(zeros({2}, {.layout = Layout::strided}).numel() == 2);
  CHECK_THROWS_WITH(zeros({2}, {.layout = Layout::sparse}), Contains("zeros: there are strided tensors only"));
  CHECK_THROWS_AS(empty({2}, {.layout = Layout::sparse}), NotImplementedError);
  CHECK_THROWS_AS(rand({2}, {.layout = Layout::sparse}), NotImplementedError);
  CHECK_THROWS_WITH(t.to_sparse(), Contains("not supported"));
  CHECK_THROWS_AS(Tensor().layout(), ValueError);
}

TEST_CASE("of what is called layout, the order of the dims changes by permuting", "[S82]") {
  Tensor t = ones({2, 3, 4, 5});
  t.set_names({"n", "c", "h", "w"});
  const Tensor p = t.permute({0, 2, 3, 1});
  CHECK(p.sizes() == IntSpan{2, 4, 5, 3});
  CHECK(t.sizes() == IntSpan{2, 3, 4, 5});
  CHECK(t.names() == std::vector<std::string>{"n", "c", "h", "w"});
}
TEST_CASE("of what is called layout, the memory format leaves the order of the dims", "[S82]") {
  const Tensor t = ones({2, 3, 4, 5}), last = t.contiguous(MemoryFormat::channels_last);
  CHECK(suggested_memory_format(t) == MemoryFormat::contiguous);
  CHECK(suggested_memory_format(last) == MemoryFormat::channels_last);
  CHECK(last.sizes() == t.sizes());
  CHECK(last.strides() != t.strides());
}
TEST_CASE("of what is called layout, the kind of tensor is neither of the others", "[S82]") {
  const Tensor t = ones({2, 3, 4, 5});
  CHECK(t.contiguous(MemoryFormat::channels_last).layout() == t.layout());
  CHECK(t.permute({3, 2, 1, 0}).layout() == t.layout());
}

TEST_CASE("a description of a tensor has its strides", "[P11]") {
  const Tensor x = counted({2, 3}).t();
  CHECK(x.spec().strides() == IntSpan{1, 3});
  CHECK(empty_like(x).strides() == IntSpan{1, 3});
}

TEST_CASE("elementwise results lie in the order of the first operand, without its gaps", "[S87]") {
  const Tensor x = counted({4, 6}).t(), y = counted({4, 6}).t();
  CHECK(where(x.gt(3), x, y).strides() == IntSpan{1, 6});
  CHECK(x.add(y).strides() == IntSpan{1, 6});
  CHECK(x.exp().strides() == IntSpan{1, 6});
  CHECK(x.to(float64).strides() == IntSpan{1, 6});
  CHECK(x.add(counted({6, 4})).strides() == IntSpan{1, 6});
  CHECK(counted({6, 4}).add(x).is_contiguous());
  CHECK(x.slice(0, 0, 6, 2).exp().strides() == IntSpan{1, 3});
}

TEST_CASE("pairs of numbers, as of complex ones, are read by their strides", "[S88]") {
  const Tensor pairs = counted({3, 2});
  const Tensor real = pairs.select(1, 0), imaginary = pairs.select(1, 1);
  CHECK(real.strides() == IntSpan{2});
  CHECK(real.mul(real).add(imaginary.mul(imaginary)).to_vector<float>() == Floats{1, 13, 41});
  CHECK(real.sum().item<float>() == 6);
  CHECK(matmul(real, imaginary).item<float>() == 0 * 1 + 2 * 3 + 4 * 5);
}

TEST_CASE("what kernels need for themselves is given back", "[S163]") {
  if (!memory_is_pooled()) return;
  const Tensor x = ones({2, 8, 16, 16}), w = ones({8, 8, 3, 3});
  static_cast<void>(conv2d(x, w));  // whatever is made once
  const auto before = memory_stats().allocated_bytes;
  const Tensor y = conv2d(x, w);
  CHECK(memory_stats().allocated_bytes - before == std::int64_t(y.nbytes()));
}
