#pragma once
// Programs: what is run through Taper and through the reference.
#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

using Ints = std::vector<std::int64_t>;

enum class Do : std::uint8_t {
  leaf,            // out = tensor(numbers, sizes), flag: requires grad
  unary,           // out = op(in), numbers: {c} where op takes a number
  binary,          // out = op(in, in)
  clone,           // out = in.clone()
  sum,             // out = in.sum()
  sum_dim,         // out = in.sum({ints[0]})
  mean_dim,        // out = in.mean({ints[0]})
  matmul,          // out = in.matmul(in)
  cat,             // out = cat({in, in}, ints[0])
  where,           // out = where(mask, in, in), ints: the mask
  take,            // out = in.index({positions}), ints: the positions
  function,        // out = a user's function of in: scale, square, same; with an underscore those that write to in
  unary_,          // in.op_()
  binary_,         // in.op_(in)
  copy_,           // in.copy_(in)
  fill_,           // in.fill_(numbers[0])
  fill_tensor_,    // in.fill_(in), of no dims
  zero_,           // in.zero_()
  reshape_,        // in.op_(ints): transpose_, squeeze_, unsqueeze_
  assign,          // in.index_put_(entries, in or numbers[0])
  masked_fill_,    // in.masked_fill_(mask, in or numbers[0]), ints: the mask
  view_select,     // out = in.select(ints[0], ints[1])
  view_slice,      // out = in.slice(ints: dim, start, end, step)
  view_transpose,  // out = in.transpose(ints)
  view_diagonal,   // out = in.diagonal(ints: offset, dim1, dim2)
  view_strided,    // out = in.as_strided(sizes, strides, ints[0])
  view_expand,     // out = in.expand(sizes)
  view_unsqueeze,  // out = in.unsqueeze(ints[0])
  view_squeeze,    // out = in.squeeze(ints[0])
  view_reshape,    // out = in.view(sizes)
  view_unfold,     // out = in.unfold(ints: dim, size, step)
  unbind,          // out... = in.unbind(ints[0])
  split,           // out... = in.split(ints: size, dim)
  chunk,           // out... = in.chunk(ints: chunks, dim)
  detach,          // out = in.detach()
  detach_,         // in.detach_()
  requires_grad_,  // in.requires_grad_(flag)
  set_data,        // in.set_data(in)
  retain_grad,     // in.retain_grad()
  grad_of,         // out = in.grad()
  zero_grad,       // in.zero_grad()
  no_grad,         // recording off ...
  inference,       // inference mode ...
  end,             // ... until here
  backward,        // in[0].backward(numbers, flag: retain, flag2: create, inputs: in[1...])
  grad,            // out = grad({in[0]}, {in[1...]}, numbers, flag: retain, flag2: create)
};

/// One entry of an index in Do::assign.
struct IndexEntry {
  enum class Kind : std::uint8_t { integer, slice, list, mask } kind = Kind::integer;
  Ints ints;  // the integer; start, stop, step; the positions; the mask
};

struct Step {
  Do what = Do::leaf;
  std::string op;
  std::vector<int> in, out;  // variables
  Ints ints, sizes, strides;
  std::vector<double> numbers;
  std::vector<IndexEntry> entries;
  bool flag = false, flag2 = false;
};

using Program = std::vector<Step>;

/// As a line of C++ with Taper's names.
std::string to_string(const Step& s);
std::string to_string(const Program& p);

/// What a program may not do, as bits: several reasons can hold at once.
enum Refusal : unsigned {
  kOverlap = 1,       // writes to a tensor that shows one location twice
  kLeaf = 2,          // writes to a leaf, or to a view of one
  kNoGradView = 4,    // writes to a view made without recording, or asks for its history after a write
  kSeveral = 8,       // the same for one of several results of one call
  kConflict = 16,     // backward needs a value that was overwritten
  kFreed = 32,        // backward needs a value that an earlier pass freed
  kNoHistory = 64,    // backward of something that requires no grad
  kNotLeaf = 128,     // requires_grad_(false) on a result
  kView = 256,        // detach_() on a view
  kMoved = 512,       // a gradient arrives for a leaf that became a result
  kReshaped = 1024,   // a gradient arrives for a leaf that set_data() gave another shape
  kFrozen = 2048,     // set_data() on the result of detach()
  kInference = 4096,  // an inference tensor where it may not be
  kOutside = 8192,    // writes to a view that reaches outside the tensor it views
  kShared = 16384,    // writes to memory that set_data() made that of two tensors
  kSecret = 32768,    // a user's function writes to its argument and does not say so
  kOther = 65536      // anything else: never expected
};
std::string reasons(unsigned refusals);

}  // namespace fuzz
