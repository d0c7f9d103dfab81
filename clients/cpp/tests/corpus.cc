// Plays the conversations of clients/conformance with the whole SDK and its connection on a virtual clock; only gRPC is
// scripted. `corpus FOLDER [WORDS]` plays those whose titles contain the words.
#include <google/protobuf/wrappers.pb.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include "arena_client/answering.h"
#include "arena_client/caller.h"
#include "arena_client/chance.h"
#include "arena_client/connection.h"
#include "arena_client/errors.h"
#include "arena_client/log.h"
#include "arena_client/options.h"
#include "conversation.h"
#include "details.h"
#include "virtual_clock.h"

namespace {

namespace fs = std::filesystem;
namespace v1 = arena::v1;

constexpr double A_DAY = 86'400'000;
const std::set<std::string> WORDS = {"games", "capacity", "version", "token", "owner", "invitation", "matches", "challenges",
                                     "casual", "on_error", "give_up_after", "thinks_ms", "batch", "gives", "ladders", "events"};

std::string word(arena::ErrorKind kind) {
  switch (kind) {
    case arena::ErrorKind::argument: return "ARGUMENT";
    case arena::ErrorKind::bot_failed: return "BOT_FAILED";
    case arena::ErrorKind::bad_answer: return "BAD_ANSWER";
    case arena::ErrorKind::token_refused: return "TOKEN_REFUSED";
    case arena::ErrorKind::name_taken: return "NAME_TAKEN";
    case arena::ErrorKind::name_not_allowed: return "NAME_NOT_ALLOWED";
    case arena::ErrorKind::invitation_needed: return "INVITATION_NEEDED";
    case arena::ErrorKind::no_game_in_common: return "NO_GAME_IN_COMMON";
    case arena::ErrorKind::protocol_mismatch: return "PROTOCOL_MISMATCH";
    case arena::ErrorKind::taken_over: return "TAKEN_OVER";
    case arena::ErrorKind::refused: return "REFUSED";
    case arena::ErrorKind::parked: return "PARKED";
    case arena::ErrorKind::unreachable: return "UNREACHABLE";
  }
  return "";
}

/// Return gRPC's status for the end of a call; the details are encoded to bytes.
arena::CallStatus status_from(const Struct& said) {
  arena::CallStatus status{text_of(said, "status"), text_of(said, "text"), "", 0};
  std::string details;
  const auto pause = said.fields().find("pause");
  if (pause != said.fields().end()) {
    const Struct& given = pause->second.struct_value();
    const auto nanos = given.fields().find("nanos");
    details += retry_info(std::stoll(text_of(given, "seconds", "0")),
                          nanos == given.fields().end() ? 0 : static_cast<std::int32_t>(nanos->second.number_value()));
  }
  const std::string reason = text_of(said, "reason");
  if (!reason.empty()) details += error_info(reason);
  arena::read_details(details, status);
  return status;
}

std::string from_base64(const std::string& text) {
  std::string bytes;
  unsigned kept = 0;
  int bits = 0;
  for (char each : text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto digit = digits.find(each);
    if (digit == std::string::npos) break;
    kept = kept << 6 | static_cast<unsigned>(digit);
    if ((bits += 6) >= 8) bytes += static_cast<char>(kept >> (bits -= 8) & 255);
  }
  return bytes;
}

std::string base64(const std::string& bytes) {
  google::protobuf::BytesValue value;
  value.set_value(bytes);
  const std::string quoted = json(value);
  return quoted.substr(1, quoted.size() - 2);
}

class ScriptedBot : public arena::Bot {
 public:
  /// `meanwhile`: delivers the script's messages; called while the bot thinks.
  ScriptedBot(const Struct& spec, VirtualClock& clock, std::vector<std::string>& told, std::function<void()> meanwhile)
      : clock_(clock), told_(told), meanwhile_(std::move(meanwhile)) {
    for (const auto& [name, _] : spec.fields()) demand(WORDS.count(name), "the bot is described by words that there are: " + name);
    const auto& fields = spec.fields();
    if (fields.count("games")) {
      games.clear();
      for (const auto& game : fields.at("games").list_value().values()) games.push_back(game.string_value());
    }
    if (fields.count("capacity")) capacity = static_cast<int>(fields.at("capacity").number_value());
    version = text_of(spec, "version", "1");
    if (fields.count("thinks_ms")) thinks_ms_ = fields.at("thinks_ms").number_value();
    batch_ = fields.count("batch") && fields.at("batch").bool_value();
    if ((scripted_ = fields.count("gives"))) {
      for (const auto& each : fields.at("gives").list_value().values()) {
        // answers in C++ are always numbers, so any other value becomes a number that no action has
        gives_.push_back(each.kind_case() == Value::kNumberValue ? static_cast<int>(each.number_value()) : -1);
      }
    }
  }

