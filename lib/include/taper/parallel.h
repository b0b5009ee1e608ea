#pragma once

namespace taper {

/// Sets how many threads one operation may use, for the whole process; throws Error if n < 1.
/// The default is the number of cores. Taper's own kernels give the same bits for every n.
void set_num_threads(int n);

/// The number of threads one operation may use.
int get_num_threads();

}  // namespace taper
