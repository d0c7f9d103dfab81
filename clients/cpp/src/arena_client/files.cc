#include "arena_client/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arena_client/chance.h"
#include "arena_client/errors.h"
#include "arena_client/log.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code unknown;
  if (folder.empty() || fs::exists(folder, unknown)) return;
  if (folder.has_relative_path()) make_folder(folder.parent_path());
  ::mkdir(folder.c_str(), 0700);  // errors show when a file in the folder is used
}

/// Write all of a text and close the file; return the system's error, 0 for none.
int write_all(int descriptor, const std::string& text, bool synced) {
  int error = 0;
  std::size_t done = 0;
  while (!error && done < text.size()) {
    const auto count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    else if (count == 0 || errno != EINTR) error = count ? errno : ENOSPC;
  }
  if (!error && synced && ::fsync(descriptor)) error = errno;
  if (::close(descriptor) && !error) error = errno;
  return error;
}

}  // namespace

std::optional<std::string> read_file(const std::string& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    if (errno == ENOENT) return std::nullopt;
    unusable_file(file, errno);
  }
  std::error_code unknown;
  if (fs::is_directory(file, unknown)) unusable_file(file, EISDIR);
  std::ostringstream content;
  if (stream.peek() != std::ifstream::traits_type::eof()) content << stream.rdbuf();
  if (stream.bad() || content.fail()) unusable_file(file, errno ? errno : EIO);
  return content.str();
}

void replace_file(const std::string& file, const std::string& text) {
  make_folder(fs::path(file).parent_path());
  const std::string whole = file + "." + hex(random_bytes(8));
  const int descriptor = ::open(whole.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) unusable_file(file, errno);
  int error = write_all(descriptor, text, true);
  if (!error && std::rename(whole.c_str(), file.c_str())) error = errno;
  if (!error) return;
  ::unlink(whole.c_str());
  unusable_file(file, error);
}

void append_to_file(const std::string& file, const std::string& text) {
  make_folder(fs::path(file).parent_path());
  const int descriptor = ::open(file.c_str(), O_APPEND | O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) unusable_file(file, errno);
  struct stat before {};
  const bool known = ::fstat(descriptor, &before) == 0;
  if (const int error = write_all(descriptor, text, false)) {
    if (known && ::truncate(file.c_str(), before.st_size)) log(Level::info, "half a line stays in " + file);
    unusable_file(file, error);
  }
}

void shorten_file(const std::string& file, std::size_t size) {
  if (::truncate(file.c_str(), static_cast<off_t>(size))) unusable_file(file, errno);
}

void unusable_file(const std::string& file, int error) {
  throw ArenaError(ErrorKind::argument, "the file " + file + " cannot be used: " + std::strerror(error));
}

}  // namespace arena