  int decide(const arena::Decision& decision) override {
    think({&decision});
    return decision.legal[0];
  }

  void decide_many(const std::vector<arena::Decision>& decisions, const arena::Give& give) override {
    if (!scripted_ && !batch_) return Bot::decide_many(decisions, give);
    std::vector<const arena::Decision*> asked;
    for (const auto& decision : decisions) asked.push_back(&decision);
    think(asked);
    if (scripted_) std::for_each(gives_.begin(), gives_.end(), give);
    else for (const auto& decision : decisions) give(decision.legal[0]);
  }

  void on_welcome(const v1::Welcome& welcome) override { welcome_ = welcome; }
  void on_match_start(const v1::MatchStart& start) override {
    const std::string limit = std::to_string(arena::conduct_of(welcome_, start).soft_limit_ms());
    const std::string of = start.ladder().empty() ? "" : " " + start.ladder() + " " + limit;
    told_.push_back("start " + std::to_string(start.match_id()) + of);
  }
  void on_round(const v1::RoundReport& report) override { told_.push_back("round " + std::to_string(report.match_id())); }
  void on_match_end(const v1::MatchReport& report) override {
    Bot::on_match_end(report);
    told_.push_back("report " + std::to_string(report.match_id()));
  }
  void on_notice(const v1::Notice& notice) override {
    Bot::on_notice(notice);
    const std::string match = notice.has_match_id() ? std::to_string(notice.match_id()) : "-";
    told_.push_back("notice " + std::to_string(notice.kind()) + " " + match);
  }

 private:
  static std::string name_of(const arena::Decision& decision) {
    return std::to_string(decision.match_id) + "/" + std::to_string(decision.decision_id);
  }

  void think(const std::vector<const arena::Decision*>& decisions) {
    for (const auto* each : decisions) {
      const auto* other = each->view_as<google::protobuf::Any>();
      told_.push_back("decide " + name_of(*each) + " " + std::to_string(each->soft_ms) + "+" + std::to_string(each->bank_ms) +
                      (other ? " " + each->game.name() + " " + base64(other->value()) : ""));
    }
    clock_.time += thinks_ms_;
    meanwhile_();
    for (const auto* each : decisions) {
      if (each->closed()) told_.push_back("closed " + name_of(*each));
    }
  }

  VirtualClock& clock_;
  std::vector<std::string>& told_;
  const std::function<void()> meanwhile_;
  double thinks_ms_ = 0;
  bool batch_ = false, scripted_ = false;
  std::vector<int> gives_;
  v1::Welcome welcome_;
};

struct ScriptedCall : arena::Call {
  std::string address, token;
  arena::CallEvents events;
  std::vector<v1::PlayRequest> said;
  bool closed = false, cancelled = false;

  void write(const v1::PlayRequest& request) override {
    if (!cancelled) said.push_back(request);
  }
  void end() override { closed = true; }
  void cancel() override { cancelled = true; }
};

struct ScriptedRegistration {
  v1::RegisterBotRequest request;
  arena::Channel::Registered registered;
};

/// The SDK's next try: a stream or a registration.
struct Try {
  std::shared_ptr<ScriptedCall> call;
  std::shared_ptr<ScriptedRegistration> registration;
};

class ScriptedChannel : public arena::Channel {
 public:
  ScriptedChannel(std::string address, std::deque<Try>& tries) : address_(std::move(address)), tries_(tries) {}

  std::shared_ptr<arena::Call> play(const std::string& token, arena::CallEvents events) override {
    auto call = std::make_shared<ScriptedCall>();
    call->address = address_;
    call->token = token;
    call->events = std::move(events);
    tries_.push_back({call, nullptr});
    return call;
  }
  void register_bot(const v1::RegisterBotRequest& request, double, Registered registered) override {
    tries_.push_back({nullptr, std::make_shared<ScriptedRegistration>(ScriptedRegistration{request, std::move(registered)})});
  }

