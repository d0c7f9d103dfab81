// The server's messages in the form that bots receive: 64-bit numbers, all below 2^53, are plain numbers.

import type { Conduct as Limits, MatchReport as Report, MatchStart as Start, Notice as Note, RoundReport as Round, Welcome as First } from "./v1/arena/v1/play_pb.js";

/** A message with plain numbers instead of 64-bit bigints. */
export type Plain<T> = T extends bigint ? number : T extends Uint8Array ? T : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

/** The server's first message on a connection. */
export interface Welcome extends Plain<First> {}
/** The beginning of a match. */
export interface MatchStart extends Plain<Start> {}
/** The end of a round. */
export interface RoundReport extends Plain<Round> {}
/** The end of a match. */
export interface MatchReport extends Plain<Report> {}
/** Any other message to a bot. */
export interface Notice extends Plain<Note> {}

/** The limits of a ladder's matches. */
export interface Conduct extends Plain<Limits> {}

/** Return the limits of a match: its ladder's if its start names a ladder, otherwise those of the default ladders. */
export function conductOf(welcome: Welcome, start: MatchStart): Conduct | undefined {
  const own = welcome.ladders.find(({ name }) => name === start.ladder);
  return own === undefined ? welcome.conduct : own.conduct;
}

/** Return a copy of a message with plain numbers. */
export function plain<T>(message: T): Plain<T> {
  return converted(message) as Plain<T>;
}

function converted(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(converted);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, converted(each)]));
}
