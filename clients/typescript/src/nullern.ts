// Reads a view of Nullern: the strengths of cards, the trick on the table, the seats that want tricks, the
// unseen cards. It computes everything from one decision and stores nothing.

import type { Catalog } from "./decision.js";
import type { NullernView } from "./v1/arena/v1/nullern_pb.js";

/** The highest strength of a card that is not a trump. */
export const PLAIN = 20;
/** Points that a missed bid costs at the end of the game. */
export const HUPFER = 5;

/** Everything that a seat knows when it chooses, except its own hand. */
export interface Table {
  /** The strength of each card: its value, plus 20 for a trump. The strongest card takes the trick. */
  readonly strengths: readonly number[];
  /** The strengths of the cards on the table; the first of equally strong cards takes the trick. */
  readonly trick: readonly number[];
  /** The seats that play to this trick after the viewing seat. */
  readonly toCome: readonly number[];
  /** The strengths of the unseen cards: those in the other hands and in the stock. */
  readonly unseen: readonly number[];
}

/** Read the table from a view. */
export function read(game: Catalog, view: NullernView): Table {
  const { seat, seats, turned, hand, plays, takers } = view;
  const trump = game.cards[turned].colour;
  const strengths = game.cards.map(({ colour, values }) => values[0] + (colour === trump ? PLAIN : 0));
  const trick = plays.slice(takers.length * seats).map((card) => strengths[card]);
  const toCome = Array.from({ length: seats - trick.length - 1 }, (_, step) => (seat + step + 1) % seats);
  const seen = new Set([...hand, ...plays, turned]);
  return { strengths, trick, toCome, unseen: strengths.filter((_, card) => !seen.has(card)) };
}

/** Return the seat that is winning the trick; undefined if the table is empty. */
export function taker(game: Catalog, view: NullernView): number | undefined {
  const { trick } = read(game, view);
  if (!trick.length) return undefined;
  return (view.leaders[view.takers.length] + trick.indexOf(Math.max(...trick))) % view.seats;
}

/** Return the number of tricks that a seat's bid still needs; negative if the seat has too many. */
export const wantedTricks = (view: NullernView, seat: number): number => (view.bids[seat] ?? -1) - view.taken[seat];

/** Return true if a seat wants a trick: for its bid or, if the bid is lost, for the trick's point. */
export const eager = (view: NullernView, seat: number): boolean => wantedTricks(view, seat) !== 0;

/** Return the points of a round with this bid and these tricks, including the later cost of a missed bid. */
export function points(bid: number, tricks: number): number {
  if (bid !== tricks) return tricks - HUPFER;
  return tricks ? 10 + tricks : 20;
}