 private:
  const std::string address_;
  std::deque<Try>& tries_;
};

/// One conversation.
class Play {
 public:
  Play(const Struct& conversation, const Struct& messages, std::string token_file)
      : conversation_(conversation), messages_(messages), token_file_(std::move(token_file)) {
    const auto spec = conversation.fields().find("bot");
    if (spec != conversation.fields().end()) spec_ = spec->second.struct_value();
  }

  void play() {
    start();
    const auto& steps = conversation_.fields().at("steps").list_value().values();
    for (int at = 0; at < steps.size(); at++) {
      const auto& [name, wanted] = *steps[at].struct_value().fields().begin();
      try {
        settle();
        step(name, wanted);
        settle();
        const bool said_next = at + 1 < steps.size() && steps[at + 1].struct_value().fields().count("says");
        if (name != "says" && !said_next && call_ && !call_->said.empty()) {
          throw std::runtime_error("nothing is to be said, and it said " + json(call_->said[0]));
        }
      } catch (const std::exception& error) {
        throw std::runtime_error(std::string(error.what()) + "\nin step " + std::to_string(at + 1) + ": " + json(steps[at]).substr(0, 300));
      }
    }
    current().connection->end();
    settle();
    demand(meanwhile_.empty(), "it has thought since");
    demand(tries_.empty(), "it tries nothing more");
  }

 private:
  /// One run of the program. Earlier runs are not removed, since they may still answer their decisions.
  struct Run {
    std::unique_ptr<ScriptedBot> bot;
    std::unique_ptr<arena::Caller> caller;
    std::unique_ptr<arena::Answering> answering;
    std::unique_ptr<arena::Connection> connection;
    bool ended = false;
    std::optional<arena::ArenaError> error;
  };

  Run& current() { return *runs_.back(); }

  void start() {
    runs_.push_back(std::make_unique<Run>());
    Run& run = current();
    const auto& fields = spec_.fields();
    run.bot = std::make_unique<ScriptedBot>(spec_, clock_, told_, [this] { arrive(); });
    arena::Options options;
    options.address = "arena:1";
    const auto token = fields.find("token");
    if (token == fields.end()) options.token = "given";
    else if (token->second.kind_case() == Value::kStringValue) options.token = token->second.string_value();
    options.token_file = token_file_;
    options.owner = text_of(spec_, "owner");
    options.invitation = text_of(spec_, "invitation");
    if (fields.count("matches")) options.matches = static_cast<int>(fields.at("matches").number_value());
    if (fields.count("give_up_after")) options.give_up_after = fields.at("give_up_after").number_value();
    options.casual = fields.count("casual") && fields.at("casual").bool_value();
    options.challenges = fields.count("challenges") && fields.at("challenges").bool_value();
    if (fields.count("challenges")) {
      for (const auto& name : fields.at("challenges").list_value().values()) options.challengers.push_back(name.string_value());
    }
    if (fields.count("ladders")) {
      options.ladders.emplace();
      for (const auto& name : fields.at("ladders").list_value().values()) options.ladders->push_back(name.string_value());
    }
    if (fields.count("events")) {
      options.events.emplace();
      for (const auto& name : fields.at("events").list_value().values()) options.events->push_back(name.string_value());
    }
    if (text_of(spec_, "on_error") == "continue") options.on_error = arena::OnError::proceed;
    run.caller = std::make_unique<arena::Caller>(*run.bot, options.on_error, [this] { return clock_.now(); });
    run.answering = std::make_unique<arena::Answering>(
        *run.caller, [&run](std::uint64_t session, const v1::PlayRequest& request) { run.connection->say(session, request); });
    run.connection = std::make_unique<arena::Connection>(
        arena::profile_of(*run.bot, options), [this](auto& address) { return std::make_shared<ScriptedChannel>(address, tries_); },
        clock_, *run.answering, [] { return 1.0; });
    stopped_ = false;
    run.connection->start();
  }

  /// Let the bot answer all its decisions.
  void settle() {
    Run& run = current();
    while (!run.ended) {
      try {
        const auto step = run.answering->step();
        if (step == arena::Answering::Step::nothing_there) return;
        run.ended = step == arena::Answering::Step::ended;
      } catch (const arena::ArenaError& error) {
        run.ended = true;
        run.error = error;
      }
    }
    run.connection->end();
  }

  std::string state() {
    if (!current().ended) return "it runs";
    return std::string("it has ended: ") + (current().error ? current().error->what() : "all is well");
  }

