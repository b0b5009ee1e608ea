// Ownership, handles, metadata: what a tensor is.
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/parallel.h>
#include <taper/tensor.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {
/// Counts its objects' constructions and what becomes of their resources.
struct Probe final : RefCounted {
  explicit Probe(int* freed) : freed_(freed) {}
  ~Probe() override { ++*freed_; }
  void release_resources() noexcept override { released = true; }
  int* freed_;
  static inline bool released = false;
};
struct Selfish final : RefCounted {
  Selfish() {
    retain();
    retain_weak();
    made = this;
  }
  static inline Selfish* made = nullptr;
};
/// Counts what tensors ask for.
struct CountingAllocator final : Allocator {
  DataPtr allocate(std::size_t bytes) override {
    ++requests;
    return cpu_default->allocate(bytes);
  }
  const char* name() const noexcept override { return "counting"; }
  Allocator* cpu_default = &cpu_allocator();
  int requests = 0;
};
}  // namespace

TEST_CASE("a handle is one pointer and copies share the tensor", "[S1][S2]") {
  STATIC_REQUIRE(sizeof(Tensor) == sizeof(void*));
  const Tensor a = zeros({2, 3});
  const auto before = live_tensors();
  std::vector<Tensor> copies(1000, a);
  CHECK(live_tensors() == before);
  CHECK(a.use_count() == 1001);

  copies.clear();
  Tensor b = a;
  CHECK(b.is_same(a));
  CHECK(a.use_count() == 2);
  b = Tensor();
  CHECK(a.use_count() == 1);
}

TEST_CASE("metadata changed through one handle is seen through the other", "[S2]") {
  Tensor a = zeros({2, 3});
  const Tensor b = a;
  a.t_();
  CHECK(b.sizes() == IntSpan{3, 2});
}

TEST_CASE("counts start at zero, adoption sets both to one, a weak handle outlives the resources", "[S3][S4]") {
  int freed = 0;
  Probe* raw = new Probe(&freed);
  CHECK(raw->use_count() == 0);
  CHECK(raw->weak_use_count() == 0);
  raw->adopt();
  auto p = IntrusivePtr<Probe>::take(raw);
  CHECK(p->use_count() == 1);
  CHECK(p->weak_use_count() == 1);
  STATIC_REQUIRE(sizeof(p) == 8);

  WeakPtr<Probe> weak(p);
  CHECK(weak.lock() == p);
  Probe::released = false;
  p = nullptr;
  CHECK(Probe::released);
  CHECK(freed == 0);
  CHECK_FALSE(weak.lock());
  weak = {};
  CHECK(freed == 1);
}

TEST_CASE("an owning pointer made inside a constructor is refused, with the counts it found", "[S5][S170]") {
  auto text = message_of<Error>([] { make_intrusive<Selfish>(); });
  CHECK(contains(text, "constructor"));
  CHECK(contains(text, "1 strong, 1 weak"));
  Selfish::made->release();  // nobody else can
}

TEST_CASE("a null impl is refused", "[S7]") {
  CHECK(contains(message_of<ValueError>([] { Tensor t(IntrusivePtr<TensorImpl>{}); }), "null"));
}

TEST_CASE("an undefined tensor costs nothing and every operation on it says so", "[S8][P7]") {
  const auto before = live_tensors();
  const Tensor none, other;
  CHECK_FALSE(none.defined());
  CHECK(none.is_same(other));
  CHECK(live_tensors() == before);
  CHECK(contains(message_of<ValueError>([&] { (void)none.sizes(); }), "undefined"));
  const Tensor a = ones({2});
  const auto text = message_of<ValueError>([&] { (void)a.add(none); });
  CHECK(contains(text, "add"));
  CHECK(contains(text, "'other'"));
}

