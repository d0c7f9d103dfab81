// The details of a status as a server writes them: the fields here, one after the other, form a `google.rpc.Status`.
#pragma once

#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>

#include <cstdint>
#include <string>

/// A field that contains bytes, fewer than 128.
inline std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

inline std::string detail(const std::string& type, const std::string& value) {
  google::protobuf::Any packed;
  packed.set_type_url("type.googleapis.com/google.rpc." + type);
  packed.set_value(value);
  return field(3, packed.SerializeAsString());
}

inline std::string error_info(const std::string& reason) { return detail("ErrorInfo", field(1, reason) + field(2, "arena")); }

inline std::string retry_info(std::int64_t seconds, std::int32_t nanos) {
  google::protobuf::Duration pause;
  pause.set_seconds(seconds);
  pause.set_nanos(nanos);
  return detail("RetryInfo", field(1, pause.SerializeAsString()));
}
