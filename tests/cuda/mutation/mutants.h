#pragma once
// What tests/cuda/mutate writes into the copies of the kernels: every place that can be broken asks here whether it is
// the one that is broken now. Included before everything else in each .cu file.
#include <cuda_runtime.h>

#include <type_traits>

extern "C" {
/// The number of the mutant that is on; 0: none. -1: note which ones would make a difference.
extern __attribute__((visibility("hidden"))) int taper_mutant_on;
void taper_mutant_note(int number);
}

namespace mutant {

#define TAPER_MUTANT_INLINE inline __attribute__((always_inline))

// Read past the instrumentation, which would take it for a kernel that reads the host's memory. It never changes.
TAPER_MUTANT_INLINE int on() {
  int number;
  asm("movl taper_mutant_on(%%rip), %0" : "=r"(number));
  return number;
}
/// Whether mutant `number` is on; called only where it makes a difference.
TAPER_MUTANT_INLINE bool hit(int number) {
  const int now = on();
  if (__builtin_expect(now < 0, 0)) taper_mutant_note(number);
  return now == number;
}

// A condition that is left out.
TAPER_MUTANT_INLINE bool yes(int number, bool condition) { return condition || hit(number); }
TAPER_MUTANT_INLINE bool no(int number, bool condition) { return condition && !hit(number); }

// min(a, b) and max(a, b) without b.
template <class A, class B>
TAPER_MUTANT_INLINE auto least(int number, A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(b) < T(a) && !hit(number) ? T(b) : T(a);
}
template <class A, class B>
TAPER_MUTANT_INLINE auto most(int number, A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(b) > T(a) && !hit(number) ? T(b) : T(a);
}

// a < b with the equality turned over: `a < less(1) > b`; the others likewise.
struct Less {
  int number;
};
struct Greater {
  int number;
};
struct AtMost {
  int number;
};
struct AtLeast {
  int number;
};
template <class A, class Kind>
struct Left {
  A a;
  int number;
};
template <class A>
TAPER_MUTANT_INLINE Left<A, Less> operator<(A a, Less kind) {
  return {a, kind.number};
}
template <class A>
TAPER_MUTANT_INLINE Left<A, Greater> operator>(A a, Greater kind) {
  return {a, kind.number};
}
template <class A>
TAPER_MUTANT_INLINE Left<A, AtMost> operator<=(A a, AtMost kind) {
  return {a, kind.number};
}
template <class A>
TAPER_MUTANT_INLINE Left<A, AtLeast> operator>=(A a, AtLeast kind) {
  return {a, kind.number};
}
template <class A, class B>
TAPER_MUTANT_INLINE bool operator>(Left<A, Less> left, B b) {
  return left.a < b || (left.a == b && hit(left.number));
}
template <class A, class B>
TAPER_MUTANT_INLINE bool operator<(Left<A, Greater> left, B b) {
  return left.a > b || (left.a == b && hit(left.number));
}
template <class A, class B>
TAPER_MUTANT_INLINE bool operator>=(Left<A, AtMost> left, B b) {
  return left.a < b || (left.a == b && !hit(left.number));
}
template <class A, class B>
TAPER_MUTANT_INLINE bool operator<=(Left<A, AtLeast> left, B b) {
  return left.a > b || (left.a == b && !hit(left.number));
}

// Atomics as a plain read and a plain write, which the emulator sees as such.
template <class T, class F>
TAPER_MUTANT_INLINE T plainly(T* p, F f) {
  const T old = *p;
  *p = f(old);
  return old;
}
#define TAPER_MUTANT_ATOMIC(name, value)                                    \
  template <class T>                                                        \
  TAPER_MUTANT_INLINE T name(int number, T* p, std::type_identity_t<T> v) { \
    if (hit(number)) return plainly(p, [v](T old) { return T(value); });    \
    return ::name(p, v);                                                    \
  }
TAPER_MUTANT_ATOMIC(atomicAdd, old + v)
TAPER_MUTANT_ATOMIC(atomicSub, old - v)
TAPER_MUTANT_ATOMIC(atomicMax, old < v ? v : old)
TAPER_MUTANT_ATOMIC(atomicMin, v < old ? v : old)
TAPER_MUTANT_ATOMIC(atomicExch, ((void)old, v))
TAPER_MUTANT_ATOMIC(atomicOr, old | v)
TAPER_MUTANT_ATOMIC(atomicAnd, old& v)

}  // namespace mutant
