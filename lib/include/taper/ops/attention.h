#pragma once
#include <taper/random.h>
#include <taper/tensor.h>

#include <optional>

namespace taper {

/// softmax(query key^T * scale + mask) value. query [..., l, e], key [..., s, e], value [..., s, v] -> [..., l, v].
///
/// attn_mask broadcasts to [..., l, s]: a bool mask says which keys a query sees, a floating one is added. is_causal
/// lets query i see the keys up to i. scale is 1 / sqrt(e) unless given. A query that sees no key gets zeros, and
/// gradients of zero. With dropout_p, weights are dropped as by dropout(). Differentiable, also in a floating mask.
/// Vaswani et al. 2017, "Attention Is All You Need", eq. 1.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0, bool is_causal = false,
                                    std::optional<double> scale = {}, Generator& generator = default_generator());

}  // namespace taper
