#include "rules.h"

namespace taper {

void install_rules() {
  install_pointwise_rules();
  install_view_rules();
  install_join_rules();
  install_matmul_rules();
  install_reduce_rules();
}

}  // namespace taper
