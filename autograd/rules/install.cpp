#include "rules.h"

namespace taper {

void install_rules() {
  install_pointwise_rules();
  install_view_rules();
  install_join_rules();
}

}  // namespace taper
