#include "rules.h"

int main(int count, char** arguments) {
  RuleBot bot;
  return arena::main(bot, count, arguments,
                     "A few plain rules: announces what the hand is worth, takes tricks until that is reached, then ducks.");
}
