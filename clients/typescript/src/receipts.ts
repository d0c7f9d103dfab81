// What a bot keeps of the log of results: the server's key and newest head, and a receipt for each match. A file of JSON
// lines beside the token, which is added to; docs/log.md of the Arena describes it, `arena replay verify --receipts` reads it.

import {
  appendFileSync, closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

import { log } from "./log.js";
import { fieldsOf, type Head, included } from "./merkle.js";
import type { LogState } from "./v1/arena/v1/log_pb.js";
import type { MatchReport } from "./v1/arena/v1/play_pb.js";

/** Receipts that a file keeps, the newest; up to twice as many for a while. */
const KEPT = 1000;
const PIN = '{"arena_receipts"';

/** What a bot knows of a match from its beginning. */
export interface Seat {
  seat: number;
  /** Its own chance in the deal; empty where an earlier run of the program sent it. */
  nonce: Uint8Array;
  salt: Uint8Array;
  commitment: Uint8Array;
}

/** What is known of a server's log: the leaves that name its keys and its restorations, and its newest head. */
export interface Pin {
  keys: Uint8Array[];
  restores: Uint8Array[];
  head: Head;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
const headLine = ({ size, root, signature }: Head) => ({ size: Number(size), root: hex(root), signature: hex(signature) });

/** The receipts of one bot at one server. */
export class Receipts {
  pin: Pin | undefined;
  /** Heads of receipts, the oldest first. */
  heads: Head[] = [];
  /** Number of the leaf, and match, of each receipt. */
  matches: [bigint, bigint][] = [];
  #lines = 0;
  #read = false;
  #troubled = false;

  /** `file`: where they are; undefined keeps nothing on the disk. */
  constructor(readonly file: string | undefined) {}

  /** Read the file once; what cannot be read is left alone, with a warning. */
  read(): void {
    if (this.#read || this.file === undefined) return;
    this.#read = true;
    try {
      for (const line of this.#wholeLines(this.file, readFileSync(this.file)).toString().split("\n").filter(Boolean)) {
        this.#lines += 1;
        this.#remember(JSON.parse(line));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#warn(error);
    }
  }

  /** Return what a file holds, without a last line that was never finished, which is cut off: the next would be a part of it. */
  #wholeLines(file: string, content: Buffer): Buffer {
    const whole = content.subarray(0, content.lastIndexOf("\n") + 1);
    if (whole.length < content.length) {
      truncateSync(file, whole.length);
      log.warn(`the last line of ${file} was not finished, and is left out`);
    }
    return whole;
  }

  /** Return the longest head that is known, of at most so many leaves. */
  latest(size?: bigint): Head | undefined {
    const known = [...this.heads, ...(this.pin ? [this.pin.head] : [])].filter((head) => size === undefined || head.size <= size);
    return known.reduce<Head | undefined>((best, head) => (best === undefined || head.size > best.size ? head : best), undefined);
  }

  /** Keep keys, restorations and head of a server; `cut`: the leaves that a restoration left of what was known. */
  pinTo(state: LogState, cut?: bigint): void {
    if (cut !== undefined) this.#forget(cut);
    this.pin = { keys: state.keys, restores: state.restores.map(({ leaf }) => leaf), head: state.head! };
    const line = { arena_receipts: 1, keys: this.pin.keys.map(text), restores: this.pin.restores.map(text), head: headLine(this.pin.head) };
    this.#add(cut === undefined ? line : { ...line, cut: Number(cut) });
  }

  /** Check what a report says of the log, and keep it. */
  take(report: MatchReport, seat: Seat | undefined): void {
    const entry = report.entry!;
    this.read();
    const problem = problemOf(report);
    if (problem !== undefined) {
      log.error(`match ${report.matchId}: the server's log of results does not bear out its report: ${problem}`);
    }
    if (entry.head === undefined) return;
    this.heads.push(entry.head);
    this.matches.push([entry.number, report.matchId]);
    this.#add({
      match: Number(report.matchId),
      seat: report.seat,
      ...(seat && { nonce: hex(seat.nonce), salt: hex(seat.salt), commitment: hex(seat.commitment) }),
      number: Number(entry.number),
      leaf: text(entry.leaf),
      head: headLine(entry.head),
      proof: entry.proof.map(hex),
    });
  }

  #remember(line: any): void { // eslint-disable-line
    const bytes = (digits: string) => Buffer.from(digits, "hex");
    const head = { size: BigInt(line.head.size), root: bytes(line.head.root), signature: bytes(line.head.signature) };
    if ("keys" in line) {
      if ("cut" in line) this.#forget(BigInt(line.cut));
      this.pin = { keys: line.keys.map((each: string) => Buffer.from(each)), restores: line.restores.map((each: string) => Buffer.from(each)), head };
    } else {
      this.heads.push(head);
      this.matches.push([BigInt(line.number), BigInt(line.match)]);
    }
  }

  /** Count no more with what lies beyond a cut; the file keeps it. */
  #forget(cut: bigint): void {
    this.heads = this.heads.filter(({ size }) => size <= cut);
    this.matches = this.matches.filter(([number]) => number <= cut);
  }

  #add(line: object): void {
    this.heads.splice(0, this.heads.length - KEPT);
    this.matches.splice(0, this.matches.length - KEPT);
    if (this.file === undefined) return;
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      if (this.#lines >= 2 * KEPT) this.#shorten(this.file);
      appendWhole(this.file, `${JSON.stringify(line)}\n`);
      this.#lines += 1;
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Keep the newest receipts, and the newest pin before them. */
  #shorten(file: string): void {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
    const pins = lines.filter((line) => line.startsWith(PIN));
    const kept = [...pins.slice(-1), ...lines.filter((line) => !line.startsWith(PIN)).slice(-KEPT)];
    const whole = `${file}.${process.pid}`;
    try {
      writeFileSync(whole, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
      renameSync(whole, file);
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

/** Write a line behind what is in a file, or leave it as it was: half a line would spoil the next. */
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
        // the first error says what is wrong
      }
      throw error;
    }
  } finally {
    closeSync(to);
  }
}

/** Return what is wrong with the entry of a report, in words; undefined where nothing is. */
function problemOf({ entry, matchId, interrupted, places, scores }: MatchReport): string | undefined {
  if (entry === undefined || !included(entry)) return "its proof does not lead from leaf to head";
  let leaf: Record<string, unknown>;
  try {
    leaf = fieldsOf(entry.leaf);
  } catch (error) {
    return `its leaf cannot be read (${(error as Error).message})`;
  }
  const told: [string, unknown][] = [["number", Number(entry.number)], ["match", Number(matchId)]];
  if (!interrupted) told.push(["places", places], ["points", scores]);
  for (const [name, value] of told) {
    const [says, said] = [leaf[name], value].map((each) => JSON.stringify(each)?.replaceAll(",", ", "));
    if (says !== said) return `its leaf says ${says} for "${name}", the report ${said}`;
  }
  return undefined;
}
