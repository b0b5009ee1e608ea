// Catch2, whichever version is installed. 2.13 is what the tests run with; the branch for 3 is untested.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
