// Reading and writing at positions along some dims: x[..., i, j, ...].
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include <cstring>

#include "copy.h"
#include "elements.h"
#include "parallel.h"
#include "strided_rows.h"
#include "widen.h"
#include "written_copy.h"

namespace taper::cpu_kernels {
void install_index();
namespace {

using Places = SmallVector<std::int64_t, 32>;  // offsets in elements

/// A shape with strides as a list of offsets, in row-major order.
Places places_of(const SizesAndStrides& g) {
  Places out;
  out.reserve(std::size_t(g.numel()));
  StridedRows<1>(g.sizes(), {g.strides()}).for_each([&](const auto& at) { out.push_back(at[0]); });
  return out;
}

/// Dims [begin, end) of a shape.
SizesAndStrides dims_of(const SizesAndStrides& g, int begin, int end) {
  const auto n = std::size_t(end - begin);
  return {IntSpan(g.sizes().data() + begin, n), IntSpan(g.strides().data() + begin, n)};
}

/// How an indexed tensor is cut: for each element of `before` and each position there is a block, laid out as `after`.
struct Cut {
  SizesAndStrides before, after;
  IntVec positions;  // the broadcast shape of the indices
  int lead = 0;      // dims of the indexed result in front of the positions

  Cut(const Tensor& self, const TensorList& indices, IntSpan dims) {
    bool neighbours = true;
    for (std::size_t k = 1; k < dims.size(); ++k) neighbours &= dims[k] == dims[k - 1] + 1;
    lead = neighbours ? int(dims[0]) : 0;
    before = SizesAndStrides::of_rank(lead);
    after = SizesAndStrides::of_rank(self.dim() - lead - int(dims.size()));
    int out = 0;
    std::size_t k = 0;
    for (int d = 0; d < self.dim(); ++d) {
      if (k < dims.size() && dims[k] == d) {
        ++k;
        continue;
      }
      (out < lead ? before : after).set(out < lead ? out : out - lead, self.size(d), self.stride(d));
      ++out;
    }
    positions = indices[0].sizes().vec();
    for (std::size_t i = 1; i < indices.size(); ++i)
      positions = broadcast_sizes("index", positions, indices[i].sizes());
  }
};

/// Where each position is in self. The positions have been checked.
Places position_places(const Tensor& self, const TensorList& indices, IntSpan dims, IntSpan positions) {
  Places out(std::size_t(SizesAndStrides::contiguous(positions).numel()));
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Tensor index = ops::expand.below_autograd(indices[k], positions);
    const std::int64_t size = self.size(dims[k]), stride = self.stride(dims[k]);
    const auto add = [&]<class T>(Type<T>) {
      const T* p = static_cast<const T*>(index.impl()->data());
      std::int64_t* to = out.data();
      StridedRows<1>(positions, {index.strides()}).for_each([&](const auto& at) {
        const std::int64_t i = p[at[0]];
        *to++ += (i < 0 ? i + size : i) * stride;
      });
    };
    if (index.dtype() == int32)
      add(Type<std::int32_t>{});
    else
      add(Type<std::int64_t>{});
  }
  return out;
}

// ---- Reading ----

template <class T>
void read(T* out, const T* self, const Cut& cut, const Places& position) {
  const Places before = places_of(cut.before);
  const StridedRows<1> rows(cut.after.sizes(), {cut.after.strides()});
  const std::int64_t n = rows.row_length(), step = rows.steps()[0], block = n * rows.rows();
  const std::int64_t count = std::int64_t(position.size());
  const auto read_block = [&](T* to, const T* from) {
    rows.for_each_row(0, rows.rows(), [&](const auto& at) {
      const T* p = from + at[0];
      for (std::int64_t i = 0; i < n; ++i) to[i] = p[i * step];
      to += n;
    });
  };
  const std::int64_t blocks = std::int64_t(before.size()) * count;
  parallel_for(0, blocks, grain_for(block), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t b = begin / count, j = begin % count;
    if (block == 1) {
      for (std::int64_t i = begin; i < end; ++b, j = 0) {
        const T* const from = self + before[std::size_t(b)];
        const std::int64_t* const places = position.data() + j;
        const std::int64_t run = std::min(count - j, end - i);
        for (std::int64_t k = 0; k < run; ++k) out[i + k] = from[places[k]];
        i += run;
      }
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const T* from = self + before[std::size_t(b)] + position[std::size_t(j)];
      T* to = out + i * block;
      if (rows.rows() == 1 && step == 1)
        std::memcpy(to, from, std::size_t(n) * sizeof(T));
      else
        read_block(to, from);
      if (++j == count) j = 0, ++b;
    }
  });
}

