#include "arena_client/chance.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace arena {
namespace {

const unsigned char* data(const std::string& bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* data(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(data(bytes), static_cast<int>(count)) != 1) {
    throw std::runtime_error("the machine has no random bytes");
  }
  return bytes;
}

double random_part() {
  static thread_local std::mt19937_64 numbers{std::random_device{}()};
  return std::uniform_real_distribution<>(0, 1)(numbers);
}

std::string sha256(const std::string& bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(data(bytes), bytes.size(), data(digest));
  return digest;
}

std::string hex(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : bytes) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

std::string base64url(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with the zero that OpenSSL appends
  text.resize(EVP_EncodeBlock(data(text), data(bytes), static_cast<int>(bytes.size())));
  text.erase(std::min(text.find('='), text.size()));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

}  // namespace arena
