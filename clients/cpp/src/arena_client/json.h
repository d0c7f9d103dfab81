// JSON for receipts. protobuf parses it; this module writes it, because protobuf does not preserve the order of fields.
#pragma once

#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <string>
#include <vector>

namespace arena::json {

using Value = google::protobuf::Value;
using Object = google::protobuf::Struct;

/// Parse an object. Throws std::runtime_error with the reason if the text is not an object.
Object object(const std::string& text);
/// Return a field; null if it is missing.
const Value& field(const Object& object, const std::string& name);
/// Return a value as a text, a whole number from 0, an object or a list of texts, or throw std::runtime_error.
const std::string& text_of(const Value& value);
std::uint64_t count_of(const Value& value);
const Object& object_of(const Value& value);
std::vector<std::string> texts_of(const Value& value);

/// Return a text as JSON; U+FFFD replaces invalid UTF-8.
std::string quoted(const std::string& text);
/// Return a list of texts as JSON.
std::string quoted(const std::vector<std::string>& texts);

}  // namespace arena::json
