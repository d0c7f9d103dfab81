// Options of `run`, the environment variables, and the profile that a connection needs.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import type { Bot } from "./bot.js";
import type { OnError } from "./caller.js";
import { ArgumentError } from "./errors.js";
import { defaultTokenFile } from "./tokens.js";

/** Options of `run`; each may be left out. */
export interface Options {
  /** The server's address, "host:port". Defaults to ARENA_SERVER, or else to localhost:50051. */
  address?: string | undefined;
  /** The token. */
  token?: string | undefined;
  /** The token file; by default ARENA_TOKEN_FILE, or a separate file for each bot in ~/.arena/tokens. */
  tokenFile?: string | undefined;
  /** The invitation to a server that registers bots by invitation only. */
  invitation?: string | undefined;
  /** Overrides the bot's owner; by default ARENA_OWNER. */
  owner?: string | undefined;
  /** True for TLS with the authorities that Node trusts, or the path of a PEM file with others. */
  tls?: boolean | string | undefined;
  /** Stop after this number of matches with a result. */
  matches?: number | undefined;
  /** Effect of an error in the bot: end the run, or log it and play the first legal action. */
  onError?: OnError | undefined;
  /** Number of seconds without any connection after which the run ends. */
  giveUpAfter?: number | undefined;
  /** False to turn off receipts of the server's log of results, which are stored beside the token. */
  receipts?: boolean | undefined;
  /** True to play unrated matches against house bots only. */
  casual?: boolean | undefined;
  /** True to accept challenges, or the names of the bots whose challenges are accepted. */
  challenges?: boolean | readonly string[] | undefined;
  /**
   * Names of the ladders to play on. Defaults to ARENA_LADDERS. If that is unset, or if the list is empty, the
   * default ladders of the bot's games.
   */
  ladders?: readonly string[] | undefined;
  /** Names of the events to enter. Defaults to ARENA_EVENTS. */
  events?: readonly string[] | undefined;
}

/** Data that a connection needs: plain values, so that it can be sent to another thread. */
export interface Profile {
  name: string;
  owner: string;
  games: readonly string[];
  features: readonly string[];
  capacity: number;
  version: string;
  address: string;
  token: string | undefined;
  tokenFile: string;
  invitation: string;
  tls: boolean | string;
  matches: number | undefined;
  giveUpAfter: number | undefined;
  /** The file of receipts; undefined to store none. */
  receipts: string | undefined;
  casual: boolean;
  challenges: boolean;
  /** Lower-case names of the bots whose challenges the bot accepts; undefined for all. */
  challengers: ReadonlySet<string> | undefined;
  ladders: readonly string[];
  events: readonly string[];
}

export const DEFAULT_ADDRESS = "localhost:50051";
const DEFAULT_PORT = 50051;
/** Maximum time in seconds to finish matches after Ctrl-C, unless ARENA_DRAIN sets another time. */
export const DRAIN = 30;
/** Maximum time in seconds to finish matches after SIGTERM; SIGKILL usually follows after 10 s. */
export const DRAIN_TERMINATED = 8;
const LONGEST_VERSION = 40;
const ADDRESS = /^(\[[^[\]\s]+\]|[^:/[\]\s]+):(\d{1,5})$/;
const OTHER_SCHEMES = ["dns:", "ipv4:", "ipv6:", "unix:"];

const environment = (name: string) => process.env[name] || undefined;

/** Return an address unchanged if it has a port; otherwise throw ArgumentError. */
export function checkedAddress(address: string): string {
  if (OTHER_SCHEMES.some((scheme) => address.startsWith(scheme))) return address;
  const port = Number(ADDRESS.exec(address)?.[2] ?? 0);
  if (port > 0 && port <= 65535) return address;
  const host = address && !/[:/]/.test(address) ? address : "HOST";
  throw new ArgumentError(
    `the address '${address}' is not of the form HOST:PORT; a server listens on port ${DEFAULT_PORT} unless its operator chose another: ${host}:${DEFAULT_PORT}`,
  );
}

