// The questions to a bot: a Decision, and the Catalog that maps its numbers to cards and actions.

import type { Any } from "@bufbuild/protobuf/wkt";

import { ProtocolMismatchError } from "./errors.js";
import { Asking } from "./questions.js";
import type { Action as ActionMessage, Card as CardMessage, GameCatalog } from "./v1/arena/v1/game_pb.js";
import type { NullernView } from "./v1/arena/v1/nullern_pb.js";
import { type Decision as DecisionMessage, DecisionSchema } from "./v1/arena/v1/play_pb.js";
import type { SixthSenseView } from "./v1/arena/v1/sixth_sense_pb.js";

/**
 * The game as one seat sees it: a message of the game's own type, named by `$typeName`. For a game that is not in GAMES, it is an
 * `Any` whose message the catalogue describes.
 */
export type View = SixthSenseView | NullernView | Any;

const VIEWS = new Map(DecisionSchema.oneofs.find(({ name }) => name === "view")!.fields.map((field) => [field.localName, field.name]));
/** Names, as used in requests, of the games whose messages this client has. A bot may play other games, too. */
export const GAMES: readonly string[] = [...VIEWS.values()];

/** One card of a game: name, colour, values. */
export type Card = CardMessage;
/** One action of a game: name and kind, and card, value and place; those that do not apply are undefined. */
export type Action = ActionMessage;
/** One game: its colours, cards and actions. Created once per connection and shared by all its decisions. */
export interface Catalog extends GameCatalog {
  /** The catalogue as the server sent it, with the options of the game and the descriptors of its messages. */
  readonly message: GameCatalog;
}

/** Build a catalogue from a message. */
export const catalogOf = (message: GameCatalog): Catalog => ({ ...message, message });

/** A choice that the bot must make, with all that its seat may know, so that a bot needs no memory. */
export class Decision {
  constructor(
    readonly matchId: number,
    /** Number of the decision, unique within the match. */
    readonly decisionId: number,
    readonly game: Catalog,
    /** The game as this seat sees it. */
    readonly view: View,
    /** The legal actions in rising order, never empty: indices into `game.actions`. */
    readonly legal: readonly [number, ...number[]],
    /** Milliseconds until the bank is used. */
    public softMs: number,
    /** Milliseconds left in the bank, for the rest of the match. */
    public bankMs: number,
    private readonly asking: Asking = new Asking(BigInt(matchId)),
  ) {}

  /**
   * Aborted when further thinking is useless: the server has decided for the bot, the match has ended, or the bot has answered or
   * must stop. Only a `decide` that awaits sees this. It may pass the signal on; an AbortError then means that there is no
   * answer.
   */
  get signal(): AbortSignal {
    return this.asking.signal;
  }

  /** @internal The match's number in messages. */
  get wireMatchId(): bigint {
    return this.asking.matchId;
  }

  /** @internal True if the signal is aborted. */
  get closed(): boolean {
    return this.asking.closed;
  }

  /** The seat's own cards, in the order of `view.hand`; empty if hidden from the seat, or in a game not in GAMES. */
  get hand(): Card[] {
    return this.view.$typeName === "google.protobuf.Any" ? [] : this.view.hand.map((number) => this.game.cards[number]);
  }

  /** The legal actions as `Action` objects, in the order of `legal`. */
  get actions(): Action[] {
    return this.legal.map((number) => this.game.actions[number]);
  }
}

/** Return the game whose views have the type in the URL of an Any. */
function byType(games: ReadonlyMap<string, Catalog>, url = ""): Catalog | undefined {
  const type = url.slice(url.lastIndexOf("/") + 1);
  return [...games.values()].find(({ message }) => type && message.viewType === type);
}

const CLOSED = new Asking(0n);
CLOSED.close();

/**
 * Convert a message to a decision for the bot. `asking`: its entry among the open decisions; undefined if closed.
 * Throws ProtocolMismatchError if no catalogue belongs to its game.
 */
export function decisionOf(message: DecisionMessage, games: ReadonlyMap<string, Catalog>, asking = CLOSED): Decision {
  const { matchId, decisionId, legal, softMs, bankMs } = message;
  const view = message.view.value ?? message.other;
  const game = message.view.case === undefined ? byType(games, message.other?.typeUrl) : games.get(VIEWS.get(message.view.case)!);
  if (view === undefined || game === undefined) {
    throw new ProtocolMismatchError("the server asks for a decision in a game unknown to this client: update arena-client");
  }
  return new Decision(Number(matchId), decisionId, game, view, legal as [number, ...number[]], softMs, bankMs, asking);
}
