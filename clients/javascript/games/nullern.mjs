// The deals of Nullern (rulings N1 and N8). The action that plays a card has the card's number.
import { tricks } from "../tricks.mjs";

const HANDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1];

export default (header, report, { deck }) =>
  tricks(header, report, { size: 80, hand: HANDS[report.round], card: (action) => action }, deck);

/** The points that each seat loses at the end of the game for its Hupfers (ruling N7). */
export const final = ({ hupfers }) => hupfers.map((count) => -5 * count);
