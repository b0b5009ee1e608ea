#pragma once
// Random numbers: tensors of them, and the generator they are counted by. Element i (in row-major order) of a call
// depends on (seed, stream, i) alone, see <taper/philox.h>: the shape, the layout in memory, the number of threads and
// the device change nothing, and float64 numbers are the float32 ones with more digits.
#include <taper/factory.h>
#include <taper/ops/declare.h>
#include <taper/random_stream.h>

#include <atomic>

namespace taper {

/// Counts calls: each one that draws random numbers takes the next stream of the seed. Safe to use from several
/// threads.
class Generator {
 public:
  /// Seed of a generator that nobody has seeded: programs are reproducible unless they choose otherwise.
  static constexpr std::uint64_t kDefaultSeed = 0;

  explicit Generator(std::uint64_t seed = kDefaultSeed) noexcept : seed_(seed) {}
  /// A generator that goes on from where the other stands.
  Generator(const Generator& other) { set_state(other.state()); }
  Generator& operator=(const Generator& other) {
    set_state(other.state());
    return *this;
  }

  /// Starts over with this seed, at stream 0.
  void manual_seed(std::uint64_t seed) noexcept;
  std::uint64_t seed() const noexcept { return state().seed; }
  /// The stream of the next call; the one after that takes another.
  RandomStream next() noexcept;

  /// Seed and next stream: everything a checkpoint needs.
  RandomStream state() const noexcept;
  /// Throws ValueError if state.stream is 2^63 or more.
  void set_state(RandomStream state);

 private:
  class Lock;
  mutable std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::uint64_t seed_ = kDefaultSeed, stream_ = 0;
};

/// The generator of every call that is not given one.
Generator& default_generator() noexcept;
/// While one exists, default_generator() is another on this thread: how a computation is run a second time with the
/// same random numbers, unseen by anybody else.
class DefaultGeneratorGuard {
 public:
  explicit DefaultGeneratorGuard(Generator& generator) noexcept;
  ~DefaultGeneratorGuard();
  DefaultGeneratorGuard(const DefaultGeneratorGuard&) = delete;
  DefaultGeneratorGuard& operator=(const DefaultGeneratorGuard&) = delete;

 private:
  Generator* before_;
};
/// Seeds default_generator().
void manual_seed(std::uint64_t seed) noexcept;

/// Uniform in [0, 1); any floating dtype.
Tensor rand(IntSpan sizes, const TensorOptions& options = {}, Generator& generator = default_generator());
/// Normal with mean 0 and deviation 1; any floating dtype.
Tensor randn(IntSpan sizes, const TensorOptions& options = {}, Generator& generator = default_generator());
/// Integers in [low, high), int64 unless another dtype is asked for, which must hold them exactly.
Tensor randint(std::int64_t low, std::int64_t high, IntSpan sizes, const TensorOptions& options = {},
               Generator& generator = default_generator());
/// Integers in [0, high).
Tensor randint(std::int64_t high, IntSpan sizes, const TensorOptions& options = {},
               Generator& generator = default_generator());
/// 0 ... n - 1 in random order, int64 unless another dtype is asked for.
Tensor randperm(std::int64_t n, const TensorOptions& options = {}, Generator& generator = default_generator());
inline Tensor rand(IntSpan sizes, DType dtype) { return rand(sizes, TensorOptions{.dtype = dtype}); }
inline Tensor randn(IntSpan sizes, DType dtype) { return randn(sizes, TensorOptions{.dtype = dtype}); }
/// As rand, with t's shape, dtype, device and order of dimensions; without history.
Tensor rand_like(const Tensor& t, std::optional<DType> dtype = {}, Generator& generator = default_generator());
Tensor randn_like(const Tensor& t, std::optional<DType> dtype = {}, Generator& generator = default_generator());
Tensor randint_like(const Tensor& t, std::int64_t low, std::int64_t high, std::optional<DType> dtype = {},
                    Generator& generator = default_generator());
/// 1 with the probability that is p's element, else 0, in p's floating dtype. Throws ValueError if one is
/// outside [0, 1].
Tensor bernoulli(const Tensor& p, Generator& generator = default_generator());
/// Normal, of these means and standard deviations, which broadcast; any floating dtype. Their gradients pass.
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator = default_generator());
Tensor normal(const Tensor& mean, double std = 1, Generator& generator = default_generator());
/// num_samples positions for each row (or for the vector) of p, drawn with the probabilities p / sum(p): different ones
/// unless `replacement`. int64. Throws ValueError if an element is negative or not finite, or if fewer elements than
/// are drawn are above 0.
Tensor multinomial(const Tensor& p, std::int64_t num_samples, bool replacement = false,
                   Generator& generator = default_generator());

