#pragma once
// The driver behind every reduction. An operation `op` supplies what is done with the elements:
//
//   using In, Acc;                       // of an element, of a partial result
//   Acc start(o) const                   // of nothing, for the result at o
//   Acc row(acc, p, n, stride, at)       // acc and n elements that lie `stride` apart
//   void columns(accs, p, width, rows, stride, at)   // `width` accs, each with its `rows` elements `stride` apart
//   Acc combine(a, b)                    // of two partial results, a's elements being the earlier ones
//   void finish(o, acc)                  // stores the result at o
//
// `at` says which elements they are: see Place. The split into chunks follows from the shape alone, so the result
// does not depend on the number of threads.
#include <algorithm>

#include "parallel.h"
#include "reduce_plan.h"
#include "scratch.h"

namespace taper::cpu_kernels {

/// Where the elements handed to an operation belong.
struct Place {
  std::int64_t result;       // element of the result; of the first column, for columns
  std::int64_t result_step;  // from one column's result to the next
  std::int64_t position;     // of the first element, counted through what is reduced into one result
};

namespace reduce_detail {

inline constexpr std::int64_t kTile = 1024;    // columns accumulated at a time: they stay in the first-level cache
inline constexpr std::int64_t kSplit = 65536;  // elements of one result that are worth a chunk of their own

/// The loops of a nest except the innermost, as an odometer.
class Odometer {
 public:
  explicit Odometer(const ReduceLoop* loops, std::size_t count, std::int64_t linear) : loops_(loops), counter_(count) {
    for (std::size_t i = count; i-- > 0;) {
      counter_[i] = linear % loops[i].size;
      linear /= loops[i].size;
      offset_ += counter_[i] * loops[i].stride;
      out_ += counter_[i] * loops[i].out_stride;
    }
  }
  std::int64_t offset() const { return offset_; }
  std::int64_t out() const { return out_; }
  void next() {
    for (std::size_t i = counter_.size(); i-- > 0;) {
      offset_ += loops_[i].stride, out_ += loops_[i].out_stride;
      if (++counter_[i] < loops_[i].size) return;
      offset_ -= loops_[i].stride * loops_[i].size, out_ -= loops_[i].out_stride * loops_[i].size;
      counter_[i] = 0;
    }
  }

 private:
  const ReduceLoop* loops_;
  SmallVector<std::int64_t, 6> counter_;
  std::int64_t offset_ = 0, out_ = 0;
};

/// Calls f(offset, n, stride, position) for the runs of iterations [begin, end) of the nest's outermost loop.
template <class F>
void for_each_run(const ReducePlan& plan, std::int64_t begin, std::int64_t end, const F& f) {
  const ReduceLoops& loops = plan.reduced;
  if (loops.empty()) return f(std::int64_t(0), std::int64_t(1), std::int64_t(1), std::int64_t(0));
  const ReduceLoop& inner = loops[loops.size() - 1];
  if (loops.size() == 1) return f(begin * inner.stride, end - begin, inner.stride, begin);
  const std::int64_t runs_per_outer = plan.per_result / loops[0].size / inner.size;
  const std::int64_t first = begin * runs_per_outer, last = end * runs_per_outer;
  Odometer at(loops.data(), loops.size() - 1, first);
  for (std::int64_t run = first; run < last; ++run, at.next())
    f(at.offset(), inner.size, inner.stride, run * inner.size);
}

/// How the outermost reduced loop is cut when there are too few results to share out.
struct Split {
  std::int64_t length, step, chunks;
};
inline Split split_of(const ReducePlan& plan, std::int64_t groups, std::int64_t group_size) {
  const std::int64_t length = plan.reduced.empty() ? 1 : plan.reduced[0].size;
  if (groups >= 32 || plan.per_result * group_size < 2 * kSplit) return {length, length, 1};
  const std::int64_t elements_per_step = plan.per_result / length * group_size;
  const std::int64_t step = std::max({std::int64_t(1), kSplit / elements_per_step, (length + 31) / 32});
  return {length, step, (length + step - 1) / step};
}

template <class Op>
void reduce_rows(const Op& op, const ReducePlan& plan, const typename Op::In* x) {
  using Acc = typename Op::Acc;
  const auto reduce_one = [&](std::int64_t offset, std::int64_t out, std::int64_t begin, std::int64_t end) {
    Acc acc = op.start(out);
    for_each_run(plan, begin, end, [&](std::int64_t run, std::int64_t n, std::int64_t stride, std::int64_t position) {
      acc = op.row(acc, x + offset + run, n, stride, Place{out, 0, position});
    });
    return acc;
  };
  const Split split = split_of(plan, plan.results, 1);
  if (plan.kept.size() == 1 && plan.reduced.size() == 1 && split.chunks == 1) {  // many short rows have no time to lose
    const ReduceLoop kept = plan.kept[0], run = plan.reduced[0];
    return parallel_for(0, kept.size, grain_for(run.size), [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i) {
        const std::int64_t out = i * kept.out_stride;
        op.finish(out, op.row(op.start(out), x + i * kept.stride, run.size, run.stride, Place{out, 0, 0}));
      }
    });
  }
  if (split.chunks == 1) {
    parallel_for(0, plan.results, grain_for(plan.per_result), [&](std::int64_t b, std::int64_t e) {
      Odometer at(plan.kept.data(), plan.kept.size(), b);
      for (std::int64_t i = b; i < e; ++i, at.next())
        op.finish(at.out(), reduce_one(at.offset(), at.out(), 0, split.length));
    });
    return;
  }
  const Scratch<Acc> partial(plan.results * split.chunks);
  parallel_for(0, plan.results * split.chunks, 1, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const Odometer at(plan.kept.data(), plan.kept.size(), i / split.chunks);
      const std::int64_t first = i % split.chunks * split.step;
      partial[i] = reduce_one(at.offset(), at.out(), first, std::min(first + split.step, split.length));
    }
  });
  Odometer at(plan.kept.data(), plan.kept.size(), 0);
  for (std::int64_t i = 0; i < plan.results; ++i, at.next()) {
    Acc acc = partial[i * split.chunks];
    for (std::int64_t c = 1; c < split.chunks; ++c) acc = op.combine(acc, partial[i * split.chunks + c]);
    op.finish(at.out(), acc);
  }
}

