#pragma once
#include <taper/tensor.h>

namespace taper::nn {

namespace detail {
/// What a module can be checked for: the parameters, buffers and modules that exist, by address.
enum class MemberKind : unsigned char { parameter, buffer, module };
void note_member(const void* place, MemberKind kind);
void forget_member(const void* place) noexcept;

/// A Tensor that is a member of a module, known by its place there. Moving a module moves its members and no more.
template <MemberKind kind>
class Member : public Tensor {
 public:
  Member() { note_member(this, kind); }
  Member(const Member&) = delete;
  Member(Member&& o) : Tensor(std::move(static_cast<Tensor&>(o))) { note_member(this, kind); }
  ~Member() { forget_member(this); }

 protected:
  explicit Member(Tensor t) : Tensor(std::move(t)) { note_member(this, kind); }
};
}  // namespace detail

/// A member of a module that is trained. Copying it is left to Module's clone(); assigning another tensor shares it,
/// which is how two layers tie their weights: `decoder.weight = encoder.weight`.
class Parameter : public detail::Member<detail::MemberKind::parameter> {
 public:
  /// Stands for a parameter that is not there, as the bias of a layer without one.
  Parameter() = default;
  /// A new leaf with t's memory.
  explicit Parameter(const Tensor& t, bool requires_grad = true);
  Parameter(Parameter&&) = default;
  Parameter& operator=(const Tensor& t) {
    static_cast<Tensor&>(*this) = t;
    return *this;
  }
  Parameter& operator=(const Parameter& o) { return *this = static_cast<const Tensor&>(o); }
  Parameter& operator=(Parameter&& o) noexcept {
    static_cast<Tensor&>(*this) = std::move(static_cast<Tensor&>(o));
    return *this;
  }
};

/// A member of a module that is saved with it but not trained, such as running statistics.
class Buffer : public detail::Member<detail::MemberKind::buffer> {
 public:
  Buffer() = default;
  explicit Buffer(const Tensor& t) : Member(t) {}
  Buffer(Buffer&&) = default;
  Buffer& operator=(const Tensor& t) {
    static_cast<Tensor&>(*this) = t;
    return *this;
  }
  Buffer& operator=(const Buffer& o) { return *this = static_cast<const Tensor&>(o); }
  Buffer& operator=(Buffer&& o) noexcept {
    static_cast<Tensor&>(*this) = std::move(static_cast<Tensor&>(o));
    return *this;
  }
};

}  // namespace taper::nn