TEST_CASE("counts are exact when eight threads copy one handle", "[S9]") {
  const Tensor a = zeros({1});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&a] {
      for (int k = 0; k < 100000; ++k) {
        Tensor copy = a;
        (void)copy;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(a.use_count() == 1);
}

TEST_CASE("a view is a new tensor over the same storage", "[S11][S12]") {
  const Tensor x = arange(6);
  CHECK(x.storage()->use_count() == 1);
  const Tensor v = x.view({2, 3});
  CHECK_FALSE(v.is_same(x));
  CHECK(v.is_alias_of(x));
  CHECK(x.storage()->use_count() == 2);
}

TEST_CASE("a storage lives until the last tensor that shows it dies", "[S13]") {
  const auto before = live_storages();
  Tensor x = arange(6);
  Tensor y = x.view(-1);
  x = Tensor();
  CHECK(values(y) == Values{0, 1, 2, 3, 4, 5});
  CHECK(live_storages() == before + 1);
  y = Tensor();
  CHECK(live_storages() == before);
}

TEST_CASE("a tensor and a storage stay small", "[S15]") {
  STATIC_REQUIRE(sizeof(TensorImpl) <= 192);
  STATIC_REQUIRE(sizeof(StorageImpl) <= 96);
}

TEST_CASE("dimension names are kept in a block of their own", "[S17]") {
  Tensor t = zeros({2, 3});
  CHECK(t.impl()->extra_meta() == nullptr);
  CHECK(t.names() == std::vector<std::string>{"", ""});
  t.set_names({"batch", ""});
  CHECK(t.impl()->extra_meta() != nullptr);
  CHECK(t.names()[0] == "batch");
  std::string s;
  append_to(s, t);
  CHECK(s == "float32[batch: 2, 3] on cpu");
  CHECK_THROWS_AS(t.set_names({"one"}), ShapeError);
}

TEST_CASE("describe shows every field", "[S18][S164]") {
  const std::string s = describe(zeros({2, 3}));
  for (const char* part :
       {"float32[2, 3] on cpu", "strides [3, 1]", "offset 0", "numel 6", "contiguous", "data 0x", "storage 0x",
        "24 bytes", "version 0", "keys {CPU}", "autograd meta none", "extra meta none"})
    CHECK(contains(s, part));
  CHECK(describe(Tensor()) == "undefined");
}

TEST_CASE("storage sizes are bytes and one-dimensional", "[S19][S20][S47]") {
  CHECK(zeros({2, 3}).storage()->bytes() == 24);
  CHECK(zeros({2, 3}, float64).storage()->bytes() == 48);
  CHECK(zeros({2, 3, 4}).storage()->bytes() == 96);
  CHECK(zeros({3}, bool_).storage()->bytes() == 3);
  CHECK(zeros({1000, 1000}).nbytes() == 4000000);
}

TEST_CASE("a tensor holds the address of its data, not the data", "[S22][S23]") {
  const Tensor x = arange(5, {.dtype = float32});
  CHECK(x.data_ptr() == x.storage()->data());
  CHECK(x.data_ptr() != static_cast<const void*>(&x));
  CHECK(x.data_ptr() != static_cast<const void*>(x.impl()));
  const Tensor tail = x.slice(0, 1);
  CHECK(static_cast<const char*>(tail.data_ptr()) - static_cast<const char*>(x.data_ptr()) == 4);
  CHECK(tail.is_alias_of(x));
}

TEST_CASE("external memory is wrapped without a copy and given back once", "[S24][S28]") {
  float memory[6] = {1, 2, 3, 4, 5, 6};
  int freed = 0;
  void* seen = nullptr;
  {
    Tensor t = from_blob(memory, {2, 3}, [&](void* p) { ++freed, seen = p; });
    CHECK(t.data_ptr() == static_cast<void*>(memory));
    memory[4] = 50;
    CHECK(t[1][1].item<float>() == 50);
    t.mutable_data<float>()[0] = -1;
    CHECK(memory[0] == -1);
    const Tensor view = t.select(0, 1);
    t = Tensor();
    CHECK(freed == 0);
  }
  CHECK(freed == 1);
  CHECK(seen == memory);

  const Tensor columns = from_blob(memory, {3, 2}, {1, 3}, {});
  CHECK(values(columns) == Values{-1, 4, 2, 50, 3, 6});
}

TEST_CASE("the deleter runs once also when wrapping fails", "[S24]") {
  float memory[2] = {};
  int freed = 0;
  CHECK_THROWS_AS(from_blob(memory, {2, -1}, [&](void*) { ++freed; }), ValueError);
  CHECK(freed == 1);
}

TEST_CASE("memory is taken over from vectors and shown from spans", "[S29]") {
  std::vector<float> v{1, 2, 3, 4};
  const float* where = v.data();
  const Tensor t = from_vector(std::move(v), IntVec{2, 2});
  CHECK(t.data<float>() == where);
  CHECK(t.sizes() == IntSpan{2, 2});
  CHECK_THROWS_AS(from_vector(std::vector<float>{1, 2, 3}, IntVec{2, 2}), ShapeError);

  std::vector<std::int64_t> kept{7, 8};
  const Tensor s = from_span(std::span(kept));
  CHECK(s.dtype() == int64);
  kept[1] = 9;
  CHECK(values(s) == Values{7, 9});
}

TEST_CASE("a user's allocator serves every new tensor and no view", "[S26][S31]") {
  CountingAllocator counting;
  Allocator* before = set_cpu_allocator(&counting);
  Tensor x = empty({10});
  CHECK(counting.requests == 1);
  CHECK(std::string(x.storage()->allocator()->name()) == "counting");
  for (int i = 0; i < 1000; ++i) (void)x.view({2, 5});
  CHECK(counting.requests == 1);
  set_cpu_allocator(before);
}

TEST_CASE("storage grows by resize_ only where it is the library's own", "[S27]") {
  Tensor t = tensor({1.0, 2.0, 3.0, 4.0});
  CHECK(t.storage()->bytes() == 16);
  t.resize_({2, 3});
  CHECK(t.storage()->bytes() == 24);
  CHECK(t.slice(1, 0, 3)[0].to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(t[1][0].item<float>() == 4);

  float memory[4] = {1, 2, 3, 4};
  Tensor blob = from_blob(memory, {4});
  CHECK_THROWS_AS(blob.resize_({2, 3}), Error);
  CHECK(blob.sizes() == IntSpan{4});
}

TEST_CASE("addresses are multiples of 64 whatever the size", "[S30][S162]") {
  for (std::int64_t n = 1; n < 300; ++n)
    CHECK(reinterpret_cast<std::uintptr_t>(empty({n}, uint8).data_ptr()) % 64 == 0);
}

TEST_CASE("empty_strided reaches just to the last element", "[S34]") {
  const Tensor t = empty_strided({2, 3}, {1, 2});
  CHECK(t.strides() == IntSpan{1, 2});
  CHECK(t.storage()->bytes() == 24);
  CHECK(empty_strided({2, 3}, {10, 1}).storage()->bytes() == 13 * 4);
  CHECK(empty_strided({0, 3}, {10, 1}).storage()->bytes() == 0);
  CHECK_THROWS_AS(empty_strided({2, 3}, {1, -1}), ValueError);
  CHECK_THROWS_AS(empty_strided({2, 3}, {1}), ShapeError);
}

TEST_CASE("literals give dtype and shape", "[S35]") {
  CHECK(tensor({1, 2, 3}).dtype() == int64);
  CHECK(tensor({1.0, 2.0}).dtype() == float32);
  CHECK(tensor({true}).dtype() == bool_);
  CHECK(tensor({1, 2.5}).dtype() == float32);
  CHECK(tensor({1, 2}, float64).dtype() == float64);
  const Tensor m = tensor({{1, 2}, {3, 4}});
  CHECK(m.sizes() == IntSpan{2, 2});
  CHECK(values(m) == Values{1, 2, 3, 4});
  CHECK(tensor(3.5).dim() == 0);
  CHECK(tensor(3.5).item<double>() == 3.5);
  CHECK_THROWS_AS(tensor({{1, 2}, {3}}), ShapeError);
  CHECK_THROWS_AS(tensor({{1, 2}, 3}), ShapeError);
}

TEST_CASE("strides are row-major and count elements", "[S37][S38]") {
  for (DType d : kAllDTypes) CHECK(empty({2, 3}, d).strides() == IntSpan{3, 1});
  CHECK(empty({2, 3, 4}).strides() == IntSpan{12, 4, 1});
  CHECK(empty(IntSpan{}).strides() == IntSpan{});
  CHECK(empty({0, 3}).strides() == IntSpan{3, 1});
}

TEST_CASE("shapes are inline up to five dimensions and correct beyond", "[S39][S46]") {
  IntVec sizes;
  for (int rank = 0; rank <= 8; ++rank) {
    const Tensor t = zeros(sizes);
    CHECK(t.dim() == rank);
    CHECK(t.sizes() == IntSpan(sizes));
    sizes.push_back(rank % 3 + 1);
  }
  SizesAndStrides a = SizesAndStrides::contiguous({1, 2, 3, 4, 5, 6, 7}), b = a;
  SizesAndStrides c = std::move(a);
  CHECK(b == c);
  c = SizesAndStrides::contiguous({2, 3});
  CHECK(c.strides() == IntSpan{3, 1});
  c = b;
  CHECK(c == b);
}

TEST_CASE("numel is 1 for 0-dim and 0 for empty tensors", "[S40][S50]") {
  CHECK(zeros({2, 3, 4}).numel() == 24);
  CHECK(zeros(IntSpan{}).numel() == 1);
  CHECK(zeros({0, 3}).numel() == 0);
  const Tensor t = zeros({2, 3, 4});
  CHECK(t.dim() == 3);
  CHECK(t.size(-1) == 4);
  CHECK(contains(message_of<IndexError>([&] { (void)t.size(3); }), "out of range"));
}

TEST_CASE("a meta tensor has shape and no data", "[S135][S49]") {
  const Tensor t = empty({70000, 70000}, float32, meta);
  CHECK(t.numel() == 4900000000);
  CHECK(t.data_ptr() == nullptr);
  CHECK((t + 1).device() == meta);
  CHECK(contains(message_of<DeviceError>([&] { (void)empty({1}, float32, meta).item<float>(); }), "no data"));
  CHECK_THROWS_AS(t.data<float>(), DeviceError);
}

TEST_CASE("typed access checks the dtype", "[P10]") {
  Tensor t = zeros({2});
  CHECK_THROWS_AS(t.data<double>(), DTypeError);
  CHECK_THROWS_AS(t.mutable_data<int>(), DTypeError);
  STATIC_REQUIRE(std::is_same_v<decltype(t.data<float>()), const float*>);
  CHECK(t.version() == 0);
  t.mutable_data<float>()[0] = 1;
  CHECK(t.version() == 1);
}

TEST_CASE("impossible sizes are refused before memory is asked for") {
  CHECK_THROWS_AS(empty({-1}), ValueError);
  CHECK_THROWS_AS(empty({std::int64_t(1) << 40, std::int64_t(1) << 40}), ValueError);
  CHECK_THROWS_AS(empty({std::int64_t(1) << 61}, float64), ValueError);
  CHECK_THROWS_AS(empty({std::int64_t(1) << 50}), OutOfMemoryError);
  CHECK(empty({0, std::int64_t(1) << 40, std::int64_t(1) << 40}).numel() == 0);
}

TEST_CASE("devices print, parse and compare", "[S125]") {
  for (const char* text : {"cpu", "meta", "cuda:0", "cuda:3", "extension"}) CHECK(Device(text).str() == text);
  CHECK(Device("cuda") == Device(DeviceType::CUDA));
  for (const char* text : {"gpu", "", "cuda:", "cuda:x", "cuda:-1", "cuda:1000", "cpu:1"})
    CHECK_THROWS_AS(Device(text), DeviceError);
}

TEST_CASE("factories make the values they say") {
  CHECK(values(arange(5)) == Values{0, 1, 2, 3, 4});
  CHECK(arange(5).dtype() == int64);
  CHECK(values(arange(1.0, 2.0, 0.25)) == Values{1, 1.25, 1.5, 1.75});
  CHECK(values(arange(5, 0, -2)) == Values{5, 3, 1});
  CHECK(arange(3, 3).numel() == 0);
  CHECK_THROWS_AS(arange(0, 5, 0), ValueError);
  CHECK_THROWS_AS(arange(0, 5, -1), ValueError);
  CHECK(values(linspace(0, 1, 5)) == Values{0, .25, .5, .75, 1});
  CHECK(values(linspace(3, 9, 1)) == Values{3});
  CHECK(values(eye(2, 3)) == Values{1, 0, 0, 0, 1, 0});
  CHECK(values(full({2}, 7)) == Values{7, 7});
  CHECK(full({2}, 7).dtype() == int64);
  CHECK(full({2}, 7.5).dtype() == float32);
  CHECK(full({2}, true).dtype() == bool_);
  CHECK(zeros_like(empty_strided({2, 3}, {1, 2})).strides() == IntSpan{1, 2});
  CHECK(ones({2}, {.dtype = float64, .requires_grad = true}).requires_grad());
}

TEST_CASE("assignment to a part of a tensor writes into it, and never into nothing") {
  Tensor x = zeros({3});
  x[1] = tensor(5.0);
  CHECK(x.to_vector<float>() == std::vector<float>{0, 5, 0});
  x[0] = 2;
  x.slice(0, 2, 3) = ones({1});
  CHECK(x.to_vector<float>() == std::vector<float>{2, 5, 1});
  x.index({Slice(0, 2)}) = tensor({7.0, 8.0});
  CHECK(x.to_vector<float>() == std::vector<float>{7, 8, 1});
  CHECK_THROWS_AS((x[0] = zeros({2})), ShapeError);
  CHECK_THROWS_AS((x.index({x.gt(2)}) = 0), ValueError);  // a copy, which nobody would see
  CHECK_THROWS_AS((zeros({2}) = ones({2})), ValueError);
  CHECK(x.to_vector<float>() == std::vector<float>{7, 8, 1});

  Tensor w = ones({2});  // with history
  w.requires_grad_();
  Tensor y = w * 1;
  y[0] = w[1] * 3;
  y.sum().backward();
  CHECK(w.grad().to_vector<float>() == std::vector<float>{0, 4});
}

TEST_CASE("numbers that a dtype cannot hold are refused, not wrapped") {
  CHECK_THROWS_AS(full({1}, 300, uint8), ValueError);
  CHECK_THROWS_AS(full({1}, 1e30, int32), ValueError);
  CHECK_THROWS_AS(full({1}, std::nan(""), int64), ValueError);
  CHECK_THROWS_AS(full({1}, 1e300, float32), ValueError);
  CHECK_THROWS_AS(full({1}, std::int64_t(1) << 40, int32), ValueError);
  CHECK_THROWS_AS(full({1}, 0x1p63, int64), ValueError);
  CHECK_THROWS_AS(tensor({1, 300}, uint8), ValueError);
  CHECK_THROWS_AS(tensor({std::int64_t(1) << 40}, int32), ValueError);
  Tensor x = zeros({2}, uint8);
  CHECK_THROWS_AS(x.fill_(300), ValueError);
  CHECK_THROWS_AS(x.fill_(tensor(300)), ValueError);
  CHECK_THROWS_AS(x.masked_fill_(x.eq(0), 300), ValueError);
  CHECK_THROWS_AS(x.masked_fill_(x.eq(0), tensor(-300)), ValueError);
  CHECK(x.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{0, 0});
  CHECK_THROWS_AS(tensor(1e30).item<int>(), ValueError);
  CHECK_THROWS_AS(tensor(300).item<std::uint8_t>(), ValueError);
  CHECK_THROWS_AS(tensor(std::nan("")).item<std::int64_t>(), ValueError);

  CHECK(full({1}, 255.9, uint8).item<int>() == 255);
  CHECK(full({1}, -1, uint8).item<int>() == 255);  // as in PyTorch
  CHECK(full({1}, INFINITY, float32).item<float>() == INFINITY);
  CHECK(std::isnan(full({1}, std::nan(""), float32).item<float>()));
  CHECK(full({1}, -0x1p63, int64).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(full({1}, 3.7, bool_).item<bool>());
  CHECK(full({1}, -2147483648.5, int32).item<int>() == std::numeric_limits<int>::min());
}

TEST_CASE("views cannot have more elements than an int64 counts") {
  const std::int64_t big = std::int64_t(1) << 32;
  const Tensor x = ones({1});
  CHECK_THROWS_AS(x.expand({big, big}), ShapeError);
  CHECK_THROWS_AS(x.as_strided({big, big}, {0, 0}), ShapeError);
  CHECK(x.expand({big, 2}).numel() == 2 * big);
  CHECK(zeros({0, 1}).expand({0, big}).numel() == 0);
}

TEST_CASE("an undefined out and a number of threads that cannot be had are named") {
  Tensor none;
  CHECK(contains(message_of<ValueError>([&] { add_out(none, ones({3}), ones({3})); }), "out is an undefined tensor"));
  CHECK_THROWS_AS(set_num_threads(100000), ValueError);
  CHECK_THROWS_AS(set_num_threads(0), ValueError);
}