template <class Op>
void reduce_columns(const Op& op, const ReducePlan& plan, const typename Op::In* x) {
  using Acc = typename Op::Acc;
  const ReduceLoop inner = plan.kept[plan.kept.size() - 1];
  const std::int64_t tiles = (inner.size + kTile - 1) / kTile, outer = plan.results / inner.size;
  const std::int64_t tile = std::min(inner.size, kTile);

  const auto fill = [&](Acc* accs, std::int64_t group, std::int64_t begin, std::int64_t end) {
    const Odometer at(plan.kept.data(), plan.kept.size() - 1, group / tiles);
    const std::int64_t column = group % tiles * tile, width = std::min(tile, inner.size - column);
    const std::int64_t out = at.out() + column * inner.out_stride;
    for (std::int64_t j = 0; j < width; ++j) accs[j] = op.start(out + j * inner.out_stride);
    for_each_run(plan, begin, end, [&](std::int64_t run, std::int64_t n, std::int64_t stride, std::int64_t position) {
      op.columns(accs, x + at.offset() + column + run, width, n, stride, Place{out, inner.out_stride, position});
    });
  };
  const auto finish = [&](const Acc* accs, std::int64_t group) {
    const Odometer at(plan.kept.data(), plan.kept.size() - 1, group / tiles);
    const std::int64_t column = group % tiles * tile, width = std::min(tile, inner.size - column);
    for (std::int64_t j = 0; j < width; ++j) op.finish(at.out() + (column + j) * inner.out_stride, accs[j]);
  };

  const Split split = split_of(plan, outer * tiles, tile);
  if (split.chunks == 1) {
    parallel_for(0, outer * tiles, grain_for(plan.per_result * tile), [&](std::int64_t b, std::int64_t e) {
      const Scratch<Acc> accs(tile);
      for (std::int64_t group = b; group < e; ++group) {
        fill(accs, group, 0, split.length);
        finish(accs, group);
      }
    });
    return;
  }
  const std::int64_t groups = outer * tiles;
  const Scratch<Acc> partial(groups * split.chunks * tile);
  parallel_for(0, groups * split.chunks, 1, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const std::int64_t first = i % split.chunks * split.step;
      fill(partial + i * tile, i / split.chunks, first, std::min(first + split.step, split.length));
    }
  });
  for (std::int64_t group = 0; group < groups; ++group) {
    Acc* total = partial + group * split.chunks * tile;
    for (std::int64_t c = 1; c < split.chunks; ++c)
      for (std::int64_t j = 0; j < std::min(tile, inner.size - group % tiles * tile); ++j)
        total[j] = op.combine(total[j], total[c * tile + j]);
    finish(total, group);
  }
}

}  // namespace reduce_detail

/// Runs `op` over x, whose first element is at `x`. With nothing to reduce, each result is op.start() finished.
template <class Op>
void reduce(const Op& op, const ReducePlan& plan, const typename Op::In* x) {
  if (plan.results == 0) return;
  if (plan.per_result == 0) {  // the result is dense, so its elements are counted through
    for (std::int64_t o = 0; o < plan.results; ++o) op.finish(o, op.start(o));
    return;
  }
  if (plan.by_rows())
    reduce_detail::reduce_rows(op, plan, x);
  else
    reduce_detail::reduce_columns(op, plan, x);
}

}  // namespace taper::cpu_kernels
