#include <string>

#include "cpu/onednn.h"
#include "support/catch.h"

namespace {

struct Key {
  int number;
  bool operator==(const Key&) const = default;
  std::size_t hash() const { return static_cast<std::size_t>(number % 2); }  // collides on purpose
};

}  // namespace

TEST_CASE("RecentlyUsed makes a value once, and drops the one used longest ago when it is full") {
  taper::cpu_kernels::onednn::RecentlyUsed<Key, std::string> cache(3);
  int made = 0;
  const auto get = [&](int n) { return cache.get(Key{n}, [&] { return ++made, std::to_string(n); }); };

  CHECK(get(1) == "1");
  CHECK(get(2) == "2");
  CHECK(get(3) == "3");
  CHECK(get(1) == "1");
  CHECK(made == 3);

  CHECK(get(4) == "4");  // 2 goes
  CHECK(cache.size() == 3);
  CHECK(get(1) == "1");
  CHECK(get(3) == "3");
  CHECK(made == 4);
  CHECK(get(2) == "2");
  CHECK(made == 5);
}

TEST_CASE("RecentlyUsed keeps nothing of a value whose making failed") {
  taper::cpu_kernels::onednn::RecentlyUsed<Key, int> cache(2);
  CHECK_THROWS_AS(cache.get(Key{1}, []() -> int { throw 7; }), int);
  CHECK(cache.size() == 0);
  CHECK(cache.get(Key{1}, [] { return 5; }) == 5);
}
