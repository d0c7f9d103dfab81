// The command-line options of every bot.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "arena_client/log.h"
#include "arena_client/running.h"

namespace arena {
namespace {

const char HELP[] = R"(  --server HOST:PORT       default: ARENA_SERVER in the environment, or localhost:50051
  --name NAME              the bot's name on the server (default: the bot's own)
  --owner NAME             who owns it; bots of one owner meet in challenges only (default: the bot's own, ARENA_OWNER, or its name)
  --game GAME              play this game only; repeatable (default: the bot's own games)
  --ladder NAME            play on this ladder only; repeatable (default: ARENA_LADDERS, or the games' default ladders)
  --event NAME             enter this event; repeatable (default: ARENA_EVENTS)
  --bot-version TEXT       which version the bot is; each has a rating of its own
  --capacity K             how many matches to play at once
  --matches N              stop after so many matches (default: no end)
  --token TOKEN            the bot's token (default: the one in the token file)
  --token-file FILE        where the token is kept (default: ARENA_TOKEN_FILE, or below ~/.arena/tokens)
  --invitation CODE        for a server that registers bots by invitation
  --no-receipts            keep nothing of the server's log of results beside the token
  --tls                    connect with TLS
  --tls-roots FILE         connect with TLS and trust the authorities in this PEM file
  --on-error raise|continue  what an error in the bot does
  --give-up-after SECONDS  end when the server is gone for so long
  --casual                 unrated matches with house bots only, so that a first crash costs nothing
  --challenges             accept challenges: unrated matches whose bots are named
  --challenger NAME        accept challenges with this bot only; repeatable
  --quiet                  show warnings only
  --help                   show this

exit status: 0 after Ctrl-C, SIGTERM or enough matches; 1 for an error in the bot; 2 for a wrong command line; 3 where the
server refuses the bot; 4 where no server was reached within --give-up-after seconds
)";

struct Wrong {
  std::string problem;
};

double number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value > -1e15 && value < 1e15)) throw Wrong{option + " is '" + text + "': it takes a number"};
  return value;
}

int whole(const std::string& option, const std::string& text) {
  const double value = number(option, text);
  if (value != static_cast<int>(value)) throw Wrong{option + " is '" + text + "': it takes a whole number"};
  return static_cast<int>(value);
}

using Flag = std::function<void()>;
using Take = std::function<void(const std::string&)>;

void parse(int count, char** arguments, const std::map<std::string, Flag>& flags, const std::map<std::string, Take>& takes) {
  for (int at = 1; at < count; at++) {
    const std::string word = arguments[at];
    const auto equals = word.find('=');
    const std::string option = word.substr(0, equals);
    if (const auto flag = flags.find(option); flag != flags.end() && equals == std::string::npos) {
      flag->second();
      continue;
    }
    const auto take = takes.find(option);
    if (take == takes.end()) throw Wrong{"there is no option '" + word + "'"};
    if (equals == std::string::npos && ++at == count) throw Wrong{option + " takes a value"};
    take->second(equals == std::string::npos ? arguments[at] : word.substr(equals + 1));
  }
}

}  // namespace

int main(Bot& bot, int count, char** arguments, const std::string& description) {
  std::string program = count ? arguments[0] : "bot";
  program.erase(0, program.rfind('/') + 1);
  Options options;
  bool help = false, own_games = true;
  try {
    parse(count, arguments,
          {
              {"--help", [&] { help = true; }},
              {"-h", [&] { help = true; }},
              {"--tls", [&] { options.tls = true; }},
              {"--no-receipts", [&] { options.receipts = false; }},
              {"--casual", [&] { options.casual = true; }},
              {"--challenges", [&] { options.challenges = true; }},
              {"--quiet", [] { log_from(Level::warn); }},
          },
          {
              {"--server", [&](auto& text) { options.address = text; }},
              {"--name", [&](auto& text) { bot.name = text; }},
              {"--owner", [&](auto& text) { options.owner = text; }},
              {"--game",
               [&](auto& text) {
                 if (own_games) bot.games.clear();
                 own_games = false;
                 bot.games.push_back(text);
               }},
              {"--ladder",
               [&](auto& text) {
                 if (!options.ladders) options.ladders.emplace();
                 options.ladders->push_back(text);
               }},
              {"--event",
               [&](auto& text) {
                 if (!options.events) options.events.emplace();
                 options.events->push_back(text);
               }},
              {"--bot-version", [&](auto& text) { bot.version = text; }},
              {"--capacity", [&](auto& text) { bot.capacity = whole("--capacity", text); }},
              {"--matches", [&](auto& text) { options.matches = whole("--matches", text); }},
              {"--token", [&](auto& text) { options.token = text; }},
              {"--token-file", [&](auto& text) { options.token_file = text; }},
              {"--invitation", [&](auto& text) { options.invitation = text; }},
              {"--tls-roots", [&](auto& text) { options.tls_roots = text; }},
              {"--on-error",
               [&](auto& text) {
                 if (text != "raise" && text != "continue") {
                   throw Wrong{"--on-error is '" + text + "': it takes raise or continue"};
                 }
                 options.on_error = text == "raise" ? OnError::raise : OnError::proceed;
               }},
              {"--give-up-after", [&](auto& text) { options.give_up_after = number("--give-up-after", text); }},
              {"--challenger", [&](auto& text) { options.challengers.push_back(text); }},
          });
  } catch (const Wrong& wrong) {
    std::fprintf(stderr, "%s: %s; see --help\n", program.c_str(), wrong.problem.c_str());
    return 2;
  }
  if (help) {
    std::printf("usage: %s [options]\n\n%s\n\n%s\nexample: %s --server localhost:50051 --owner me\n", program.c_str(),
                description.c_str(), HELP, program.c_str());
    return 0;
  }
  return run(bot, options);
}

}  // namespace arena
