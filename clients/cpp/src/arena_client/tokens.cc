#include "arena_client/tokens.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arena_client/chance.h"
#include "arena_client/errors.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void unusable(const std::string& file, int error) {
  throw ArenaError(ErrorKind::argument, "the file " + file + " cannot be used: " + std::strerror(error));
}

std::string safe(const std::string& text) {
  std::string name;
  for (char each : text) {
    const char small = each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    const bool kept = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') || std::strchr("._-", small);
    name += kept && small ? small : '_';
  }
  return name;
}

void make_folder(const fs::path& folder) {
  if (folder.empty() || fs::exists(folder)) return;
  make_folder(folder.parent_path());
  ::mkdir(folder.c_str(), 0700);  // what is wrong with it the file in it shows
}

}  // namespace

std::string default_token_file(const std::string& address, const std::string& name) {
  const char* home = std::getenv("HOME");
  return (fs::path(home ? home : ".") / ".arena" / "tokens" / (safe(address) + "-" + safe(name) + ".token")).string();
}

std::optional<std::string> read_token(const std::string& file) {
  errno = 0;
  std::ifstream stream(file);
  if (!stream) {
    if (errno == ENOENT) return std::nullopt;
    unusable(file, errno);
  }
  if (fs::is_directory(file)) unusable(file, EISDIR);
  std::ostringstream content;
  content << stream.rdbuf();
  const std::string text = content.str(), blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return std::nullopt;
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

NewToken::NewToken(const std::string& file) : file_(file), draft_(file + ".new") {
  if (auto offered = read_token(draft_)) {
    token_ = *offered;
  } else {
    token_ = "arena_" + base64url(random_bytes(32));
    write(token_);
  }
}

void NewToken::keep(const std::string& token) {
  if (token != token_) write(token);  // the server is an older one, which makes its own
  if (std::rename(draft_.c_str(), file_.c_str())) unusable(file_, errno);
}

void NewToken::drop() { ::unlink(draft_.c_str()); }

void NewToken::write(const std::string& token) {
  const fs::path folder = fs::path(file_).parent_path();
  make_folder(folder);
  const std::string whole = (folder / (".token-" + hex(random_bytes(8)))).string();
  const int descriptor = ::open(whole.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) unusable(file_, errno);
  const std::string line = token + "\n";
  bool good = ::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && !::fsync(descriptor);
  int error = errno ? errno : ENOSPC;
  ::close(descriptor);
  if (good && std::rename(whole.c_str(), draft_.c_str())) {
    good = false;
    error = errno;
  }
  if (good) return;
  ::unlink(whole.c_str());
  unusable(file_, error);
}

}  // namespace arena
