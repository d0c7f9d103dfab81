// The class that a bot author extends. A bot has no connection: `run` passes it decisions and sends its answers.

import { type Decision, GAMES } from "./decision.js";
import { log } from "./log.js";
import type { MatchReport, MatchStart, Notice, RoundReport, Welcome } from "./messages.js";
import { NoticeKind } from "./v1/arena/v1/play_pb.js";

/** Kinds of notices about an action or omission of the bot. */
const FAULTS = new Set([
  NoticeKind.ILLEGAL, NoticeKind.STALE, NoticeKind.UNKNOWN, NoticeKind.FORCED_BY_TIME,
  NoticeKind.FORCED_BY_ILLEGALITY, NoticeKind.SUSPENDED,
]);

/** Possible results of `decideMany`: an action for each decision, at once or one after the other; null only for a closed decision. */
export type Choices =
  | Iterable<number | null | Promise<number | null>>
  | AsyncIterable<number | null>
  | Promise<Iterable<number | null>>;

/** A player. Override `decide` (or `decideMany`); the rest is optional. */
export abstract class Bot {
  /** Name of the bot: 1 to 40 letters, digits, '.', '_' or '-'; the class's name if empty. */
  name = "";
  /** Owner of the bot; the bot's name if empty. Bots of one owner meet in challenges only. */
  owner = "";
  /** Names of the games that the bot plays. They may include games that are not in GAMES. */
  games: readonly string[] = GAMES.slice(0, 1);
  /** Features of later versions of the protocol that the bot's own code understands; none is defined yet. */
  features: readonly string[] = [];
  /** The number of matches that the bot plays at once. */
  capacity = 8;
  /** Files that affect the bot's behaviour, such as weights; the version's digest covers them. */
  files: readonly string[] = [];
  /** Version, at most 40 printable characters; null for a digest of the program's file and `files`. Each is rated. */
  version: string | null = null;

  /** Choose one of `decision.legal`. */
  decide(_decision: Decision): number | Promise<number> {
    throw new Error(`${this.constructor.name} has neither decide() nor decideMany()`);
  }

  /**
   * Choose for all open decisions at once: one action for each decision, in the same order. Override it if many
   * decisions together are cheaper than one by one. Actions from a generator are sent while it continues.
   */
  decideMany(decisions: readonly Decision[]): Choices {
    return eachAlone(this, decisions);
  }

  /** Handle the server's first message on a connection: its rules, its limits, its catalogues, and the `features` in use. */
  onWelcome(_welcome: Welcome): void {}

  /** Handle the beginning of a match, with the seat and the names of all bots; called again after a reconnect. */
  onMatchStart(_start: MatchStart): void {}

  /** Handle the end of a round; the report shows all cards. The record of a game not in GAMES is in `other`. */
  onRound(_report: RoundReport): void {}

  /** Handle the end of a match. The default logs place, points and rating. */
  onMatchEnd(report: MatchReport): void {
    if (report.interrupted) return log.warn(`match ${report.matchId} was interrupted: ${report.interrupted}`);
    const { seat, places, scores, rating } = report;
    const moved = rating ? rating.after - rating.before : 0;
    const rated = rating ? `, rating ${rating.after.toFixed(0)} (${moved < 0 ? "" : "+"}${moved.toFixed(1)})` : "";
    return log.info(`match ${report.matchId}: place ${places[seat]} of ${places.length} with ${scores[seat]} points${rated}`);
  }

  /** Handle a notice from the server. The default logs one line: a warning if the bot is at fault. */
  onNotice(notice: Notice): void {
    if (notice.kind === NoticeKind.PARKED) return; // the run ends with this error, which reports it
    const kind = NoticeKind[notice.kind]?.toLowerCase().replaceAll("_", " ") ?? `notice ${notice.kind}`;
    const match = notice.matchId === undefined ? "server" : `match ${notice.matchId}`;
    const where = notice.decisionId === undefined ? match : `${match}, decision ${notice.decisionId}`;
    const text = notice.text.split(/\s+/).filter(Boolean).join(" ") || "no reason given";
    log[FAULTS.has(notice.kind) ? "warn" : "info"](`${where}: ${kind}: ${text}`);
  }
}

function* eachAlone(bot: Bot, decisions: readonly Decision[]): Generator<number | null | Promise<number>> {
  for (const decision of decisions) yield decision.closed ? null : bot.decide(decision);
}
