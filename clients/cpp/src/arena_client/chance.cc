#include "arena_client/chance.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <memory>
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

std::optional<std::string> from_hex(const std::string& digits) {
  const auto value = [](char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    const char small = static_cast<char>(digit | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
  };
  if (digits.size() % 2) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    const int high = value(digits[at]), low = value(digits[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with the zero that OpenSSL puts behind
  text.resize(EVP_EncodeBlock(data(text), data(bytes), static_cast<int>(bytes.size())));
  return text;
}

std::string base64url(const std::string& bytes) {
  std::string text = base64(bytes);
  text.erase(std::min(text.find('='), text.size()));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

bool signed_by(const std::string& key, const std::string& signature, const std::string& text) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> known(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, data(key), key.size()), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const bool good = known && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, known.get()) == 1 &&
                    EVP_DigestVerify(context.get(), data(signature), signature.size(), data(text), text.size()) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace arena
