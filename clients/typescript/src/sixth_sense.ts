// Reads a view of 6th Sense: the trick on the table, its taker, the unseen cards, the seats void of a colour. It
// computes everything from one decision and stores nothing.

import type { Action, Catalog } from "./decision.js";
import type { SixthSenseView } from "./v1/arena/v1/sixth_sense_pb.js";

/** A card in a trick that is not blocked and so counts. */
export interface Laid {
  readonly seat: number;
  readonly place: number;
  readonly colour: number;
  readonly value: number;
}

/** Everything that a seat knows when it chooses, except its own hand. */
export interface Table {
  /** The trump colour; undefined if there is no trump, or none yet. */
  readonly trump: number | undefined;
  /** The cards of the current trick that count, in the order in which they were played. */
  readonly trick: readonly Laid[];
  /** The seats that play to this trick after the viewing seat. */
  readonly toCome: readonly number[];
  /** The unseen cards: those in the other hands and in the stock. */
  readonly unseen: readonly number[];
  /** For each seat, the colours that it certainly does not hold. */
  readonly lacks: ReadonlyMap<number, ReadonlySet<number>>;
}

/** Read the table from a view. */
export function read(game: Catalog, view: SixthSenseView): Table {
  const { seats, turned, leaders, plays, takers, hand, knownPredictions } = view;
  const colours = game.colours.length - (seats === 2 ? 1 : 0);
  const unseen = new Set(game.cards.flatMap(({ colour }, card) => (colour < colours ? [card] : [])));
  for (const card of [...hand, ...(turned === undefined ? [] : [turned]), ...Object.values(knownPredictions)]) unseen.delete(card);
  const lacks = new Map<number, Set<number>>();
  let trick: readonly Laid[] = [];
  for (const [index, number] of plays.entries()) {
    const place = index % seats;
    const seat = (leaders[Math.floor(index / seats)] + place) % seats;
    if (place === 0) trick = [];
    const action = game.actions[number];
    if (action.card !== undefined) {
      unseen.delete(action.card);
      const led = trick[0]?.colour;
      if (led !== undefined && game.cards[action.card].colour !== led) lacks.set(seat, (lacks.get(seat) ?? new Set()).add(led));
    }
    trick = after(trick, game, action, seat, place);
  }
  const laid = plays.length - takers.length * seats;
  if (laid === 0) trick = []; // the last trick is complete: a new one begins
  const toCome = Array.from({ length: seats - laid - 1 }, (_, step) => (view.seat + step + 1) % seats);
  return { trump: turned === undefined ? undefined : game.cards[turned].colour, trick, toCome, unseen: [...unseen].sort((a, b) => a - b), lacks };
}

/** Return the cards of a trick that count after one more action. A block removes its victim and does not count. */
export function after(trick: readonly Laid[], game: Catalog, action: Action, seat: number, place: number): readonly Laid[] {
  if (action.kind === "block") return trick.filter((laid) => laid.place !== action.place);
  return [...trick, { seat, place, colour: game.cards[action.card!].colour, value: action.value! }];
}

/** Return the seat that is winning a trick; undefined if no card counts. */
export function taker(trick: readonly Laid[], trump: number | undefined): number | undefined {
  if (!trick.length) return undefined;
  const led = trick[0].colour;
  const reversed = trick.filter(({ value }) => value === 4).length % 2 === 1; // an odd number of fours
  const rank = ({ colour, value, place }: Laid) => [colour === trump ? 2 : colour === led ? 1 : 0, value, -place];
  const higher = (one: Laid, other: Laid) => {
    const [a, b] = [rank(one), rank(other)];
    const at = a.findIndex((each, index) => each !== b[index]);
    return at >= 0 && a[at] > b[at];
  };
  return trick.reduce((best, laid) => ((reversed ? higher(best, laid) : higher(laid, best)) ? laid : best)).seat;
}

/** Return the numbers of tricks that a prediction card predicts: two for a 6/9. */
export const targets = (game: Catalog, card: number): readonly number[] => game.cards[card].values;

/** Return the points of a round with these predicted numbers and the tricks taken. */
export function points(aims: readonly number[], tricks: number, novice: boolean): number {
  const distance = Math.min(...aims.map((aim) => Math.abs(aim - tricks)));
  if (novice) return [6, 4, 3, 2, 1, 0][Math.min(distance, 5)];
  return distance === 0 ? tricks : -distance;
}
