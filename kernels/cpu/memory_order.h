#pragma once
#include "operand_order.h"

namespace taper::cpu_kernels {

using kernels::common_order;
using kernels::in_order;
using kernels::operand_in_order;
using kernels::place_of;
using kernels::values_of;

}  // namespace taper::cpu_kernels
