// The shortest complete bot: it plays any legal action in any game.
#include <arena_client/client.h>

#include <random>

struct RandomBot : arena::Bot {
  RandomBot() {
    name = "random";
    games = arena::games();
  }

  int decide(const arena::Decision& decision) override {
    return decision.legal[std::uniform_int_distribution<std::size_t>(0, decision.legal.size() - 1)(chance)];
  }

  std::mt19937 chance{std::random_device{}()};
};

int main(int count, char** arguments) {
  RandomBot bot;
  return arena::main(bot, count, arguments, "Plays at random.");
}
