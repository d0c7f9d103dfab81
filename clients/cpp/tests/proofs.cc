// Which proofs and signatures of a log of results the SDK takes, by the vectors of the server's own log; and the texts they are made of.
#include <iostream>
#include <map>

#include "arena_client/chance.h"
#include "arena_client/json.h"
#include "arena_client/merkle.h"
#include "conversation.h"

namespace {

namespace v1 = arena::v1;
using arena::json::field;

std::string bytes_of(const Value& digits) {
  const auto bytes = arena::from_hex(digits.string_value());
  demand(bytes.has_value(), digits.string_value() + " are hexadecimal digits");
  return *bytes;
}

std::uint64_t number(const Struct& fields, const std::string& name) { return arena::json::count_of(field(fields, name)); }

arena::Hashes hashes(const Struct& fields) {
  arena::Hashes made;
  for (const Value& each : field(fields, "proof").list_value().values()) *made.Add() = bytes_of(each);
  return made;
}

std::string changed(std::string bytes) {
  bytes[0] ^= 1;
  return bytes;
}

struct Log {
  std::vector<std::string> leaves;
  std::map<std::uint64_t, v1::LogHead> heads;
};

void check_heads(const Log& log) {
  for (const auto& [size, head] : log.heads) {
    arena::Hashes keys;
    for (std::uint64_t at = 0; at < size; at++) {
      if (text_of(arena::json::object(log.leaves[at]), "kind") == "key") *keys.Add() = log.leaves[at];
    }
    const arena::LogKeys known(keys);
    v1::LogHead other = head, forged = head, longer = head;
    other.set_root(changed(head.root()));
    forged.set_signature(changed(head.signature()));
    longer.set_size(size + 1);
    const std::string name = "the head of " + std::to_string(size);
    demand(known.signed_head(head), name + " is signed");
    demand(!known.signed_head(other) && !known.signed_head(forged) && !known.signed_head(longer), name + " is no other");
    if (keys.size() < 2) continue;
    demand(!arena::LogKeys(arena::Hashes(keys.begin(), keys.end() - 1)).signed_head(head), "the newest key signs");
    const auto first = keys[1].find(R"("signature":")") + 13;
    keys[1][first] = keys[1][first] == '0' ? '1' : '0';
    std::string refused;
    try {
      arena::LogKeys{keys};
    } catch (const std::runtime_error& error) {
      refused = error.what();
    }
    demand(refused == "a key that the one before it did not sign", "a key is signed by the one before: " + refused);
  }
}

void check_inclusion(const Log& log, const Struct& vector) {
  v1::LogEntry entry;
  entry.set_number(number(vector, "number"));
  entry.set_leaf(log.leaves.at(entry.number() - 1));
  *entry.mutable_head() = log.heads.at(number(vector, "size"));
  *entry.mutable_proof() = hashes(vector);
  v1::LogEntry other = entry, moved = entry, more = entry, headless = entry;
  other.set_leaf(changed(entry.leaf()));
  moved.set_number(entry.number() + 1);
  more.add_proof(std::string(32, '\0'));
  headless.clear_head();
  const std::string name = "leaf " + std::to_string(entry.number());
  demand(arena::included(entry), name + " is in the log");
  demand(!arena::included(other) && !arena::included(moved) && !arena::included(more) && !arena::included(headless), name + " is no other");
}

void check_consistency(const Log& log, const Struct& vector) {
  const v1::LogHead first = log.heads.at(number(vector, "first")), second = log.heads.at(number(vector, "second"));
  v1::LogHead before = first, after = second;
  before.set_root(changed(first.root()));
  after.set_root(changed(second.root()));
  const arena::Hashes proof = hashes(vector);
  arena::Hashes more = proof;
  *more.Add() = std::string(32, '\0');
  const std::string name = std::to_string(first.size()) + " leaves begin " + std::to_string(second.size());
  demand(arena::consistent(first, second, proof), name);
  demand(!arena::consistent(before, second, proof) && !arena::consistent(first, after, proof), "no others: " + name);
  demand(!arena::consistent(first, second, more), "by no longer proof: " + name);
  if (first.size() == second.size()) return;
  demand(!arena::consistent(first, second, {}) && !arena::consistent(second, first, proof), "by one, and not the other way: " + name);
}

/// A proof that ends on its way proves nothing, whatever root the head names.
void check_short_proofs() {
  v1::LogEntry entry;
  entry.set_number(1);
  entry.set_leaf("{}");
  entry.mutable_head()->set_size(1);
  entry.mutable_head()->set_root(arena::sha256(std::string("\0{}", 3)));
  demand(arena::included(entry), "the root of one leaf is its hash");
  entry.mutable_head()->set_size(2);
  demand(!arena::included(entry), "but not that of two");
  v1::LogHead second = entry.head();
  second.set_size(4);
  demand(!arena::consistent(entry.head(), second, {}), "two leaves are not four");
}

void check_texts() {
  demand(arena::from_hex("00fFa0") == std::string("\0\xFF\xA0", 3) && arena::hex("\xFF") == "ff", "hexadecimal digits");
  for (const char* wrong : {"0", "0g", "0x", "é"}) demand(!arena::from_hex(wrong), std::string(wrong) + " are no digits");
  demand(arena::base64("") == "" && arena::base64("\xFB\xFF") == "+/8=", "base64");
  demand(arena::base64url("") == "" && arena::base64url("\xFB\xFF") == "-_8", "base64url");
  demand(arena::json::quoted("<&>\"\\\n\x01é€😀") == R"("<&>\"\\\n\u0001é€😀")", "texts are quoted");
  for (const char* wrong : {"\x80", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\x80", "\xE0\x80\x80"}) {
    const std::string made = arena::json::quoted(wrong);
    demand(made.find_first_not_of("\"\xEF\xBF\xBD") == std::string::npos && made.size() > 4, "what is no UTF-8: " + made);
  }
  for (const char* wrong : {"", "null", "7", "[]", "{\"a\":1", "{\"a\":1} x"}) {
    try {
      arena::json::object(wrong);
    } catch (const std::runtime_error&) {
      continue;
    }
    throw std::runtime_error(std::string(wrong) + " is no object");
  }
  const Struct values = arena::json::object(R"({"a":[-3,2.5,1790000000000001,"b,c",null]})");
  demand(arena::json::shown(field(values, "a")) == R"([-3, 2.5, 1790000000000001, "b,c", null])", "values are shown");
  const std::string one(32, '\1');
  demand(!arena::signed_by("", std::string(64, '\0'), "x") && !arena::signed_by(one, "", "x") && !arena::signed_by(one, one + one, "x"),
         "what is no key or no signature signs nothing");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : "clients/conformance";
  int checked = 0;
  try {
    const auto vectors = message_from<Struct>(content(folder + "/../../arena/log/vectors.json"));
    Log log;
    for (const Value& each : field(vectors, "leaves").list_value().values()) log.leaves.push_back(text_of(each.struct_value(), "leaf"));
    for (const Value& each : field(vectors, "heads").list_value().values()) {
      const Struct& fields = each.struct_value();
      v1::LogHead& head = log.heads[number(fields, "size")];
      head.set_size(number(fields, "size"));
      head.set_root(bytes_of(field(fields, "root")));
      head.set_signature(bytes_of(field(fields, "signature")));
    }
    check_texts();
    check_short_proofs();
    check_heads(log);
    for (const Value& each : field(vectors, "inclusion").list_value().values()) check_inclusion(log, each.struct_value()), checked++;
    for (const Value& each : field(vectors, "consistency").list_value().values()) check_consistency(log, each.struct_value()), checked++;
    demand(log.heads.size() > 1 && checked > 5, "there are vectors");
  } catch (const std::exception& error) {
    std::cout << "FAILED after " << checked << " proofs: " << error.what() << "\n";
    return 1;
  }
  std::cout << checked << " proofs judged as the others do\n";
  return 0;
}
