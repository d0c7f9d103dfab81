// A bot and a spectator on grpc++: plays one match, looks it up, and provokes as many statuses as
// possible.
//
// client ADDRESS NAME PROTOS [ROOTS]; prints its observations as one JSON object.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "arena/v1/bots.grpc.pb.h"
#include "arena/v1/matches.grpc.pb.h"
#include "arena/v1/play.grpc.pb.h"
#include "health.grpc.pb.h"

namespace v1 = arena::v1;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

struct Call : grpc::ClientContext {
  explicit Call(const std::string& token = "", bool zipped = false, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    set_deadline(std::chrono::system_clock::now() + limit);
    if (!token.empty()) AddMetadata("authorization", "Bearer " + token);
    if (zipped) set_compression_algorithm(GRPC_COMPRESS_GZIP);
  }
};

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (unsigned char each : text) {
    if (each == '"' || each == '\\') out << '\\' << each;
    else if (each < 0x20) { char code[8]; std::snprintf(code, sizeof code, "\\u%04x", each); out << code; }
    else out << each;
  }
  out << '"';
  return out.str();
}

std::string refusal(const grpc::Status& status) {
  static const std::map<int, std::string> names = {
      {grpc::UNAUTHENTICATED, "UNAUTHENTICATED"}, {grpc::RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED"},
      {grpc::INVALID_ARGUMENT, "INVALID_ARGUMENT"}, {grpc::DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED"},
      {grpc::NOT_FOUND, "NOT_FOUND"}, {grpc::UNIMPLEMENTED, "UNIMPLEMENTED"}};
  if (status.ok()) return "null";
  auto name = names.find(status.error_code());
  return "[" + quoted(name == names.end() ? std::to_string(status.error_code()) : name->second) + ", " +
         quoted(status.error_message()) + "]";
}

void must(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::to_string(status.error_code()) + ": " + status.error_message());
}

// Plays until it has the report of one match.
v1::MatchReport play(v1::PlayService::Stub& stub, const std::string& token, int& answered) {
  Call call(token);
  auto stream = stub.Play(&call);
  v1::PlayRequest first;
  first.mutable_hello()->add_games("nullern");
  first.mutable_hello()->set_capacity(1);
  first.mutable_hello()->set_client("grpc++");
  stream->Write(first);
  v1::PlayResponse heard;
  while (stream->Read(&heard)) {
    if (heard.reports_size()) {
      v1::MatchReport report = heard.reports(0);
      stream->WritesDone();
      while (stream->Read(&heard)) {}
      must(stream->Finish());
      return report;
    }
    v1::PlayRequest reply;
    for (const auto& each : heard.invitations()) {
      auto* ready = reply.add_ready();
      ready->set_invitation_id(each.invitation_id());
      ready->set_nonce(std::string(16, '\7'));
    }
    for (const auto& due : heard.decisions()) {
      auto* answer = reply.add_answers();
      answer->set_match_id(due.match_id());
      answer->set_decision_id(due.decision_id());
      answer->set_action(due.legal(0));
      answered++;
    }
    if (heard.has_heartbeat()) reply.set_heartbeat(heard.heartbeat());
    if (reply.ByteSizeLong()) stream->Write(reply);
  }
  must(stream->Finish());
  throw std::runtime_error("the stream ended before the match did");
}

std::string knock(v1::PlayService::Stub& stub, const std::string& token) {
  Call call(token);
  auto stream = stub.Play(&call);
  v1::PlayResponse heard;
  while (stream->Read(&heard)) {}
  return refusal(stream->Finish());
}

// Lines of a packed replay.
long lines(const std::string& packed) {
  z_stream unpacking{};
  inflateInit2(&unpacking, 16 + MAX_WBITS);
  unpacking.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  unpacking.avail_in = packed.size();
  std::string piece(1 << 16, '\0');
  long found = 0;
  for (int state = Z_OK; state == Z_OK;) {
    unpacking.next_out = reinterpret_cast<Bytef*>(piece.data());
    unpacking.avail_out = piece.size();
    state = inflate(&unpacking, Z_NO_FLUSH);
    found += std::count(piece.begin(), piece.end() - unpacking.avail_out, '\n');
    if (state == Z_STREAM_END && unpacking.avail_in) state = inflateReset(&unpacking);
  }
  inflateEnd(&unpacking);
  return found;
}

std::string file(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int, char** arguments) {
  const std::string address = arguments[1], name = arguments[2], large(2 << 20, 'x');
  grpc::ChannelArguments channel_arguments;
  auto trust = grpc::InsecureChannelCredentials();
  if (arguments[3] && arguments[4]) {
    trust = grpc::SslCredentials({file(arguments[4]), "", ""});
    channel_arguments.SetSslTargetNameOverride("localhost");
  }
  auto channel = grpc::CreateCustomChannel(address, trust, channel_arguments);
  v1::BotService::Stub bots(channel);
  v1::MatchService::Stub matches(channel);
  v1::PlayService::Stub playing(channel);
  Health::Stub health(channel);

  auto registered = [&](const std::string& wanted, bool zipped, v1::RegisterBotResponse& answer) {
    Call call("", zipped);
    v1::RegisterBotRequest request;
    request.set_name(wanted);
    return bots.RegisterBot(&call, request, &answer);
  };
  auto refused = [&](const std::string& wanted, bool zipped) {
    v1::RegisterBotResponse answer;
    return refusal(registered(wanted, zipped, answer));
  };
  auto check = [&](const std::string& service, HealthCheckResponse& answer) {
    Call call;
    HealthCheckRequest request;
    request.set_service(service);
    return health.Check(&call, request, &answer);
  };
  auto state = [&](const std::string& service) {
    HealthCheckResponse answer;
    must(check(service, answer));
    return static_cast<int>(answer.status());
  };

  v1::RegisterBotResponse own;
  must(registered(name, false, own));
  int answered = 0;
  const auto report = play(playing, own.token(), answered);

  std::ostringstream listed, scores, replay;
  {
    Call call;
    v1::ListMatchesRequest request;
    request.set_bot(name);
    v1::ListMatchesResponse found;
    must(matches.ListMatches(&call, request, &found));
    for (const auto& match : found.matches()) {
      listed << (listed.tellp() ? ", " : "") << "[" << match.match_id() << ", [";
      for (int seat = 0; seat < match.seats_size(); seat++) listed << (seat ? ", " : "") << match.seats(seat).score();
      listed << "]]";
    }
  }
  for (int seat = 0; seat < report.scores_size(); seat++) scores << (seat ? ", " : "") << report.scores(seat);
  {
    Call call;
    v1::GetReplayRequest request;
    request.set_match_id(report.match_id());
    auto pieces = matches.GetReplay(&call, request);
    for (v1::GetReplayResponse piece; pieces->Read(&piece);) replay << piece.chunk();
    must(pieces->Finish());
  }
  bool known = false;
  {
    Call call("", true);
    v1::ListBotsResponse found;
    must(bots.ListBots(&call, v1::ListBotsRequest(), &found));
    for (const auto& bot : found.bots()) known |= bot.name() == name;
  }
  std::vector<std::thread> crowd;
  std::vector<int> at_once(30);
  for (int& one : at_once) crowd.emplace_back([&] { HealthCheckResponse answer; one = check("", answer).ok(); });
  for (auto& one : crowd) one.join();

  Call hasty("", false, std::chrono::milliseconds(200));
  auto watch = health.Watch(&hasty, HealthCheckRequest());
  for (HealthCheckResponse answer; watch->Read(&answer);) {}
  const auto too_late = refusal(watch->Finish());
  HealthCheckResponse nothing;
  const auto odd = refusal(check("100 % café\n", nothing));
  grpc::TemplatedGenericStub<v1::ListBotsRequest, v1::ListBotsResponse> raw(channel);
  Call cheating;
  grpc::CompletionQueue queue;
  auto cheat = raw.PrepareUnaryCall(&cheating, "/arena.v1.PlayService/Cheat", v1::ListBotsRequest(), &queue);
  v1::ListBotsResponse none;
  grpc::Status unknown;
  cheat->StartCall();
  cheat->Finish(&none, &unknown, nullptr);
  void* tag;
  bool fine;
  queue.Next(&tag, &fine);

  std::cout << "{\"match\": " << report.match_id() << ", \"answered\": " << answered << ", \"interrupted\": " << quoted(report.interrupted())
            << ", \"scores\": [" << scores.str() << "], \"listed\": [" << listed.str() << "], \"replay\": " << lines(replay.str())
            << ", \"health\": " << state("arena.v1.PlayService") << ", \"at_once\": " << std::count(at_once.begin(), at_once.end(), 1)
            << ", \"zipped\": " << (known ? "true" : "false") << ", \"zipped_refusal\": " << refused(name + std::string(3000, 'x'), true)
            << ", \"wrong_token\": " << knock(playing, "wrong") << ", \"no_token\": " << knock(playing, "")
            << ", \"too_big\": " << refused(large, false) << ", \"too_big_zipped\": " << refused(large, true) << ", \"too_late\": " << too_late
            << ", \"odd_text\": " << odd << ", \"unknown\": " << refusal(unknown) << ", \"afterwards\": " << state("") << "}" << std::endl;
}
