// Catch2, whichever version is installed. 2.13 is what the tests run with; the branch for 3 is untested.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>
using Catch::Approx;
using CatchListener = Catch::EventListenerBase;
inline const std::string& test_name(const Catch::TestCaseStats& stats) { return stats.testInfo->name; }

#else

#include <catch2/catch.hpp>
#ifdef CATCH_CONFIG_RUNNER  // declared for the test program's main file only
using CatchListener = Catch::TestEventListenerBase;
inline const std::string& test_name(const Catch::TestCaseStats& stats) { return stats.testInfo.name; }
#endif

#endif
