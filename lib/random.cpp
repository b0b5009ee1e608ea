#include <taper/new_tensor_hook.h>
#include <taper/random.h>

#include <thread>

namespace taper {

/// Held for a few instructions: waiting spins.
class Generator::Lock {
 public:
  explicit Lock(std::atomic_flag& busy) : busy_(busy) {
    while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Lock() { busy_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& busy_;
};

void Generator::manual_seed(std::uint64_t seed) noexcept {
  const Lock lock(busy_);
  seed_ = seed;
  stream_ = 0;
}

RandomStream Generator::next() noexcept {
  RandomStream drawn;
  {
    const Lock lock(busy_);
    drawn = {seed_, stream_++};
  }
  if (ExcludedKeys::watching()) [[unlikely]]
    detail::draw_hook(drawn);
  return drawn;
}

RandomStream Generator::state() const noexcept {
  const Lock lock(busy_);
  return {seed_, stream_};
}

void Generator::set_state(RandomStream state) {
  check<ValueError>(state.stream >> 63 == 0, "Generator: stream ", state.stream,
                    " does not exist, they are counted from 0 to 2^63 - 1; pass what state() returned");
  const Lock lock(busy_);
  seed_ = state.seed;
  stream_ = state.stream;
}

namespace {
constinit thread_local Generator* generator_of_thread = nullptr;
}  // namespace

Generator& default_generator() noexcept {
  static Generator generator;
  return generator_of_thread ? *generator_of_thread : generator;
}

DefaultGeneratorGuard::DefaultGeneratorGuard(Generator& generator) noexcept
    : before_(std::exchange(generator_of_thread, &generator)) {}
DefaultGeneratorGuard::~DefaultGeneratorGuard() { generator_of_thread = before_; }

void manual_seed(std::uint64_t seed) noexcept { default_generator().manual_seed(seed); }

}  // namespace taper
