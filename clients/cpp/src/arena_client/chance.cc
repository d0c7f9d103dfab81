#include "arena_client/chance.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <random>
#include <stdexcept>

namespace arena {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
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
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string hex(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : bytes) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

std::string base64url(const std::string& bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned kept = 0;
  int bits = 0;
  for (unsigned char byte : bytes) {
    kept = kept << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += digits[kept >> (bits - 6) & 63];
  }
  if (bits) text += digits[kept << (6 - bits) & 63];
  return text;
}

}  // namespace arena
