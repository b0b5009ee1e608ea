#pragma once
#include <taper/autograd/node.h>

#include <memory>
#include <string>

namespace taper {

/// Any number of saved tensors of one node.
class SavedList {
 public:
  explicit SavedList(Node* owner) : owner_(owner) {}
  /// `what` the tensor is, for messages: a literal, or a text that is kept.
  Saved& add(const char* what) { return add(std::make_unique<Entry>(owner_, what)); }
  Saved& add(std::string what) { return add(std::make_unique<Entry>(owner_, std::move(what))); }
  void save(const char* what, const TensorList& tensors) {
    for (const Tensor& t : tensors) add(what) = t;
  }
  std::size_t size() const { return entries_.size(); }
  const Saved& operator[](std::size_t i) const { return entries_[i]->saved; }
  /// Each as Saved::get() gives it.
  TensorList get() const {
    TensorList out;
    for (std::size_t i = 0; i < size(); ++i) out.push_back((*this)[i].get());
    return out;
  }

 private:
  struct Entry {
    Entry(Node* owner, const char* literal) : saved(owner, literal) {}
    Entry(Node* owner, std::string text) : what(std::move(text)), saved(owner, what.c_str()) {}
    std::string what;
    Saved saved;
  };
  Saved& add(std::unique_ptr<Entry> e) {
    entries_.push_back(std::move(e));
    return entries_[size() - 1]->saved;
  }
  Node* owner_;
  SmallVector<std::unique_ptr<Entry>, 2> entries_;
};

}  // namespace taper
