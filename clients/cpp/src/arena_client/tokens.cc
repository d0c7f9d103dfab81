#include "arena_client/tokens.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "arena_client/chance.h"
#include "arena_client/files.h"
#include "arena_client/options.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

std::string safe(const std::string& text) {
  std::string name;
  for (char small : lower(text)) {
    const bool kept = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') || std::strchr("._-", small);
    name += kept && small ? small : '_';
  }
  return name;
}

}  // namespace

std::string default_token_file(const std::string& address, const std::string& name) {
  const char* home = std::getenv("HOME");
  return (fs::path(home ? home : ".") / ".arena" / "tokens" / (safe(address) + "-" + safe(name) + ".token")).string();
}

std::optional<std::string> read_token(const std::string& file) {
  const std::string text = read_file(file).value_or(""), blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return std::nullopt;
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

NewToken::NewToken(const std::string& file) : file_(file), draft_(file + ".new") {
  if (auto offered = read_token(draft_)) {
    token_ = *offered;
  } else {
    token_ = "arena_" + base64url(random_bytes(32));
    replace_file(draft_, token_ + "\n");
  }
}

void NewToken::keep(const std::string& token) {
  if (token != token_) replace_file(draft_, token + "\n");  // an older server, which creates tokens itself
  if (std::rename(draft_.c_str(), file_.c_str())) unusable_file(file_, errno);
}

void NewToken::drop() { ::unlink(draft_.c_str()); }

}  // namespace arena
