#include "onednn.h"

#if TAPER_ONEDNN

namespace taper::cpu_kernels::onednn {

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream own(engine());
  return own;
}

void Plan::add(int argument, Use use, const Desc& ours, const Desc& wanted) {
  Operand o{argument, use, dnnl::memory(ours, engine(), DNNL_MEMORY_NONE), {}, {}, 0};
  if (ours == wanted) {
    o.inner = o.ours;
  } else {
    o.inner = dnnl::memory(wanted, engine(), DNNL_MEMORY_NONE);
    o.copy = use == Use::input ? dnnl::reorder(o.ours, o.inner) : dnnl::reorder(o.inner, o.ours);
    o.bytes = (wanted.get_size() + 63) / 64 * 64;
    scratch_bytes_ += o.bytes;
  }
  operands_.push_back(std::move(o));
  arguments_.push_back({argument, operands_.back().inner.get()});
}

void Plan::run(const void* const* data) {
  const Scratch<std::byte> scratch(static_cast<std::int64_t>(scratch_bytes_));
  std::byte* free = scratch;
  dnnl_stream_t s = stream().get();
  const auto copy = [s](const Operand& o, const dnnl::memory& from, const dnnl::memory& to) {
    const dnnl_exec_arg_t arguments[2] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
    dnnl::error::wrap_c_api(dnnl_primitive_execute(o.copy.get(), s, 2, arguments), "reorder");
  };
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    Operand& o = operands_[i];
    o.ours.set_data_handle(const_cast<void*>(data[i]));
    if (o.bytes == 0) continue;
    o.inner.set_data_handle(free);
    free += o.bytes;
    if (o.use == Use::input) copy(o, o.ours, o.inner);
  }
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), s, static_cast<int>(arguments_.size()), arguments_.data()), "execute");
  for (const Operand& o : operands_)
    if (o.bytes != 0 && o.use == Use::output) copy(o, o.inner, o.ours);
}

}  // namespace taper::cpu_kernels::onednn

#endif
