#include "arena_client/merkle.h"

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "arena_client/chance.h"
#include "arena_client/json.h"

namespace arena {
namespace {

std::string node(const std::string& left, const std::string& right) { return sha256('\1' + left + right); }

/// The way from a leaf, or a subtree, to the root of a log.
struct Way {
  std::uint64_t place, last;

  void rise() { place >>= 1, last >>= 1; }
  /// Return whether the next hash of a proof is to the left; then it is of the next level on which there is one.
  bool left() {
    if (!(place & 1) && place != last) return false;
    while (!(place & 1) && place > 0) rise();
    return true;
  }
};

}  // namespace

bool included(const v1::LogEntry& entry) {
  if (!entry.has_head() || entry.number() < 1 || entry.number() > entry.head().size()) return false;
  Way way{entry.number() - 1, entry.head().size() - 1};
  std::string made = sha256('\0' + entry.leaf());
  for (const std::string& each : entry.proof()) {
    if (!way.last) return false;
    made = way.left() ? node(each, made) : node(made, each);
    way.rise();
  }
  return !way.last && made == entry.head().root();
}

bool consistent(const v1::LogHead& first, const v1::LogHead& second, const Hashes& proof) {
  if (first.size() < 1 || first.size() > second.size()) return false;
  if (first.size() == second.size()) return proof.empty() && first.root() == second.root();
  auto each = proof.begin();
  const bool whole = !(first.size() & (first.size() - 1));  // its root is a node of the second, and not told again
  if (!whole && each == proof.end()) return false;
  std::string old = whole ? first.root() : *each++, made = old;
  Way way{first.size() - 1, second.size() - 1};
  while (way.place & 1) way.rise();
  for (; each != proof.end(); ++each) {
    if (!way.last) return false;
    if (way.left()) old = node(*each, old), made = node(*each, made);
    else made = node(made, *each);
    way.rise();
  }
  return !way.last && old == first.root() && made == second.root();
}

LogKeys::LogKeys(const Hashes& leaves) {
  if (leaves.empty()) throw std::runtime_error("a log without a key");
  for (const std::string& leaf : leaves) {
    std::string digits;
    std::optional<std::string> key, signature;
    try {
      const json::Object fields = json::object(leaf);
      digits = json::text_of(json::field(fields, "key"));
      key = from_hex(digits);
      signature = from_hex(json::text_of(json::field(fields, "signature")));
    } catch (const std::runtime_error&) {
      key.reset();
    }
    if (!key || !signature) throw std::runtime_error("a leaf that names no key");
    if (log_.empty()) log_ = hex(sha256(*key));
    else if (!signed_by(newest_, *signature, "arena-log/" + log_ + "\nkey\n" + digits + "\n")) {
      throw std::runtime_error("a key that the one before it did not sign");
    }
    newest_ = *key;
  }
}

bool LogKeys::signed_head(const v1::LogHead& head) const {
  return signed_by(newest_, head.signature(),
                   "arena-log/" + log_ + "\n" + std::to_string(head.size()) + "\n" + base64(head.root()) + "\n");
}

}  // namespace arena
