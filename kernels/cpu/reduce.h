#pragma once

namespace taper::cpu_kernels {

void install_reduce();
// The parts of install_reduce() in files of their own.
void install_reduce_extremes();
void install_reduce_others();

}  // namespace taper::cpu_kernels
