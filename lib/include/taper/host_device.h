#pragma once

// Marks what the host compiler and nvcc both compile: element functions, random number generators.
#if defined(__CUDACC__)
#define TAPER_HD __host__ __device__
#else
#define TAPER_HD
#endif
