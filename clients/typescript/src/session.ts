// The part of a stream's conversation that does not involve the bot: heartbeats, invitations, the running
// matches. It continues while the bot thinks. It never waits, does no input or output (connection.ts
// does), and does not call the bot (caller.ts does).

import { randomBytes } from "node:crypto";

import { create } from "@bufbuild/protobuf";

import { NoGameInCommonError, ProtocolMismatchError } from "./errors.js";
import { log } from "./log.js";
import type { Receipts, Seat } from "./receipts.js";
import {
  type Invitation, MatchKind, type MatchReport, type MatchStart, NoticeKind, type PlayRequest, PlayRequestSchema,
  type PlayResponse, ReadySchema, type Welcome,
} from "./v1/arena/v1/play_pb.js";

/** The state that outlives a stream: the number of matches to play, and the matches in progress. */
export class Progress {
  finished = 0;
  /** The matches that have begun. */
  readonly playing = new Set<bigint>();
  /** The bot's random bytes for the deal, for each accepted invitation whose match has not begun. */
  readonly accepted = new Map<bigint, Uint8Array>();
  /** The known facts of the matches that have begun. */
  readonly seats = new Map<bigint, Seat>();
  /** True if no more matches may begin, regardless of `wanted`. */
  ending = false;
  /** The log number of the last report, or the log's size before the first report; undefined if both are unknown. */
  reportsAfter: bigint | undefined;
  /** The size of the server's log when this run began: earlier reports do not count as finished. Undefined if unknown. */
  #past: bigint | undefined;
  /** The server's reason for parking the bot; empty if the bot is not parked. */
  parked = "";

  /** `wanted`: the number of matches to play; undefined for no limit. */
  constructor(readonly wanted?: number) {}

  /** True if another match may begin. */
  get more(): boolean {
    if (this.ending) return false;
    return this.wanted === undefined || this.finished + this.playing.size + this.accepted.size < this.wanted;
  }

  /** Return the number of simultaneous matches that are possible with a capacity. */
  room(capacity: number): number {
    if (this.ending) return 0;
    return this.wanted === undefined ? capacity : Math.min(capacity, this.wanted - this.finished);
  }

  /** True if the bot has no more matches to play. */
  get done(): boolean {
    return !(this.more || this.playing.size || this.accepted.size);
  }

  /** Record the size of the server's log. It replaces larger recorded numbers, which belong to another log. */
  welcomed(size: bigint): void {
    if (this.reportsAfter === undefined || this.reportsAfter > size) this.reportsAfter = size;
    if (this.#past === undefined || this.#past > size) this.#past = size;
  }

  /** Record the end of a match. */
  finish({ matchId, entry, interrupted }: MatchReport): void {
    this.playing.delete(matchId);
    if (entry !== undefined) this.reportsAfter = entry.number;
    const earlier = entry !== undefined && this.#past !== undefined && entry.number <= this.#past;
    if (!interrupted && !earlier) this.finished += 1;
  }

  /**
   * Forget the state that the server sends again on a new connection: invitations and running matches. When
   * a run is ending, its running matches are not forgotten: each gets its report or begins again.
   */
  reconnect(): void {
    if (!this.ending) this.playing.clear();
    this.accepted.clear();
  }
}

/** The conversation of one stream, from the welcome on. */
export class Session {
  /** The capacity last sent to the server; negative if it must be sent again. */
  #room: number;

  /**
   * `challengers`: lower-case names of the bots whose challenges the bot accepts; undefined for all. Throws
   * NoGameInCommonError, or ProtocolMismatchError if the server does not confirm the `ladders` and `events`.
   */
  constructor(
    readonly welcome: Welcome,
    games: readonly string[],
    private readonly capacity: number,
    private readonly progress: Progress,
    private readonly receipts?: Receipts,
    private readonly challengers?: ReadonlySet<string>,
    ladders: readonly string[] = [],
    events: readonly string[] = [],
  ) {
    this.#room = progress.room(capacity);
    const confirmed = welcome.ladders.map(({ name }) => name);
    for (const [kind, names, known] of [["ladder", ladders, confirmed], ["event", events, welcome.events]] as const) {
      const unknown = names.find((name) => !known.includes(name));
      if (unknown === undefined) continue;
      throw new ProtocolMismatchError(`the server does not confirm the ${kind} ${unknown}: it is older than ${kind}s; name none`);
    }
    if (!welcome.games.some(({ name }) => games.includes(name))) {
      throw new NoGameInCommonError(`the server plays none of the bot's games (${games.join(", ") || "it names none"})`);
    }
  }

  /** Apply a message; return the immediate reply, if there is one. */
  receive(message: PlayResponse): PlayRequest | undefined {
    const progress = this.progress;
    const reply = create(PlayRequestSchema);
    let said = false;
    for (const { matchId } of message.decisions) progress.playing.add(matchId);
    if (message.heartbeat !== undefined) {
      reply.heartbeat = message.heartbeat;
      said = true;
    }
    for (const invitation of message.invitations) {
      this.#invited(invitation, reply);
      said = true;
    }
    for (const start of message.starts) this.#start(start);
    for (const report of message.reports) this.#end(report);
    for (const notice of message.notices) {
      if (notice.kind === NoticeKind.WITHDRAWN || notice.kind === NoticeKind.TAKEN) {
        progress.accepted.delete(notice.invitationId ?? 0n); // this invitation leads to no match
      } else if (notice.kind === NoticeKind.PARKED) {
        [progress.parked, progress.ending] = [notice.text, true];
      }
    }
    const room = progress.room(this.capacity);
    if (room > this.#room) {
      reply.capacity = this.#room = room;
      said = true;
    }
    return said ? reply : undefined;
  }

  #invited(invitation: Invitation, reply: PlayRequest): void {
    const { invitationId } = invitation;
    if (invitation.kind === MatchKind.CHALLENGE && !this.#takes(invitation)) {
      reply.declined.push(invitationId);
    } else if (this.progress.more || this.progress.accepted.has(invitationId)) {
      const nonce = randomBytes(16);
      this.progress.accepted.set(invitationId, nonce);
      reply.ready.push(create(ReadySchema, { invitationId, nonce }));
    } else {
      reply.declined.push(invitationId);
      this.#room = -1;
    }
  }

  /** Decide whether to accept a challenge, and log it. */
  #takes({ bots }: Invitation): boolean {
    const taken = this.challengers === undefined || bots.some((name) => this.challengers?.has(name.toLowerCase()));
    log.info(`a challenge of ${bots.join(", ")}: ${taken ? "accepted" : "declined"}`);
    return taken;
  }

  #start({ matchId, invitationId, seat, salt, commitment }: MatchStart): void {
    const nonce = this.progress.accepted.get(invitationId) ?? new Uint8Array();
    this.progress.accepted.delete(invitationId);
    this.progress.playing.add(matchId);
    const known = this.progress.seats.get(matchId);
    if (known === undefined || !Buffer.from(known.commitment).equals(commitment)) {
      this.progress.seats.set(matchId, { seat, nonce, salt, commitment });
    }
  }

  #end(report: MatchReport): void {
    this.progress.finish(report);
    const seat = this.progress.seats.get(report.matchId);
    this.progress.seats.delete(report.matchId);
    if (report.entry !== undefined) this.receipts?.recordMatch(report, seat);
  }
}

/** Return true if any part of a message is for the bot itself. */
export function concernsBot({ decisions, starts, rounds, reports, notices, closed }: PlayResponse): boolean {
  return [decisions, starts, rounds, reports, notices, closed].some(({ length }) => length > 0);
}
