#pragma once
// What the options of several optimizers have to satisfy.
#include <taper/error.h>

#include <array>

namespace taper::optim {

inline void check_rate(const char* optimizer, const char* option, double value) {
  check<ValueError>(value >= 0, optimizer, ": ", option, " must not be negative, got ", value);
}

/// The weight of the past in a running mean; 1 keeps the past alone.
inline void check_share(const char* optimizer, const char* option, double value) {
  check<ValueError>(value >= 0 && value <= 1, optimizer, ": ", option, " must be in [0, 1], got ", value);
}

inline void check_betas(const char* optimizer, const std::array<double, 2>& betas) {
  for (const double beta : betas)
    check<ValueError>(beta >= 0 && beta < 1, optimizer, ": betas must be in [0, 1), got ", beta);
}

}  // namespace taper::optim
