// The conversations of clients/conformance, in protobuf's JSON mapping. The README there explains the steps.
#pragma once

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

inline void demand(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Return the JSON of a message; equal messages have equal JSON.
inline std::string json(const google::protobuf::Message& message) {
  std::string text;
  demand(google::protobuf::util::MessageToJsonString(message, &text).ok(), "a message has JSON");
  return text;
}

/// Read a message of any kind from JSON.
template <class Message>
Message message_from(const std::string& text) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &message);
  demand(status.ok(), "it can be read: " + status.ToString());
  return message;
}

template <class Message>
Message message_from(const google::protobuf::Message& value) {
  return message_from<Message>(json(value));
}

/// Return the content of a file.
inline std::string content(const std::string& file) {
  std::ifstream stream(file);
  demand(stream.good(), file + " can be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Return a text field, or `otherwise` if it is missing.
inline std::string text_of(const Struct& fields, const std::string& name, const std::string& otherwise = "") {
  const auto found = fields.fields().find(name);
  return found == fields.fields().end() ? otherwise : found->second.string_value();
}
