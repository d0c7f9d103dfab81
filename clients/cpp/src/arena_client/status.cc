#include "arena_client/status.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <set>

#include "arena_client/log.h"

namespace arena {
namespace {

/// Statuses after which another try may succeed. All other statuses with a reason are final.
const std::set<std::string> COME_BACK = {"UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"};

/// Statuses that are final even without a reason, besides those with errors of their own.
const std::set<std::string> FINAL = {"INVALID_ARGUMENT", "PERMISSION_DENIED", "FAILED_PRECONDITION"};

/// Maximum pause that a server may request, in milliseconds. A longer pause must be a mistake.
constexpr double LONGEST_PAUSE = 3'600'000;

/// Return the values of a message's field with the given number, which must be bytes or text.
std::vector<std::string> fields(const std::string& bytes, int number) {
  google::protobuf::Empty message;
  std::vector<std::string> found;
  if (!message.ParseFromString(bytes)) return found;  // not a google.rpc.Status
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  for (int at = 0; at < unknown.field_count(); at++) {
    const auto& field = unknown.field(at);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      found.push_back(field.length_delimited());
    }
  }
  return found;
}

Failure dropped(const std::string& why, const CallStatus& status) { return {std::nullopt, why, status.pause_ms}; }

Failure fatal(ErrorKind kind, const std::string& why, const CallStatus& status) {
  return {ArenaError(kind, why, status.reason), "", 0};
}

}  // namespace

void read_details(const std::string& details, CallStatus& status) {
  for (const std::string& packed : fields(details, 3)) {
    google::protobuf::Any any;
    if (!any.ParseFromString(packed)) continue;
    const std::string type = any.type_url().substr(any.type_url().rfind('/') + 1);
    for (const std::string& value : fields(any.value(), 1)) {
      if (type == "google.rpc.ErrorInfo") status.reason = value;
      google::protobuf::Duration pause;
      if (type == "google.rpc.RetryInfo" && pause.ParseFromString(value)) {
        status.pause_ms = std::clamp(pause.seconds() * 1e3 + pause.nanos() / 1e6, 0.0, LONGEST_PAUSE);
      }
    }
  }
}

Failure play_failure(const CallStatus& status) {
  const std::string text = one_line(status.text), &word = status.status, &reason = status.reason;
  if (word == "OK") return dropped("the server closed the connection", status);
  if (word == "RESOURCE_EXHAUSTED" && reason.empty()) {  // raised by gRPC in this process
    return fatal(ErrorKind::protocol_mismatch, "a message from the server is larger than this client accepts: " + text,
                 status);
  }
  if (COME_BACK.count(word)) return dropped(text + " (" + (reason.empty() ? word : reason) + ")", status);
  if (reason == "TAKEN_OVER") return fatal(ErrorKind::taken_over, "the bot is connected from somewhere else: " + text, status);
  if (reason == "NO_SUCH_GAME") return fatal(ErrorKind::no_game_in_common, text, status);
  if (reason == "NO_CASUAL") {
    return fatal(ErrorKind::refused, text + "; leave out casual (--casual) for rated matches", status);
  }
  if (word == "UNAUTHENTICATED") return fatal(ErrorKind::token_refused, "the server refuses the token: " + text, status);
  if (word == "UNIMPLEMENTED") {
    return fatal(ErrorKind::protocol_mismatch,
                 "this is no Arena server, or it speaks another version of the protocol: " + text, status);
  }
  if (!reason.empty() || FINAL.count(word)) {
    return fatal(ErrorKind::refused, "the server refuses the bot: " + text, status);
  }
  return dropped(text + " (" + word + ")", status);
}

Failure registration_failure(const CallStatus& status) {
  const std::string text = one_line(status.text), &word = status.status;
  if (word == "ALREADY_EXISTS") {
    return fatal(ErrorKind::name_taken,
                 text + ". If the bot is yours, give its token or token file; if it was deleted, or is not yours, "
                        "register under another name",
                 status);
  }
  if (word == "INVALID_ARGUMENT") {
    const bool token = status.reason == "TOKEN_NOT_ALLOWED";
    return fatal(token ? ErrorKind::token_refused : ErrorKind::name_not_allowed, text, status);
  }
  if (word == "PERMISSION_DENIED" && status.reason != "OWNER_BANNED") {
    return fatal(ErrorKind::invitation_needed, text, status);
  }
  return play_failure(status);
}

}  // namespace arena
