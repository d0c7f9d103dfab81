// A few plain rules: announce the number of tricks that the hand is worth, take that many, then
// duck.

import { Bot, type Decision, GAMES, nullern, type NullernView, sixthSense, type SixthSenseView } from "../src/index.js";

type Rank = (number: number) => number;
const least = (numbers: readonly number[], rank: Rank) => numbers.reduce((best, each) => (rank(each) < rank(best) ? each : best));
const most = (numbers: readonly number[], rank: Rank) => numbers.reduce((best, each) => (rank(each) > rank(best) ? each : best));

/** Bot that knows which card is winning the trick on the table, but does not count cards. */
export class RuleBot extends Bot {
  override name = "rules";
  override games = GAMES;

  /** Applies the rules of the game, or plays at random in games without rules. */
  override decide(decision: Decision): number {
    const { view, legal } = decision;
    if (view.$typeName === "arena.v1.NullernView") return playNullern(decision, view);
    if (view.$typeName === "arena.v1.SixthSenseView") return playSixthSense(decision, view);
    return legal[Math.floor(Math.random() * legal.length)];
  }
}

/** Applies the rule for each kind of choice. */
function playSixthSense(decision: Decision, view: SixthSenseView): number {
  const { game, legal } = decision;
  const table = sixthSense.read(game, view);
  const { kind } = decision.actions[0];
  if (kind === "predict") return predict(decision, view, table.trump);
  const wanted = wantedTricks(decision, view);
  if (kind === "double") return legal[wanted > 0 ? 1 : 0];
  if (kind === "peek") return legal[0];
  const place = view.seats - 1 - table.toCome.length;
  const takes = (number: number) => {
    const trick = sixthSense.after(table.trick, game, game.actions[number], view.seat, place);
    return sixthSense.taker(trick, table.trump) === view.seat;
  };
  const strength = (number: number) => {
    const { card, value } = game.actions[number];
    return (value ?? 0) + (game.cards[card!].colour === table.trump ? 100 : 0);
  };
  return takeOrDuck(legal, takes, strength, wanted > 0, !table.toCome.length);
}

/** The prediction nearest to the number of good cards (high trumps, 13 and 14) in the rest of the hand. */
function predict({ game, legal }: Decision, view: SixthSenseView, trump: number | undefined): number {
  const good = (card: number) => Math.max(...game.cards[card].values) >= (game.cards[card].colour === trump ? 9 : 13);
  const misfit = (number: number) => {
    const prediction = game.actions[number].card!;
    const tricks = view.hand.filter((card) => card !== prediction && good(card)).length;
    return Math.min(...sixthSense.targets(game, prediction).map((aim) => Math.abs(aim - tricks)));
  };
  return least(legal, misfit);
}

/** Number of tricks that the prediction still needs; a 6/9 needs 9 only after more than 6 tricks. */
function wantedTricks({ game }: Decision, { taken, seat, prediction }: SixthSenseView): number {
  const missing = sixthSense.targets(game, prediction ?? 0).map((aim) => aim - taken[seat]).filter((tricks) => tricks >= 0);
  return missing.length ? Math.min(...missing) : 0;
}

/** Bids the number of good cards (trumps, and with few opponents a 19 or 20), then plays for that bid. */
function playNullern({ game, legal, actions }: Decision, view: NullernView): number {
  const { strengths, trick, toCome } = nullern.read(game, view);
  if (actions[0].kind === "bid") {
    const lowest = view.seats > 3 ? nullern.PLAIN + 1 : 19;
    return legal[view.hand.filter((card) => strengths[card] >= lowest).length];
  }
  if (!view.hand.length) return legal[0]; // the blind card
  const strength = (number: number) => strengths[game.actions[number].card!];
  const takes = (number: number) => strength(number) > Math.max(0, ...trick);
  return takeOrDuck(legal, takes, strength, nullern.eager(view, view.seat), !toCome.length);
}

/** Takes the trick as cheaply as possible, or throws away the highest card that does not take it. */
function takeOrDuck(legal: readonly number[], takes: (number: number) => boolean, strength: Rank, eager: boolean, last: boolean): number {
  const taking = legal.filter(takes);
  const losing = legal.filter((number) => !takes(number));
  if (!eager) return losing.length ? most(losing, strength) : least(taking, strength);
  if (!taking.length) return least(losing, strength);
  return last ? least(taking, strength) : most(taking, strength);
}
