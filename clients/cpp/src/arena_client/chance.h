// Chance and digests, by OpenSSL, and bytes as text.
#pragma once

#include <string>

namespace arena {

/// Return this many random bytes that nobody can predict.
std::string random_bytes(std::size_t count);
/// Return a number from 0 to 1, for waits.
double random_part();
/// Return the SHA-256 of bytes, 32 bytes.
std::string sha256(const std::string& bytes);
/// Return bytes as lower-case hexadecimal digits.
std::string hex(const std::string& bytes);
/// Return bytes in base64url without padding.
std::string base64url(const std::string& bytes);

}  // namespace arena
