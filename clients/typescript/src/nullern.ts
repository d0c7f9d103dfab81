// Reads a view of Nullern: how strong a card is, what lies on the table, who wants tricks, which cards are out.
// It computes everything from one decision and remembers nothing.

import type { Catalog } from "./decision.js";
import type { NullernView } from "./v1/arena/v1/nullern_pb.js";

/** The highest strength of a card that is no trump. */
export const PLAIN = 20;
/** Points that a missed bid costs at the end of the game. */
export const HUPFER = 5;

/** What the seat to choose knows, beyond its own hand. */
export interface Table {
  /** By card: its value, whatever its colour, and 20 more for a trump. The strongest card takes the trick. */
  readonly strengths: readonly number[];
  /** The strengths of the cards on the table; of equally strong ones the first takes the trick. */
  readonly trick: readonly number[];
  /** The seats that play to this trick after the own one. */
  readonly toCome: readonly number[];
  /** The strengths of the cards that lie with the others or in the stock. */
  readonly unseen: readonly number[];
}

/** Return the table as the view shows it. */
export function read(game: Catalog, view: NullernView): Table {
  const { seat, seats, turned, hand, plays, takers } = view;
  const trump = game.cards[turned].colour;
  const strengths = game.cards.map(({ colour, values }) => values[0] + (colour === trump ? PLAIN : 0));
  const trick = plays.slice(takers.length * seats).map((card) => strengths[card]);
  const toCome = Array.from({ length: seats - trick.length - 1 }, (_, step) => (seat + step + 1) % seats);
  const seen = new Set([...hand, ...plays, turned]);
  return { strengths, trick, toCome, unseen: strengths.filter((_, card) => !seen.has(card)) };
}

/** Return the seat that takes the trick on the table as it lies; undefined where no card lies there. */
export function taker(game: Catalog, view: NullernView): number | undefined {
  const { trick } = read(game, view);
  if (!trick.length) return undefined;
  return (view.leaders[view.takers.length] + trick.indexOf(Math.max(...trick))) % view.seats;
}

/** Return the tricks still missing for a seat's bid; negative when it has too many. */
export const wantedTricks = (view: NullernView, seat: number): number => (view.bids[seat] ?? -1) - view.taken[seat];

/** Return whether a seat has a use for a trick: for its bid, or, when that is lost anyway, for the point. */
export const eager = (view: NullernView, seat: number): boolean => wantedTricks(view, seat) !== 0;

/** Return what a round brings with this bid and that many tricks, the cost of a missed bid counted at once. */
export function points(bid: number, tricks: number): number {
  if (bid !== tricks) return tricks - HUPFER;
  return tricks ? 10 + tricks : 20;
}
