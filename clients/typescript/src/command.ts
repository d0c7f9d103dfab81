// The command-line options of every bot: a program with one bot needs only `main`.

import { parseArgs } from "node:util";

import type { Bot } from "./bot.js";
import { ArenaError } from "./errors.js";
import { logFrom } from "./log.js";
import { DEFAULT_ADDRESS, type Options } from "./options.js";
import { run, told } from "./running.js";

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const OPTIONS = {
  server: text, name: text, owner: text, game: { ...text, multiple: true }, ladder: { ...text, multiple: true }, event: { ...text, multiple: true },
  "bot-version": text, capacity: text, matches: text,
  token: text, "token-file": text, invitation: text, tls: flag, "tls-roots": text, "on-error": text, "give-up-after": text,
  "no-receipts": flag, casual: flag, challenges: flag, challenger: { ...text, multiple: true }, quiet: flag, help: { ...flag, short: "h" },
} as const;
const HELP = `  --server HOST:PORT       default: ARENA_SERVER in the environment, or ${DEFAULT_ADDRESS}
  --name NAME              the bot's name on the server (default: the bot's own)
  --owner NAME             who owns it; bots of one owner meet in challenges only (default: the bot's own, ARENA_OWNER, or its name)
  --game GAME              play this game only; repeatable (default: the bot's own games)
  --ladder NAME            play on this ladder only; repeatable (default: ARENA_LADDERS, or the games' default ladders)
  --event NAME             enter this event; repeatable (default: ARENA_EVENTS)
  --bot-version TEXT       which version the bot is; each has a rating of its own
  --capacity K             how many matches to play at once
  --matches N              stop after N matches (default: no end)
  --token TOKEN            the bot's token (default: the one in the token file)
  --token-file FILE        where the token is kept (default: ARENA_TOKEN_FILE, or below ~/.arena/tokens)
  --invitation CODE        for a server that registers bots by invitation
  --tls                    connect with TLS
  --tls-roots FILE         connect with TLS and trust the authorities in this PEM file
  --on-error raise|continue  what an error in the bot does
  --give-up-after SECONDS  end when the server is gone for so long
  --no-receipts            keep nothing of the server's log of results beside the token
  --casual                 unrated matches with house bots only, so that a first crash costs nothing
  --challenges             accept challenges: unrated matches whose bots are named
  --challenger NAME        accept challenges with this bot only; repeatable
  --quiet                  show warnings only

exit status: 0 after Ctrl-C, SIGTERM or enough matches; 1 for an error in the bot; 2 for a wrong command line; 3 where the
server refuses the bot; 4 where no server was reached within --give-up-after seconds
`;

/** Run a program's only bot with the options on the command line. */
export async function main(bot: Bot, description: string): Promise<void> {
  const program = process.argv[1]?.split(/[\\/]/).pop() ?? "bot.js";
  const wrong = (problem: string): never => {
    process.stderr.write(`${program}: ${problem}; see --help\n`);
    process.exit(2);
  };
  let values: ReturnType<typeof parsed>;
  try {
    values = parsed();
  } catch (error) {
    return wrong((error as Error).message);
  }
  if (values.help) {
    process.stdout.write(`usage: node ${program} [options]\n\n${description}\n\n${HELP}\nexample: node ${program} --server localhost:50051 --owner me\n`);
    return;
  }
  const number = (name: "capacity" | "matches" | "give-up-after") => {
    const given = values[name];
    if (given === undefined) return undefined;
    return given.trim() !== "" && Number.isFinite(Number(given)) ? Number(given) : wrong(`--${name} is '${given}': it takes a number`);
  };
  const [capacity, matches, giveUpAfter] = [number("capacity"), number("matches"), number("give-up-after")];
  const { "on-error": onError = "raise" } = values;
  if (onError !== "raise" && onError !== "continue") return wrong(`--on-error is '${onError}': it takes raise or continue`);
  bot.name = values.name ?? bot.name;
  bot.capacity = capacity ?? bot.capacity;
  bot.version = values["bot-version"] ?? bot.version;
  bot.games = values.game ?? bot.games;
  if (values.quiet) logFrom("warn");
  const options: Options = {
    address: values.server, token: values.token, tokenFile: values["token-file"], invitation: values.invitation, owner: values.owner,
    tls: values["tls-roots"] ?? values.tls, matches, onError, giveUpAfter, receipts: !values["no-receipts"], casual: values.casual,
    challenges: values.challenger ?? values.challenges, ladders: values.ladder, events: values.event,
  };
  try {
    await run(bot, undefined, options);
  } catch (error) {
    if (!(error instanceof ArenaError)) throw error;
    process.stderr.write(told(bot, error));
    process.exit(error.status);
  }
}

const parsed = () => parseArgs({ options: OPTIONS, allowPositionals: false }).values;
