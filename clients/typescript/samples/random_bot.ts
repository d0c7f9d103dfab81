// The shortest complete bot: it plays any legal action in any game.

import { Bot, type Decision, GAMES, main } from "../src/index.js";

class RandomBot extends Bot {
  override name = "random";
  override games = GAMES;

  override decide({ legal }: Decision): number {
    return legal[Math.floor(Math.random() * legal.length)]!;
  }
}

await main(new RandomBot(), "Plays at random.");
