#pragma once
#include <taper/autograd/node.h>

#include <deque>

namespace taper {

/// Any number of saved tensors of one node.
class SavedList {
 public:
  explicit SavedList(Node* owner) : owner_(owner) {}
  /// `what` the tensor is: for messages.
  Saved& add(std::string what) { return entries_.emplace_back(owner_, std::move(what)).saved; }
  std::size_t size() const { return entries_.size(); }
  const Saved& operator[](std::size_t i) const { return entries_[i].saved; }

 private:
  struct Entry {
    Entry(Node* owner, std::string w) : what(std::move(w)), saved(owner, what.c_str()) {}
    std::string what;
    Saved saved;
  };
  Node* owner_;
  std::deque<Entry> entries_;  // does not move what it holds
};

}  // namespace taper