/** Return the time limit in seconds for matches after Ctrl-C; throws ArgumentError for an invalid ARENA_DRAIN. */
export function drainSeconds(): number {
  const text = environment("ARENA_DRAIN");
  if (text === undefined) return DRAIN;
  const seconds = Number(text.trim() || NaN);
  if (!(seconds >= 0 && seconds <= DRAIN)) {
    throw new ArgumentError(`ARENA_DRAIN is '${text}': it takes seconds from 0 to ${DRAIN}`);
  }
  return seconds;
}

const checkedCount = (what: string, count: number) => {
  if (!Number.isInteger(count) || count < 1) throw new ArgumentError(`${what} is ${count}: it takes 1 or more`);
};

/**
 * Return the given names, or else the names in an environment variable. If ARENA_TOKEN is set, a program
 * started the bot, and only the environment counts.
 */
function chosen(given: readonly string[] | undefined, variable: string): readonly string[] {
  if (given !== undefined && environment("ARENA_TOKEN") === undefined) return given;
  const names = (environment(variable) ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

/** Collect the data that a connection needs from a bot, the options and the environment; throws ArgumentError. */
export function profileOf(bot: Bot, options: Options): Profile {
  let { address, token, tokenFile, tls = false } = options;
  address ??= environment("ARENA_SERVER") ?? DEFAULT_ADDRESS;
  if (token === undefined) tokenFile ??= environment("ARENA_TOKEN_FILE");
  if (options.matches !== undefined) checkedCount("matches", options.matches);
  checkedCount("the bot's capacity", bot.capacity);
  if (token !== undefined && !/^[!-~]([ -~]*[!-~])?$/.test(token)) {
    const what = token.trim() ? "not one line of printable characters" : "empty";
    throw new ArgumentError(`the token is ${what}: give it as the server did, or none for the one in the token file`);
  }
  const startedFor = environment("ARENA_TOKEN"); // set by the program that started this one, not by the author
  if (startedFor !== undefined) {
    [address, token, tokenFile, tls] = [environment("ARENA_SERVER") ?? address, startedFor, undefined, false];
  }
  const version = bot.version ?? digest(bot.files);
  if ([...version].length > LONGEST_VERSION || /\p{C}/u.test(version)) {
    throw new ArgumentError(`the bot's version is ${JSON.stringify(version)}: it takes at most ${LONGEST_VERSION} printable characters`);
  }
  const name = bot.name || bot.constructor.name;
  const { challenges = false } = options;
  const file = tokenFile ?? defaultTokenFile(address, name);
  return {
    name,
    owner: options.owner || bot.owner || environment("ARENA_OWNER") || "",
    games: bot.games,
    features: bot.features,
    capacity: bot.capacity,
    version,
    address: checkedAddress(address),
    token,
    tokenFile: file,
    invitation: options.invitation ?? "",
    tls,
    matches: options.matches,
    giveUpAfter: options.giveUpAfter,
    receipts: options.receipts === false || (token !== undefined && tokenFile === undefined) ? undefined : `${file}.receipts`,
    casual: options.casual ?? false,
    challenges: typeof challenges === "boolean" ? challenges : challenges.length > 0,
    ladders: chosen(options.ladders, "ARENA_LADDERS"),
    events: chosen(options.events, "ARENA_EVENTS"),
    challengers: typeof challenges === "boolean" ? undefined : new Set(challenges.map((each) => each.toLowerCase())),
  };
}

/** Return a digest of twelve hexadecimal digits of the program's file and the given files, without imported code. */
function digest(files: readonly string[]): string {
  const made = createHash("sha256");
  for (const file of [process.argv[1], ...files]) {
    if (file === undefined) continue;
    try {
      made.update(createHash("sha256").update(readFileSync(file)).digest());
    } catch (error) {
      if (files.includes(file)) throw new ArgumentError(`the file ${file} cannot be used: ${(error as Error).message}`);
    }
  }
  return made.digest("hex").slice(0, 12);
}
