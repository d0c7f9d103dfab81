// The SDK's encodings of bytes and texts: hexadecimal digits, base64url, JSON.
#include <iostream>

#include "arena_client/chance.h"
#include "arena_client/json.h"
#include "conversation.h"

namespace {

void check_texts() {
  demand(arena::hex("\xFF\xA0") == "ffa0", "hexadecimal digits");
  demand(arena::base64url("") == "" && arena::base64url("\xFB\xFF") == "-_8", "base64url");
  demand(arena::json::quoted("<&>\"\\\n\x01é€😀") == R"("<&>\"\\\n\u0001é€😀")", "texts are quoted");
  for (const char* wrong : {"\x80", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\x80", "\xE0\x80\x80"}) {
    const std::string made = arena::json::quoted(wrong);
    demand(made.find_first_not_of("\"\xEF\xBF\xBD") == std::string::npos && made.size() > 4, "what is no UTF-8: " + made);
  }
  for (const char* wrong : {"", "null", "7", "[]", "{\"a\":1", "{\"a\":1} x"}) {
    try {
      arena::json::object(wrong);
    } catch (const std::runtime_error&) {
      continue;
    }
    throw std::runtime_error(std::string(wrong) + " is no object");
  }
}

}  // namespace

int main() {
  try {
    check_texts();
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << "\n";
    return 1;
  }
  std::cout << "texts are written as they are to be\n";
  return 0;
}
