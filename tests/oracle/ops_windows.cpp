// Convolutions and pools beyond those of ops_images.cpp.
#include <taper/ops/convs.h>
#include <taper/ops/pools.h>

#include "image_args.h"
#include "op_table.h"

namespace oracle {
namespace {

std::int64_t single(const Args& a, const char* name, std::int64_t absent) {
  if (!a.has(name)) return absent;
  const IntVec list = a.ints(name);
  if (list.size() != 1) a.unsupported(std::string(name) + " of several numbers");
  return list[0];
}
taper::IntTriple triple(const Args& a, const char* name, std::int64_t absent) {
  if (!a.has(name)) return absent;
  const IntVec list = a.ints(name);
  if (list.size() == 3) return {list[0], list[1], list[2]};
  if (list.size() != 1) a.unsupported(std::string(name) + " of another length");
  return list[0];
}
bool has_stride(const Args& a) { return a.has("stride") && !(a.is_list("stride") && a.ints("stride").empty()); }
std::optional<std::int64_t> single_stride(const Args& a) {
  return has_stride(a) ? std::optional<std::int64_t>(single(a, "stride", 1)) : std::nullopt;
}
std::optional<taper::IntTriple> triple_stride(const Args& a) {
  return has_stride(a) ? std::optional<taper::IntTriple>(triple(a, "stride", 1)) : std::nullopt;
}
taper::OutputSizes output_sizes(const Args& a) {
  taper::OutputSizes sizes;
  if (!a.is_list("output_size")) return {a.integer("output_size")};
  for (const Value& v : a.value("output_size").get<List>())
    sizes.push_back(v.is<None>() ? std::nullopt : std::optional<std::int64_t>(v.get<std::int64_t>()));
  return sizes;
}
/// Values, and places if they are asked for.
template <class Pool>
Outputs chosen(const Args& a, const Pool& pool) {
  const bool with_places = a.flag("return_indices", false);
  const std::pair<Tensor, Tensor> both = pool();
  if (!with_places) return both.first;
  return TensorList{both.first, both.second};
}

void add_convolutions(OpTable& t) {
  t.add("conv1d", [](const Args& a) {
    taper::Conv1dPadding padding = 0;
    if (a.has("padding") && a.value("padding").is<std::string>())
      padding = a.text("padding", "").c_str();
    else
      padding = single(a, "padding", 0);
    return taper::conv1d(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias"),
                         {.stride = single(a, "stride", 1),
                          .padding = padding,
                          .dilation = single(a, "dilation", 1),
                          .groups = a.integer("groups", 1)});
  });
  t.add("conv3d", [](const Args& a) {
    return taper::conv3d(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias"),
                         {.stride = triple(a, "stride", 1),
                          .padding = triple(a, "padding", 0),
                          .dilation = triple(a, "dilation", 1),
                          .groups = a.integer("groups", 1)});
  });
  t.add("conv_transpose1d", [](const Args& a) {
    return taper::conv_transpose1d(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias"),
                                   {.stride = single(a, "stride", 1),
                                    .padding = single(a, "padding", 0),
                                    .output_padding = single(a, "output_padding", 0),
                                    .groups = a.integer("groups", 1),
                                    .dilation = single(a, "dilation", 1)});
  });
  t.add("conv_transpose2d", [](const Args& a) {
    return taper::conv_transpose2d(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias"),
                                   {.stride = pair(a, "stride", 1),
                                    .padding = pair(a, "padding", 0),
                                    .output_padding = pair(a, "output_padding", 0),
                                    .groups = a.integer("groups", 1),
                                    .dilation = pair(a, "dilation", 1)});
  });
  t.add("conv_transpose3d", [](const Args& a) {
    return taper::conv_transpose3d(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias"),
                                   {.stride = triple(a, "stride", 1),
                                    .padding = triple(a, "padding", 0),
                                    .output_padding = triple(a, "output_padding", 0),
                                    .groups = a.integer("groups", 1),
                                    .dilation = triple(a, "dilation", 1)});
  });
  const auto columns = [](const Args& a) {
    return taper::ColumnOptions{pair(a, "dilation", 1), pair(a, "padding", 0), pair(a, "stride", 1)};
  };
  t.add("F.unfold",
        [columns](const Args& a) { return taper::im2col(a.tensor("input"), pair(a, "kernel_size", 1), columns(a)); });
  t.add("F.fold", [columns](const Args& a) {
    return taper::col2im(a.tensor("input"), pair(a, "output_size", 1), pair(a, "kernel_size", 1), columns(a));
  });
}

void add_pools(OpTable& t) {
  t.add("max_pool1d", [](const Args& a) {
    return chosen(a, [&] {
      return taper::max_pool1d_with_indices(a.tensor("input"), single(a, "kernel_size", 1),
                                            {.stride = single_stride(a),
                                             .padding = single(a, "padding", 0),
                                             .dilation = single(a, "dilation", 1),
                                             .ceil_mode = a.flag("ceil_mode", false)});
    });
  });
  t.add("avg_pool1d", [](const Args& a) {
    return taper::avg_pool1d(a.tensor("input"), single(a, "kernel_size", 1),
                             {.stride = single_stride(a),
                              .padding = single(a, "padding", 0),
                              .ceil_mode = a.flag("ceil_mode", false),
                              .count_include_pad = a.flag("count_include_pad", true)});
  });
  t.add("max_pool3d", [](const Args& a) {
    return chosen(a, [&] {
      return taper::max_pool3d_with_indices(a.tensor("input"), triple(a, "kernel_size", 1),
                                            {.stride = triple_stride(a),
                                             .padding = triple(a, "padding", 0),
                                             .dilation = triple(a, "dilation", 1),
                                             .ceil_mode = a.flag("ceil_mode", false)});
    });
  });
  t.add("avg_pool3d", [](const Args& a) {
    return taper::avg_pool3d(a.tensor("input"), triple(a, "kernel_size", 1),
                             {.stride = triple_stride(a),
                              .padding = triple(a, "padding", 0),
                              .ceil_mode = a.flag("ceil_mode", false),
                              .count_include_pad = a.flag("count_include_pad", true),
                              .divisor_override = a.optional_integer("divisor_override")});
  });
  t.add("adaptive_avg_pool1d",
        [](const Args& a) { return taper::adaptive_avg_pool1d(a.tensor("input"), output_sizes(a)); });
  t.add("adaptive_avg_pool2d",
        [](const Args& a) { return taper::adaptive_avg_pool2d(a.tensor("input"), output_sizes(a)); });
  t.add("adaptive_avg_pool3d",
        [](const Args& a) { return taper::adaptive_avg_pool3d(a.tensor("input"), output_sizes(a)); });
  t.add("adaptive_max_pool1d", [](const Args& a) {
    return chosen(a, [&] { return taper::adaptive_max_pool1d_with_indices(a.tensor("input"), output_sizes(a)); });
  });
  t.add("adaptive_max_pool2d", [](const Args& a) {
    return chosen(a, [&] { return taper::adaptive_max_pool2d_with_indices(a.tensor("input"), output_sizes(a)); });
  });
  t.add("max_unpool1d", [](const Args& a) {
    return taper::max_unpool1d(a.tensor("input"), a.tensor("indices"), single(a, "kernel_size", 1), single_stride(a),
                               single(a, "padding", 0), a.has("output_size") ? a.ints("output_size") : IntVec{});
  });
  t.add("max_unpool2d", [](const Args& a) {
    return taper::max_unpool2d(a.tensor("input"), a.tensor("indices"), pair(a, "kernel_size", 1), pool_stride(a),
                               pair(a, "padding", 0), a.has("output_size") ? a.ints("output_size") : IntVec{});
  });
  t.add("lp_pool1d", [](const Args& a) {
    return taper::lp_pool1d(a.tensor("input"), a.real("norm_type"), single(a, "kernel_size", 1), single_stride(a),
                            a.flag("ceil_mode", false));
  });
  t.add("lp_pool2d", [](const Args& a) {
    return taper::lp_pool2d(a.tensor("input"), a.real("norm_type"), pair(a, "kernel_size", 1), pool_stride(a),
                            a.flag("ceil_mode", false));
  });
}

}  // namespace

void add_windows(OpTable& t) {
  add_convolutions(t);
  add_pools(t);
}

}  // namespace oracle
