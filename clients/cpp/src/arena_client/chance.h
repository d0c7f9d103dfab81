// Chance, digests and signatures, by OpenSSL, and bytes as text.
#pragma once

#include <optional>
#include <string>

namespace arena {

/// Return so many random bytes that nobody can foretell.
std::string random_bytes(std::size_t count);
/// Return a number from 0 to 1, for waits.
double random_part();
/// Return the SHA-256 of bytes, 32 bytes.
std::string sha256(const std::string& bytes);
/// Return bytes as small hexadecimal digits.
std::string hex(const std::string& bytes);
/// Return the bytes of hexadecimal digits; none where a text is something else.
std::optional<std::string> from_hex(const std::string& digits);
/// Return bytes in base64.
std::string base64(const std::string& bytes);
/// Return bytes in base64url without padding.
std::string base64url(const std::string& bytes);
/// Return whether an Ed25519 signature of a text is that of a public key; what is no key or no signature signs nothing.
bool signed_by(const std::string& key, const std::string& signature, const std::string& text);

}  // namespace arena
