import { main } from "../src/index.js";
import { RuleBot } from "./rules.js";

await main(new RuleBot(), "A few plain rules: announces what the hand is worth, takes tricks until that is reached, then ducks.");
