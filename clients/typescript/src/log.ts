// Logs one line per event to standard error. `logTo` sends the lines elsewhere.

/** The level of a line. */
export type Level = "info" | "warn" | "error";
/** Receives a line. */
export type Logger = (level: Level, text: string) => void;

const RANKS: Record<Level, number> = { info: 0, warn: 1, error: 2 };
let lowest = 0;

const onStandardError: Logger = (level, text) => {
  if (RANKS[level] >= lowest) process.stderr.write(`${new Date().toISOString().slice(0, 19).replace("T", " ")} ${text}\n`);
};
let logger: Logger = onStandardError;

/** Send the lines to another function; undefined for standard error again. */
export function logTo(other: Logger | undefined): void {
  logger = other ?? onStandardError;
}

/** Show on standard error only lines of this level or above. */
export function logFrom(level: Level): void {
  lowest = RANKS[level];
}

export const log = {
  info: (text: string) => logger("info", text),
  warn: (text: string) => logger("warn", text),
  error: (text: string) => logger("error", text),
};