  Try next() {
    demand(!tries_.empty(), "it tries nothing; " + state());
    Try found = tries_.front();
    tries_.pop_front();
    return found;
  }

  void same_token(const std::string& name, const std::string& token) {
    for (const auto& [label, other] : tokens_) demand(label == name || token != other, "it is another token");
    demand(tokens_.emplace(name, token).first->second == token, "it is the same token");
  }

  ScriptedCall& open() {
    demand(call_ != nullptr, "a stream is open");
    return *call_;
  }

  void end_call(const arena::CallStatus& status) {
    open();
    const auto call = std::move(call_);
    call->events.ended(status);
  }

  std::shared_ptr<const v1::PlayResponse> server_message(const Value& said) {
    Struct message = said.kind_case() == Value::kStringValue
                         ? messages_.fields().at(said.string_value()).struct_value()
                         : said.struct_value();
    const std::string like = text_of(message, "like");
    if (!like.empty()) {
      message.mutable_fields()->erase("like");
      for (const auto& [name, value] : messages_.fields().at(like).struct_value().fields()) message.mutable_fields()->insert({name, value});
    }
    return std::make_shared<v1::PlayResponse>(message_from<v1::PlayResponse>(message));
  }

  /// Deliver the messages for a thinking bot.
  void arrive() {
    std::vector<std::shared_ptr<const v1::PlayResponse>> arriving;
    arriving.swap(meanwhile_);
    for (auto& message : arriving) open().events.message(std::move(message));
  }

  /// Check the bot's random bytes in a message, and remove them.
  template <class Message>
  void take_nonce(Message& message) {
    demand(message.nonce().size() == 16, "its own chance are 16 bytes");
    demand(nonces_.insert(message.nonce()).second, "each time others");
    message.clear_nonce();
  }

  void bot_says(const ListValue& wanted) {
    std::vector<v1::PlayRequest> said;
    said.swap(open().said);
    std::string found, expected;
    for (auto& request : said) {
      for (auto& ready : *request.mutable_ready()) {
        take_nonce(ready);
      }
      found += json(request) + "\n";
    }
    for (const auto& each : wanted.values()) expected += json(message_from<v1::PlayRequest>(each)) + "\n";
    demand(found == expected, "it said\n" + found.substr(0, 2000) + "and was to say\n" + expected.substr(0, 2000));
  }

  void opens(const Struct& wanted) {
    const Try found = next();
    demand(found.call != nullptr, "it opens a stream, and does not register");
    call_ = found.call;
    demand(call_->address == (wanted.fields().count("address") ? text_of(wanted, "address") : "arena:1"), "it goes to the node");
    same_token(text_of(wanted, "token"), call_->token);
    std::vector<v1::PlayRequest> said;
    said.swap(call_->said);
    demand(said.size() == 1, "it says hello and nothing more");
    v1::PlayRequest first = said[0], expected;
    demand(first.hello().client().rfind("arena-client-cpp ", 0) == 0, "it names its client");
    first.mutable_hello()->clear_client();
    for (auto& entry : *first.mutable_hello()->mutable_events()) take_nonce(entry);
    *expected.mutable_hello() = message_from<v1::Hello>(wanted.fields().at("hello"));
    demand(json(first) == json(expected), "it said " + json(first) + " and was to say " + json(expected));
  }

  void ends(const Struct& wanted) {
    demand(current().ended, "it has ended");
    demand(tries_.empty(), "it does not come back");
    call_.reset();
    const auto& error = current().error;
    const std::string found = error ? word(error->kind) : "";
    demand(found == text_of(wanted, "error"), "it ended with " + found + ": " + (error ? error->what() : ""));
    demand((error ? error->status() : 0) == static_cast<int>(wanted.fields().at("status").number_value()), "the exit status");
  }

