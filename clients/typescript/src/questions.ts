// The open decisions of a stream, which the network closes while the bot decides.

import type { PlayResponse } from "./v1/arena/v1/play_pb.js";

/** Maximum number of ended matches to remember; their messages may still be waiting for the bot. */
const MOST_ENDED = 1000;

/** An open decision. Its signal is created when the bot requests it. */
export class Asking {
  closed = false;
  #controller: AbortController | undefined;

  /** `matchId`: the match's number in messages. */
  constructor(readonly matchId: bigint) {}

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.closed) this.#controller.abort();
    return this.#controller.signal;
  }

  close(): void {
    this.closed = true;
    this.#controller?.abort();
  }
}

/** The open decisions of one stream, and its ended matches. */
export class Questions {
  readonly #open = new Map<bigint, Map<number, Asking>>();
  readonly #ended = new Set<bigint>();

  /** Apply a message: its new decisions, the decisions made without the bot, and the ended matches. */
  receive({ decisions, closed, reports }: PlayResponse): void {
    for (const { matchId, decisionId } of decisions) {
      const match = this.#open.get(matchId);
      const asking = new Asking(matchId);
      if (match === undefined) this.#open.set(matchId, new Map([[decisionId, asking]]));
      else match.set(decisionId, asking);
    }
    for (const { matchId, decisionId } of closed) this.close(matchId, decisionId);
    for (const { matchId } of reports) {
      for (const asking of this.#open.get(matchId)?.values() ?? []) asking.close();
      this.#open.delete(matchId);
      this.#ended.add(matchId);
      if (this.#ended.size > MOST_ENDED) this.#ended.delete(this.#ended.values().next().value!);
    }
  }

  /** Return an open decision; undefined if it is closed. */
  find(matchId: bigint, decisionId: number): Asking | undefined {
    return this.#open.get(matchId)?.get(decisionId);
  }

  /** Remove a decision that the bot has answered or that was made without it. */
  close(matchId: bigint, decisionId: number): void {
    const match = this.#open.get(matchId);
    match?.get(decisionId)?.close();
    match?.delete(decisionId);
  }

  /** Close all decisions, because the bot must stop. */
  closeAll(): void {
    for (const match of this.#open.values()) for (const asking of match.values()) asking.close();
    this.#open.clear();
  }

  /** Return true if a match is still running, as far as the client knows. */
  plays(matchId: bigint): boolean {
    return !this.#ended.has(matchId);
  }
}
