// `run`: the bot's code runs in the program's own thread, the connection in another.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { toBinary } from "@bufbuild/protobuf";

import { Answering } from "./answering.js";
import type { Bot } from "./bot.js";
import { Caller } from "./caller.js";
import { ArenaError, ArgumentError, ERRORS } from "./errors.js";
import { log } from "./log.js";
import { DRAIN_TERMINATED, drainSeconds, type Options, type Profile, profileOf } from "./options.js";
import { CLOCK, type FromMain, type FromWorker } from "./threads.js";
import { PlayRequestSchema } from "./v1/arena/v1/play_pb.js";

/** Maximum milliseconds of the bot's own code before signals and messages are handled. */
const TURN = 10;

/**
 * Connect a bot to the server at "host:port" and play until Ctrl-C or until enough matches are finished.
 *
 * The default address is ARENA_SERVER, or localhost:50051. At Ctrl-C the bot starts no more matches and finishes the
 * current ones, for 30 s at most (ARENA_DRAIN); after SIGTERM for 8 s. Then, or at the second Ctrl-C, it leaves the
 * remaining matches. The program's own signal handlers stay in place.
 *
 * After a lost connection the bot reconnects. Permanent errors reject with an ArenaError. So does an error in the
 * bot, unless `onError` is "continue". A program that does not catch the error ends with its message and status.
 */
export async function run(bot: Bot, address?: string, options: Options = {}): Promise<void> {
  try {
    const caller = new Caller(bot, options.onError ?? "raise", CLOCK.now, turns());
    await play(caller, profileOf(bot, address === undefined ? options : { ...options, address }), drainSeconds());
  } catch (error) {
    if (error instanceof ArenaError) endWithSentence(bot, error);
    throw error;
  }
}

async function play(caller: Caller, profile: Profile, drain: number): Promise<void> {
  const code = new URL("./worker.js", import.meta.url);
  if (!existsSync(code)) {
    throw new ArgumentError(`there is no ${fileURLToPath(code)}: a bundle needs arena-client/worker beside it, as worker.js`);
  }
  const worker = new Worker(code, { workerData: profile });
  const tell = (message: FromMain) => worker.postMessage(message);
  const answering = new Answering(caller, (session, request) => tell({ kind: "say", session, bytes: toBinary(PlayRequestSchema, request) }));
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.once("error", (error) => answering.end(error));
  worker.on("message", (message: FromWorker) => {
    if (message.kind === "deliver") answering.deliver(message.session, message.bytes, message.received);
    else if (message.kind === "over") answering.over(message.session);
    else if (message.kind === "hurry") answering.hurry();
    else if (message.kind === "log") log[message.level](message.text);
    else answering.end(message.error && errorOf(message.error));
  });
  let asked = false;
  const stop = (signal: NodeJS.Signals) => {
    const seconds = signal === "SIGINT" ? drain : Math.min(drain, DRAIN_TERMINATED);
    if (!asked && seconds > 0) {
      tell({ kind: "drain", ms: seconds * 1000 });
    } else {
      answering.hurry();
      tell({ kind: "leave" });
    }
    asked = true;
  };
  const ours = (["SIGINT", "SIGTERM"] as const).filter((signal) => !process.listenerCount(signal));
  for (const signal of ours) process.on(signal, stop);
  try {
    await answering.answer();
    if (asked) log.info("stopped");
  } finally {
    tell({ kind: "end" });
    await gone;
    for (const signal of ours) process.removeListener(signal, stop);
  }
}

/** Return a pause that lets the event loop run after the bot's code has run for a while. */
function turns(): () => Promise<void> {
  let last = CLOCK.now();
  const immediate = () => new Promise<void>((resolve) => setImmediate(resolve));
  return async () => {
    if (CLOCK.now() - last < TURN) return;
    await immediate();
    await immediate(); // the loop polls for input between two of them
    last = CLOCK.now();
  };
}

function errorOf({ name, message, reason }: { name: string; message: string; reason: string }): ArenaError {
  const error = new (ERRORS[name] ?? ArenaError)(message);
  error.reason = reason;
  return error;
}

/** Return the final message of this bot's program: the reason, and for an error in the bot also its view. */
export function told(bot: Bot, error: ArenaError): string {
  const [sentence, ...where] = error.message.split("\n");
  return [`${bot.name || bot.constructor.name}: ${sentence}`, ...where].map((line) => `${line}\n`).join("");
}

/** Let a program that does not catch the error end with the error's message and status. */
function endWithSentence(bot: Bot, error: ArenaError): void {
  if (process.listenerCount("uncaughtException")) return; // the program handles its end itself
  process.once("uncaughtException", (uncaught) => {
    const ours = uncaught === error;
    process.stderr.write(ours ? told(bot, error) : `${uncaught.stack ?? uncaught}\n`);
    process.exit(ours ? error.status : 1);
  });
}