// Forms that write into `out`, of its dtype and resized if it has no elements.
Tensor& rand_out(Tensor& out, IntSpan sizes, Generator& generator = default_generator());
Tensor& randn_out(Tensor& out, IntSpan sizes, Generator& generator = default_generator());
Tensor& randint_out(Tensor& out, std::int64_t high, IntSpan sizes, Generator& generator = default_generator());
Tensor& randint_out(Tensor& out, std::int64_t low, std::int64_t high, IntSpan sizes,
                    Generator& generator = default_generator());
Tensor& randperm_out(Tensor& out, std::int64_t n, Generator& generator = default_generator());
Tensor& bernoulli_out(Tensor& out, const Tensor& p, Generator& generator = default_generator());
Tensor& multinomial_out(Tensor& out, const Tensor& p, std::int64_t num_samples, bool replacement = false,
                        Generator& generator = default_generator());

// Overwriting a tensor. These are the methods of the same names, with a generator to choose. What they write has no
// gradient: that of the old values is 0.

/// Uniform in [from, to).
Tensor& uniform_(Tensor& self, double from = 0, double to = 1, Generator& generator = default_generator());
/// Normal with this mean and standard deviation.
Tensor& normal_(Tensor& self, double mean = 0, double std = 1, Generator& generator = default_generator());
/// 1 with probability p (to 2^-33), else 0; any dtype.
Tensor& bernoulli_(Tensor& self, double p = 0.5, Generator& generator = default_generator());
/// Integers in [from, to), which self's dtype must hold exactly; any dtype.
Tensor& random_(Tensor& self, std::int64_t from, std::int64_t to, Generator& generator = default_generator());
/// Exponential with rate lambd: density lambd exp(-lambd x).
Tensor& exponential_(Tensor& self, double lambd = 1, Generator& generator = default_generator());
/// exp of a normal number with this mean and standard deviation.
Tensor& log_normal_(Tensor& self, double mean = 1, double std = 2, Generator& generator = default_generator());
/// Cauchy: density sigma / (pi ((x - median)^2 + sigma^2)).
Tensor& cauchy_(Tensor& self, double median = 0, double sigma = 1, Generator& generator = default_generator());
/// The number of trials, each successful with probability p, up to the first success: 1, 2, ...; floating dtypes.
Tensor& geometric_(Tensor& self, double p, Generator& generator = default_generator());

namespace ops {
// Each takes the tensor whose shape and dtype the result has, and whose old values do not matter.
extern StructuredOp<Tensor(Tensor, double, double, RandomStream)> uniform, normal;
extern StructuredOp<Tensor(Tensor, double, RandomStream)> bernoulli_fill, exponential;
extern StructuredOp<Tensor(Tensor, std::int64_t, std::int64_t, RandomStream)> random;
/// Of one int64 dimension: a permutation of its indices.
extern StructuredOp<Tensor(Tensor, RandomStream)> permutation;
/// Takes the probabilities.
extern StructuredOp<Tensor(Tensor, RandomStream)> bernoulli;
}  // namespace ops

}  // namespace taper
