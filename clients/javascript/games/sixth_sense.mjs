// The deals of 6th Sense (ruling S1). In the novice game, no card is turned over.
import { tricks } from "../tricks.mjs";

const HANDS = { 2: 15, 3: 14, 4: 14, 5: 13, 6: 11 };
// The card of each of a colour's twenty plays. Two play the 6/9; the last five play the 0, which blocks a card.
const PLAYS = [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 0, 0, 0, 0, 0];
const card = (action) => 14 * Math.floor(action / 20) + PLAYS[action % 20];

export default (header, report, { deck }) => {
  const { seats, options } = header, size = seats === 2 ? 56 : 70;
  return tricks(header, report, { size, hand: HANDS[seats], card, first: report.predictions, hidden: options.novice }, deck);
};
