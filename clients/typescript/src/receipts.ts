// The receipts file beside a bot's token: JSON lines with the server's statements about its log of results,
// as described in the Arena's docs/log.md. This module verifies nothing; `arena replay verify --receipts`
// does.

import {
  appendFileSync, closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

import { log } from "./log.js";
import type { LogHead, LogState } from "./v1/arena/v1/log_pb.js";
import type { MatchReport } from "./v1/arena/v1/play_pb.js";

/** Number of receipts that remain when the file is shortened. This happens when it has twice as many lines. */
const KEPT = 1000;
const PIN = '{"arena_receipts"';

/** Facts about a match that a bot knows from its start. */
export interface Seat {
  seat: number;
  /** The bot's random bytes for the deal; empty if an earlier run of the program sent them. */
  nonce: Uint8Array;
  salt: Uint8Array;
  commitment: Uint8Array;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
const headLine = ({ size, root, signature }: LogHead) => ({ size: Number(size), root: hex(root), signature: hex(signature) });

/** The receipts of one bot at one server. */
export class Receipts {
  /** The newest line with the log's keys, and the keys in it. */
  #pin = "";
  #keys: string[] = [];
  /** The largest number of entries under any head in the file. */
  #longest = 0;
  #lines = 0;
  #read = false;
  #troubled = false;

  constructor(readonly file: string) {}

  /**
   * Record the state of the log in a welcome. The file is left unchanged if the log is shorter than the largest
   * head in the file, or if its keys do not begin with the keys in the file. That may be a different log,
   * whose keys would invalidate all receipts in the file.
   */
  recordLog({ keys, restores, head }: LogState): void {
    this.#readOnce();
    if (head === undefined) return;
    const line = { arena_receipts: 1, keys: keys.map(text), restores: restores.map(({ leaf }) => text(leaf)), head: headLine(head) };
    const continues = this.#keys.every((key, at) => key === line.keys[at]) && line.head.size >= this.#longest;
    if (continues && JSON.stringify(line) !== this.#pin) this.#add(line);
  }

  /** Record a report's log entry. `begun`: facts known from the match's start. */
  recordMatch({ matchId, seat, entry }: MatchReport, begun: Seat | undefined): void {
    this.#readOnce();
    if (entry?.head === undefined) return;
    this.#add({
      match: Number(matchId),
      seat,
      ...(begun && { nonce: hex(begun.nonce), salt: hex(begun.salt), commitment: hex(begun.commitment) }),
      number: Number(entry.number),
      leaf: text(entry.leaf),
      head: headLine(entry.head),
      proof: entry.proof.map(hex),
    });
  }

  /** Read the file at the first call, and remove an unfinished last line, which would corrupt the next line. */
  #readOnce(): void {
    if (this.#read) return;
    this.#read = true;
    try {
      const content = readFileSync(this.file);
      const whole = content.subarray(0, content.lastIndexOf("\n") + 1);
      if (whole.length < content.length) {
        truncateSync(this.file, whole.length);
        log.warn(`the last line of ${this.file} was not finished, and is left out`);
      }
      for (const line of whole.toString().split("\n").filter(Boolean)) {
        this.#lines += 1;
        this.#note(line);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#warn(error);
    }
  }

  #note(line: string): void {
    const { keys, head } = JSON.parse(line);
    this.#longest = Math.max(this.#longest, head.size);
    if (line.startsWith(PIN)) [this.#pin, this.#keys] = [line, [...keys]];
  }

  #add(entry: object): void {
    const line = JSON.stringify(entry);
    this.#note(line);
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      if (this.#lines >= 2 * KEPT) this.#prune();
      appendWhole(this.file, `${line}\n`);
      this.#lines += 1;
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Shorten the file to the newest receipts and the newest line with keys before them. */
  #prune(): void {
    const lines = readFileSync(this.file, "utf8").split("\n").filter(Boolean);
    const pins = lines.filter((line) => line.startsWith(PIN));
    const kept = [...pins.slice(-1), ...lines.filter((line) => !line.startsWith(PIN)).slice(-KEPT)];
    const whole = `${this.file}.${process.pid}`;
    try {
      writeFileSync(whole, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
      renameSync(whole, this.file);
    } catch (error) {
      rmSync(whole, { force: true });
      throw error;
    }
    this.#lines = kept.length;
  }

  #warn(error: unknown): void {
    if (this.#troubled) return;
    this.#troubled = true;
    log.warn(`receipts cannot be kept in ${this.file} (${(error as Error).message}); the bot plays on without`);
  }
}

/** Append a line completely, or leave the file unchanged: half a line would corrupt the next. */
function appendWhole(file: string, line: string): void {
  const to = openSync(file, "a", 0o600);
  try {
    const before = fstatSync(to).size;
    try {
      appendFileSync(to, line);
    } catch (error) {
      try {
        ftruncateSync(to, before);
      } catch {
        // the first error names the fault; later ones are not logged
      }
      throw error;
    }
  } finally {
    closeSync(to);
  }
}