  void step(const std::string& name, const Value& wanted) {
    const Struct& fields = wanted.struct_value();
    arena::Connection& connection = *current().connection;
    if (name == "registers") {
      const Try found = next();
      demand(found.registration != nullptr, "it registers, and does not open a stream");
      registration_ = found.registration;
      const auto& request = registration_->request;
      same_token(text_of(fields, "token"), request.token());
      auto expected = message_from<v1::RegisterBotRequest>(fields);
      expected.set_token(request.token());
      demand(json(request) == json(expected), "it said " + json(request));
    } else if (name == "registered") {
      const std::string token = text_of(fields, "token");
      if (!token.empty()) tokens_[token] = token;
      v1::RegisterBotResponse answer;
      answer.set_name(registration_->request.name());
      answer.set_token(token.empty() ? registration_->request.token() : token);
      registration_->registered(answer, {"OK", "", "", 0});
    } else if (name == "refused") {
      registration_->registered(std::nullopt, status_from(fields));
    } else if (name == "opens") {
      opens(fields);
    } else if (name == "server") {
      open().events.message(server_message(wanted));
    } else if (name == "while_thinking") {
      for (const auto& each : wanted.list_value().values()) meanwhile_.push_back(server_message(each));
    } else if (name == "bytes") {
      auto message = std::make_shared<v1::PlayResponse>();
      demand(message->ParseFromString(from_base64(wanted.string_value())), "the bytes are a message");
      open().events.message(message);
    } else if (name == "says") {
      bot_says(wanted.list_value());
    } else if (name == "told") {
      std::string found, expected;
      for (const std::string& each : told_) found += each + "\n";
      told_.clear();
      for (const auto& each : wanted.list_value().values()) expected += each.string_value() + "\n";
      demand(found == expected, "it was told\n" + found + "and was to be told\n" + expected);
    } else if (name == "breaks") {
      end_call(status_from(fields));
    } else if (name == "comes_back") {
      const double since = clock_.time;
      clock_.pass(A_DAY, [this] { settle(); }, [this] { return !tries_.empty() || current().ended; });
      demand(!tries_.empty(), "it comes back; " + state());
      const long waited = std::lround(clock_.time - since);
      demand(waited == std::lround(fields.fields().at("after_ms").number_value()), "it came back after " + std::to_string(waited) + " ms");
    } else if (name == "passes") {
      clock_.pass(fields.fields().at("ms").number_value(), [this] { settle(); }, [] { return false; });
    } else if (name == "closes") {
      demand(open().closed, "it says goodbye");
      end_call({"OK", "", "", 0});
    } else if (name == "stops") {
      if (stopped_) connection.leave();
      else connection.drain(1000 * (wanted.string_value() == "SIGINT" ? arena::DRAIN : arena::DRAIN_TERMINATED));
      stopped_ = true;
    } else if (name == "restarts") {
      connection.end();
      call_.reset();
      start();
    } else if (name == "ends") {
      ends(fields);
    } else {
      throw std::runtime_error("there is no step " + name);
    }
  }

  const Struct& conversation_;
  const Struct& messages_;
  const std::string token_file_;
  Struct spec_;
  VirtualClock clock_;
  std::vector<std::string> told_;
  std::deque<Try> tries_;
  std::map<std::string, std::string> tokens_;
  std::set<std::string> nonces_;
  std::vector<std::shared_ptr<const v1::PlayResponse>> meanwhile_;  // messages that arrive the next time the bot thinks
  std::shared_ptr<ScriptedCall> call_;
  std::shared_ptr<ScriptedRegistration> registration_;
  std::vector<std::unique_ptr<Run>> runs_;
  bool stopped_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  const fs::path folder = count > 1 ? arguments[1] : "clients/conformance";
  const std::string words = count > 2 ? arguments[2] : "";
  const fs::path home = fs::temp_directory_path() / ("arena-client-cpp-" + arena::hex(arena::random_bytes(6)));
  fs::create_directory(home);
  arena::log_to([](arena::Level, const std::string&) {});
  int played = 0, failed = 0;
  try {
    const auto messages = message_from<Struct>(content((folder / "messages.json").string()));
    std::set<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder / "conversations")) {
      if (entry.path().extension() == ".json") files.insert(entry.path());
    }
    for (const auto& file : files) {
      const auto conversations = message_from<ListValue>(content(file.string()));
      for (const auto& conversation : conversations.values()) {
        const std::string title = text_of(conversation.struct_value(), "title");
        if (title.find(words) == std::string::npos) continue;
        played++;
        try {
          const auto token_file = home / std::to_string(played) / "bot.token";
          Play(conversation.struct_value(), messages, token_file.string()).play();
        } catch (const std::exception& error) {
          failed++;
          std::cout << "FAILED " << file.stem().string() << ": " << title << "\n" << error.what() << "\n";
        }
      }
    }
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    failed++;
  }
  fs::remove_all(home);
  std::cout << played - failed << " of " << played << " conversations passed\n";
  return failed || !played ? 1 : 0;
}
