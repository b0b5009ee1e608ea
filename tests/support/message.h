#pragma once
#include <string>

#include "tests/support/catch.h"

/// The message of the E that f() throws; fails the test if it throws nothing or something else.
template <class E, class F>
std::string full_message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    FAIL("threw another exception: " << e.what());
  }
  FAIL("threw nothing");
  return {};
}

/// The same without the line about the operands that every operator adds.
template <class E, class F>
std::string message_of(F&& f) {
  const std::string message = full_message_of<E>(f);
  return message.substr(0, message.find("\n  operands of "));
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
