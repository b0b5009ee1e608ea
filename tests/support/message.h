#pragma once
#include <string>

#include "tests/support/catch.h"

/// The message of the E that f() throws, without the line about the operands that every operator adds; fails the test
/// if it throws nothing or something else.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    const std::string message = e.what();
    return message.substr(0, message.find("\n  operands of "));
  } catch (const std::exception& e) {
    FAIL("threw another exception: " << e.what());
  }
  FAIL("threw nothing");
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
