#include "arena_client/json.h"

#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "arena_client/log.h"

namespace arena::json {
namespace {

constexpr double MOST = 9'007'199'254'740'992;  // up to here a double represents every whole number

[[noreturn]] void wrong(const Value& value, const char* wanted) {
  throw std::runtime_error(one_line(value.ShortDebugString()) + " where there should be " + wanted);
}

/// Return the length of the multi-byte UTF-8 character at `at`; 0 if there is none.
std::size_t character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t more) { return at + more < text.size() ? static_cast<unsigned char>(text[at + more]) : 0; };
  const int lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // reject overlong forms, surrogates, and code points above the last character
  const int least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const int most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t more = 2; more < length; more++) {
    if ((byte(more) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

Object object(const std::string& text) {
  Value value;
  const auto read = google::protobuf::util::JsonStringToMessage(text, &value);
  if (!read.ok()) throw std::runtime_error(one_line(std::string(read.message())));
  return object_of(value);
}

const Value& field(const Object& object, const std::string& name) {
  static const Value null = [] {
    Value value;
    value.set_null_value(google::protobuf::NULL_VALUE);
    return value;
  }();
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? null : found->second;
}

const std::string& text_of(const Value& value) {
  if (value.kind_case() != Value::kStringValue) wrong(value, "a text");
  return value.string_value();
}

std::uint64_t count_of(const Value& value) {
  const double number = value.number_value();
  if (value.kind_case() != Value::kNumberValue || number < 0 || number > MOST || number != std::floor(number)) {
    wrong(value, "a whole number from 0");
  }
  return static_cast<std::uint64_t>(number);
}

const Object& object_of(const Value& value) {
  if (value.kind_case() != Value::kStructValue) wrong(value, "an object");
  return value.struct_value();
}

std::vector<std::string> texts_of(const Value& value) {
  if (value.kind_case() != Value::kListValue) wrong(value, "a list");
  std::vector<std::string> texts;
  for (const Value& each : value.list_value().values()) texts.push_back(text_of(each));
  return texts;
}

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (std::size_t at = 0; at < text.size(); at++) {
    const char each = text[at];
    const std::string names = "\b\f\n\r\t\"\\", letters = "bfnrt\"\\";
    if (const auto name = names.find(each); name != std::string::npos) {
      made += {'\\', letters[name]};
    } else if (static_cast<unsigned char>(each) < 0x20) {
      char digits[8];
      std::snprintf(digits, sizeof digits, "\\u%04x", each);
      made += digits;
    } else if (static_cast<unsigned char>(each) < 0x80) {
      made += each;
    } else if (const std::size_t length = character(text, at)) {
      made.append(text, at, length);
      at += length - 1;
    } else {
      made += "\xEF\xBF\xBD";
    }
  }
  return made + "\"";
}

std::string quoted(const std::vector<std::string>& texts) {
  std::string made;
  for (const std::string& each : texts) made += (made.empty() ? "" : ",") + quoted(each);
  return "[" + made + "]";
}

}  // namespace arena::json
