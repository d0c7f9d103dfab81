// Random numbers and digests from OpenSSL, and bytes encoded as text.
#pragma once

#include <string>

namespace arena {

/// Return `count` unpredictable random bytes.
std::string random_bytes(std::size_t count);
/// Return a random number from 0 to 1, for the lengths of waits.
double random_part();
/// Return the SHA-256 digest of `bytes`: 32 bytes.
std::string sha256(const std::string& bytes);
/// Return bytes as lower-case hexadecimal digits.
std::string hex(const std::string& bytes);
/// Return bytes as base64url without padding.
std::string base64url(const std::string& bytes);

}  // namespace arena
