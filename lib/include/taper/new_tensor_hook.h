#pragma once

namespace taper {
class Tensor;
struct RandomStream;

namespace detail {
/// Told of every tensor that a factory, a view operator or detach() makes on a thread that is watched, and who made
/// it, a literal; results of other operators are seen by WatchedCall. Set by the autograd layer before any thread is
/// watched.
extern void (*new_tensor_hook)(const Tensor& t, const char* made_by);
/// Told of every look at a tensor's numbers by the program itself, and how: "item".
extern void (*read_hook)(const Tensor& t, const char* by);
/// Told of every stream of random numbers that a generator gives out.
extern void (*draw_hook)(const RandomStream& drawn) noexcept;
}  // namespace detail

}  // namespace taper
