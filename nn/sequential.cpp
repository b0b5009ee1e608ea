#include <taper/nn/sequential.h>

namespace taper::nn {

Module& Sequential::operator[](std::size_t i) const {
  check<IndexError>(i < children_.size(), "Sequential: there is no module ", i, " among ", children_.size());
  return *children_[i].module;
}

void Sequential::raise_other_type(std::size_t i) const {
  raise<ValueError>("Sequential: module ", i, " is a ", (*this)[i].type_name());
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const Child& child : children_) y = (*child.module)(y);
  return y;
}

void Sequential::members(MemberVisitor& v) {
  for (std::size_t i = 0; i < children_.size(); ++i)
    v.module(std::to_string(i), *children_[i].module, children_[i].assign);
}

Sequential Sequential::clone() const {
  Sequential copy;
  for (const Child& child : children_) copy.children_.push_back({child.copy(*child.module), child.copy, child.assign});
  // What two children share stays shared.
  detail::copy_members(*this, copy, true);
  return copy;
}

}  // namespace taper::nn
