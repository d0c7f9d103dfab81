// Messages between the bot's thread and the network's, and the clock that both read.

import type { Clock } from "./connection.js";
import type { Level } from "./log.js";

export type FromMain =
  | { kind: "say"; session: number; bytes: Uint8Array }
  | { kind: "drain"; ms: number }
  | { kind: "leave" }
  | { kind: "end" };

export type FromWorker =
  | { kind: "deliver"; session: number; bytes: Uint8Array; received: number }
  | { kind: "over"; session: number }
  | { kind: "hurry" }
  | { kind: "log"; level: Level; text: string }
  | { kind: "end"; error: { name: string; message: string; reason: string } | undefined };

/** The machine's own clock. The clock of `performance` starts again in each thread. */
export const CLOCK: Clock = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
