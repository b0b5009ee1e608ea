#include <taper/error.h>
#include <taper/matmul_precision.h>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

TEST_CASE("float32_matmul_precision starts at highest and takes three names", "[lib]") {
  CHECK(get_float32_matmul_precision() == "highest");
  for (const char* name : {"high", "medium", "highest"}) {
    set_float32_matmul_precision(name);
    CHECK(get_float32_matmul_precision() == name);
  }
}

TEST_CASE("float32_matmul_precision refuses other names and says which there are", "[lib]") {
  const std::string message = message_of<taper::ValueError>([] { set_float32_matmul_precision("tf32"); });
  CHECK(contains(message, "got \"tf32\"; expected \"highest\" (float32), \"high\" (TF32) or \"medium\" (bfloat16)"));
  CHECK(get_float32_matmul_precision() == "highest");
}