void index(Tensor& out, const Tensor& self, const TensorList& indices, const IntSpan& dims) {
  if (out.numel() == 0) return;
  const Cut cut(self, indices, dims);
  const Places position = position_places(self, indices, dims, cut.positions);
  dispatch_size(self.dtype(),
                [&]<class T>(Type<T>) { read(first_of<T>(out), first_of<const T>(self), cut, position); });
}

// ---- Writing ----

struct Replace {
  template <class T>
  T operator()(T, T value) const {
    return value;
  }
};
struct Accumulate {
  template <class T>
  T operator()(T old, T value) const {
    if constexpr (std::is_same_v<T, bool>)
      return old || value;
    else
      return T(old + value);
  }
};

/// Where values come from: laid out as the indexed result, cut as self is.
struct Source {
  Places before, position;
  SizesAndStrides after;
  Source(const Tensor& values, const Cut& cut) {
    const SizesAndStrides& g = values.impl()->geometry();
    const int end = cut.lead + int(cut.positions.size());
    before = places_of(dims_of(g, 0, cut.lead));
    position = places_of(dims_of(g, cut.lead, end));
    after = dims_of(g, end, g.rank());
  }
};

/// Blocks of one `before` are written in the order of the positions. Threads share the work by `before` or by the
/// elements within the blocks, so the order is the same for any number of them.
template <class T, class F>
void write(T* out, const T* values, const Cut& cut, const Places& position, const Source& source, F f) {
  const Places before = places_of(cut.before);
  const StridedRows<2> rows(cut.after.sizes(), {cut.after.strides(), source.after.strides()});
  const std::int64_t n = rows.row_length(), to_step = rows.steps()[0], from_step = rows.steps()[1];
  const std::int64_t count = std::int64_t(position.size()), block = n * rows.rows();
  const auto write_range = [&](std::int64_t b, std::int64_t first, std::int64_t last) {
    for (std::int64_t j = 0; j < count; ++j) {
      T* to = out + before[std::size_t(b)] + position[std::size_t(j)];
      const T* from = values + source.before[std::size_t(b)] + source.position[std::size_t(j)];
      const auto write_row = [&](T* x, const T* y) {
        for (std::int64_t i = first; i < last; ++i) x[i * to_step] = f(x[i * to_step], y[i * from_step]);
      };
      if (rows.rows() == 1)
        write_row(to, from);
      else
        rows.for_each_row(0, rows.rows(), [&](const auto& at) { write_row(to + at[0], from + at[1]); });
    }
  };
  const std::int64_t outer = std::int64_t(before.size());
  if (outer > 1) {
    parallel_for(0, outer, grain_for(count * block), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) write_range(b, 0, n);
    });
  } else if (outer == 1) {
    parallel_for(0, n, grain_for(count * rows.rows()),
                 [&](std::int64_t begin, std::int64_t end) { write_range(0, begin, end); });
  }
}

void put_into(const Tensor& out, const TensorList& indices, const Tensor& any_values, IntSpan dims, bool accumulate) {
  const Cut cut(out, indices, dims);
  const Places position = position_places(out, indices, dims, cut.positions);
  if (position.empty() || out.numel() == 0) return;
  IntVec sizes = cut.before.sizes().vec();
  sizes.insert(sizes.end(), cut.positions.begin(), cut.positions.end());
  sizes.insert(sizes.end(), cut.after.sizes().begin(), cut.after.sizes().end());
  const bool shared = overlap(out, any_values) != Overlap::none;
  const Tensor values =
      ops::expand.below_autograd(shared ? taper::detail::private_copy(any_values) : any_values, sizes);
  const Source source(values, cut);
  if (accumulate)
    dispatch_computed(out.dtype(), [&]<class T>(Type<T>) {
      write(first_of<T>(out), first_of<const T>(values), cut, position, source, Accumulate{});
    });
  else
    dispatch_size(out.dtype(), [&]<class T>(Type<T>) {
      write(first_of<T>(out), first_of<const T>(values), cut, position, source, Replace{});
    });
}

void index_put(Tensor& out, const Tensor& self, const TensorList& indices, const Tensor& values, const IntSpan& dims,
               const bool& accumulate) {
  kernels::write_into_copy(out, self,
                           [&](const Tensor& result) { put_into(result, indices, values, dims, accumulate); });
}
/// Sums are rounded once.
void index_put_any(Tensor& out, const Tensor& self, const TensorList& indices, const Tensor& values,
                   const IntSpan& dims, const bool& accumulate) {
  (accumulate ? kernels::widening<index_put> : index_put)(out, self, indices, values, dims, accumulate);
}

}  // namespace

void install_index() {
  ops::index.set_kernel(DispatchKey::CPU, index);
  ops::index_put.set_kernel(DispatchKey::CPU, index_put_any);
}

}  // namespace taper::cpu_kernels
