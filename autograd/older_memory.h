#pragma once
#include <taper/operator.h>
#include <taper/philox.h>

#include <vector>

namespace taper {

class CallSite;

/// Memory that was there before a checkpointed function ran. What the function reads of it must be the same when the
/// function is called again, or the tensors that it saves then are others.
///
/// Only what is read before the last tensor is saved makes a difference. Memory that the function itself overwrites
/// before it reads it is as good as its own; what it only adds to, as a counter, may have any value.
class OlderMemory {
 public:
  /// Older than now.
  OlderMemory();
  ~OlderMemory();

  /// Sees what its thread does while it lives.
  class Scope {
   public:
    explicit Scope(OlderMemory& seen_by);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    OlderMemory& seen_by_;
  };

  /// These are checked in another way.
  void leave_out(const TensorList& tensors);
  /// A tensor that the function saves for the backward pass.
  void save(const Tensor& t) {
    read(t, {});
    ++saved_;
  }

  /// Throws InplaceConflictError if what was read has been written to since.
  void check_unchanged() const;
  /// Throws AutogradError if the second call read other memory, unless the first made it to keep it, or drew
  /// other random numbers.
  void check_same(const OlderMemory& second) const;
  /// The second call has overwritten what the first did, to the same end.
  void take_versions(const OlderMemory& second);

  /// How a tensor was read: as an argument of an operator, by item() or the like, or only to be saved.
  struct How {
    const OpEntry* op = nullptr;
    std::size_t argument = 0;
    const char* method = nullptr;
    std::string str() const;
  };
  // Told by Watch:
  void read(const Tensor& t, const How& how);
  void enter(const detail::WatchedCall& call);
  void leave() noexcept;
  void write(const TensorImpl& written, const char* writer);
  void draw(const RandomStream& drawn);

 private:
  static constexpr std::size_t kNever = ~std::size_t(0);
  struct Block {
    std::uint64_t id;
    WeakPtr<StorageImpl> storage;  // whoever the function reads it from keeps it
    std::uint32_t version;         // which it must have before the function is called again
    bool own = false;              // overwritten as a whole before anything was read
    bool of_leaf = false;
    std::size_t read_after = kNever;  // as many tensors were saved when it was first read
    std::uint64_t read_in = 0;        // the number of that call
    How how = {};
    TensorSpec spec = {};
    std::shared_ptr<const CallSite> at = nullptr;  // within DetectAnomaly
  };
  struct Call {
    std::uint64_t number;
    bool out_form;
  };

  Block* find_or_add(const Storage& storage, std::uint32_t version);
  const Block* find(std::uint64_t id) const;
  /// Whether other tensors would be saved if it had changed.
  bool matters(const Block& b) const { return b.read_after < saved_; }

  /// Whether this memory is what the first call made for all calls.
  bool keeps(const Block& b, const OlderMemory& second) const;

  std::vector<Block> blocks_;         // by id
  std::vector<std::uint32_t> trail_;  // the ids of all that was read, old or new, in that order
  std::vector<std::uint64_t> left_out_;
  std::vector<std::pair<std::size_t, RandomStream>> drawn_;  // and how many tensors were saved before
  std::vector<Call> calls_;                                  // in progress, the innermost last
  std::uint64_t last_number_ = 0;
  std::size_t saved_ = 0;
  const std::uint64_t begin_;
  std::uint64_t end_ = 0;
  OlderMemory* outer_ = nullptr;  // sees what this one sees
  bool nested_ = false;
};

}  // namespace taper
