// The question at each welcome: was the server's log of results only added to since the bot last saw it?

import { log } from "./log.js";
import { consistent, fieldsOf, type Head, included, Keys } from "./merkle.js";
import type { Receipts } from "./receipts.js";
import type { LogState } from "./v1/arena/v1/log_pb.js";

/** Asks the server for the proof that a log of so many leaves begins a longer one; undefined where it refuses. */
export type Consistency = (first: bigint, second: bigint) => Promise<readonly Uint8Array[] | undefined>;

const same = (one: Uint8Array, other: Uint8Array) => Buffer.from(one).equals(other);

/** Compares a server's log with what a bot kept of it. It says what is wrong once, and the bot plays on. */
export class LogChecker {
  #alarmed = false;

  constructor(private readonly receipts: Receipts) {}

  /** Check the log that a welcome shows; undefined where it shows none. */
  async check(state: LogState | undefined, consistency: Consistency): Promise<void> {
    const { receipts } = this;
    receipts.read();
    if (state?.head === undefined) {
      if (receipts.pin !== undefined) this.#alarm("the server had a log of results and shows none now");
      return;
    }
    const problem = malformed(state, state.head);
    if (problem !== undefined) this.#alarm(problem);
    else if (receipts.pin === undefined) receipts.pinTo(state);
    else await this.#compare(state, state.head, consistency);
  }

  async #compare(state: LogState, head: Head, consistency: Consistency): Promise<void> {
    const { receipts } = this;
    const [pin, known] = [receipts.pin!, receipts.latest()!];
    if (!pin.keys.every((key, at) => at < state.keys.length && same(key, state.keys[at]))) {
      return this.#alarm("its key is not the one that this bot knows, and that one did not name it");
    }
    if (pin.head.size === head.size && same(pin.head.root, head.root) && pin.keys.length === state.keys.length) return;
    if (known.size <= head.size && (await begins(known, head, consistency))) return receipts.pinTo(state);
    const cut = newCut(state, head, pin.restores, known.size);
    if (cut === undefined) return this.#alarm(`it does not begin with the ${known.size} entries that this bot has seen`);
    const earlier = receipts.latest(cut.size);
    if (earlier !== undefined && !(await begins(earlier, head, consistency))) {
      return this.#alarm(`it was restored from a backup, and does not begin with the ${earlier.size} entries before that`);
    }
    const beyond = receipts.matches.flatMap(([number, match]) => (number > cut.size ? [match] : []));
    const which = beyond.length === 1 ? ` (match ${beyond[0]})` : beyond.length ? ` (matches ${beyond[0]} to ${beyond[beyond.length - 1]})` : "";
    const when = `${cut.at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    log.warn(
      `the server was restored from a backup on ${when}, and its log goes on from entry ${cut.size}: ${beyond.length} of this bot's receipts are of results after that${which}, ` +
        `which it does not know any more; they are kept in ${receipts.file ?? "memory"}, and the bot plays on`,
    );
    return receipts.pinTo(state, cut.size);
  }

  #alarm(problem: string): void {
    if (this.#alarmed) return;
    this.#alarmed = true;
    log.error(
      `THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: ${problem}. Results may have been changed. What this bot was told is kept in ` +
        `${this.receipts.file ?? "memory"}; it plays on`,
    );
  }
}

async function begins(first: Head, second: Head, consistency: Consistency): Promise<boolean> {
  if (first.size === second.size) return same(first.root, second.root);
  const proof = await consistency(first.size, second.size);
  return proof !== undefined && consistent(first, second, proof);
}

/** Return what is wrong with a log by itself, in words; undefined where nothing is. */
function malformed({ keys }: LogState, head: Head): string | undefined {
  try {
    return new Keys(keys).signed(head) ? undefined : "its head is not signed by its key";
  } catch (error) {
    return `it shows ${(error as Error).message}`;
  }
}

/** Return where a restoration that was not known cut the log below so many entries, and when. */
function newCut(state: LogState, head: Head, known: readonly Uint8Array[], seen: bigint): { size: bigint; at: Date } | undefined {
  const cuts = [];
  for (const entry of state.restores) {
    const under = entry.head !== undefined && entry.head.size === head.size && same(entry.head.root, head.root);
    if (!under || known.some((leaf) => same(leaf, entry.leaf)) || !included(entry)) continue;
    try {
      const leaf = fieldsOf(entry.leaf);
      const [size, at] = [BigInt(leaf.size as number), new Date(Number(leaf.at) / 1000)];
      if (leaf.kind === "restore" && entry.number === size + 1n && size < seen && !Number.isNaN(at.getTime())) cuts.push({ size, at });
    } catch {
      continue;
    }
  }
  return cuts.reduce<{ size: bigint; at: Date } | undefined>((best, cut) => (best === undefined || cut.size < best.size ? cut : best), undefined);
}
