#include "arena_client/options.h"

#include <cerrno>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "arena_client/chance.h"
#include "arena_client/errors.h"
#include "arena_client/files.h"
#include "arena_client/tokens.h"

namespace arena {
namespace {

constexpr std::size_t LONGEST_VERSION = 40;

[[noreturn]] void wrong(const std::string& what) { throw ArenaError(ErrorKind::argument, what); }

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::string checked_address(const std::string& address) {
  for (const char* scheme : {"dns:", "ipv4:", "ipv6:", "unix:"}) {
    if (address.rfind(scheme, 0) == 0) return address;
  }
  static const std::regex form(R"((\[[^\[\]\s]+\]|[^:/\[\]\s]+):(\d{1,5}))");
  std::smatch parts;
  if (std::regex_match(address, parts, form)) {
    const int port = std::stoi(parts[2]);
    if (port > 0 && port <= 65535) return address;
  }
  const std::string host = address.empty() || address.find_first_of(":/") != std::string::npos ? "HOST" : address;
  wrong("the address '" + address + "' is not of the form HOST:PORT; a server listens on port 50051 unless its operator "
        "chose another: " + host + ":50051");
}

void check_count(const std::string& what, int count) {
  if (count < 1) wrong(what + " is " + std::to_string(count) + ": it takes 1 or more");
}

void check_token(const std::string& token) {
  static const std::regex form("[!-~]([ -~]*[!-~])?");
  if (std::regex_match(token, form)) return;
  const bool blank = token.find_first_not_of(" \t\r\n") == std::string::npos;
  wrong(std::string("the token is ") + (blank ? "empty" : "not one line of printable characters") +
        ": give it as the server did, or none for the one in the token file");
}

void check_version(const std::string& version) {
  std::size_t length = 0;
  bool printable = true;
  for (unsigned char byte : version) {
    length += (byte & 0xC0) != 0x80;  // counts the first bytes of UTF-8 characters
    printable = printable && byte >= 0x20 && byte != 0x7F;
  }
  if (printable && length <= LONGEST_VERSION) return;
  wrong("the bot's version is '" + version + "': it takes at most 40 printable characters");
}

/// Return the given names, or else the names in an environment variable. If ARENA_TOKEN is set, a program started the
/// bot, and only the environment counts.
std::vector<std::string> chosen(const std::optional<std::vector<std::string>>& given, const char* variable) {
  if (given && !environment("ARENA_TOKEN")) return *given;
  std::vector<std::string> names;
  std::istringstream listed(environment(variable).value_or(""));
  for (std::string name; std::getline(listed, name, ',');) {
    const auto first = name.find_first_not_of(" \t");
    if (first != std::string::npos) names.push_back(name.substr(first, name.find_last_not_of(" \t") - first + 1));
  }
  return names;
}

/// Return a digest of the running program and the given files, in twelve hexadecimal digits.
std::string digest(const std::vector<std::string>& files) {
  std::string parts;
  try {
    parts = sha256(file_content("/proc/self/exe"));
  } catch (const ArenaError&) {
    wrong("this machine does not show which program runs: give the bot a version of its own");
  }
  for (const std::string& file : files) parts += sha256(file_content(file));
  return hex(sha256(parts)).substr(0, 12);
}

}  // namespace

std::string lower(std::string text) {
  for (char& each : text) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return text;
}

std::string file_content(const std::string& file) {
  const auto content = read_file(file);
  if (!content) unusable_file(file, ENOENT);
  if (content->empty()) wrong("the file " + file + " cannot be used: there is nothing in it");
  return *content;
}

double drain_seconds() {
  const auto text = environment("ARENA_DRAIN");
  if (!text) return DRAIN;
  char* end = nullptr;
  const double seconds = std::strtod(text->c_str(), &end);
  if (end == text->c_str() || *end || !(seconds >= 0 && seconds <= DRAIN)) {
    wrong("ARENA_DRAIN is '" + *text + "': it takes seconds from 0 to 30");
  }
  return seconds;
}

Profile profile_of(const Bot& bot, const Options& options) {
  Profile profile;
  profile.address = options.address ? *options.address : environment("ARENA_SERVER").value_or(DEFAULT_ADDRESS);
  profile.token = options.token;
  profile.tls = options.tls || !options.tls_roots.empty();
  profile.tls_roots = options.tls_roots;
  auto token_file = options.token_file;
  if (!options.token && !token_file) token_file = environment("ARENA_TOKEN_FILE");
  if (options.matches) check_count("matches", *options.matches);
  check_count("the bot's capacity", bot.capacity);
  if (options.token) check_token(*options.token);
  // the program that started this one set the variable, not the author
  if (const auto started_for = environment("ARENA_TOKEN")) {
    profile.address = environment("ARENA_SERVER").value_or(profile.address);
    profile.token = started_for;
    token_file.reset();
    profile.tls = false;
  }
  profile.address = checked_address(profile.address);
  profile.version = bot.version ? *bot.version : digest(bot.files);
  check_version(profile.version);
  profile.name = bot.name;
  profile.owner = !options.owner.empty() ? options.owner : !bot.owner.empty() ? bot.owner : environment("ARENA_OWNER").value_or("");
  profile.games = bot.games;
  profile.features = bot.features;
  profile.ladders = chosen(options.ladders, "ARENA_LADDERS");
  profile.events = chosen(options.events, "ARENA_EVENTS");
  profile.capacity = bot.capacity;
  profile.token_file = token_file ? *token_file : default_token_file(profile.address, bot.name);
  if (options.receipts && (token_file || !profile.token)) profile.receipts = profile.token_file + ".receipts";
  profile.invitation = options.invitation;
  profile.matches = options.matches;
  profile.give_up_after = options.give_up_after;
  profile.casual = options.casual;
  profile.challenges = options.challenges || !options.challengers.empty();
  for (const std::string& name : options.challengers) profile.challengers.insert(lower(name));
  return profile;
}

}  // namespace arena
