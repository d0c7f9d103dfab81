// Checks the cards that trick games show. With n seats and h cards each, seat s is dealt deck[s·h : (s+1)·h], and
// deck[n·h] is turned over.

/** Lists the cards that a round shows and those that were dealt, for comparison. `first`: by seat, a further card of
 * the hand; `card`: returns the card that an action plays. */
export function tricks({ seats }, { turned, plays, leaders }, { size, hand, card, first = [], hidden = false }, deck) {
  const dealt = deck(size, seats * hand + 1), stock = dealt.pop();
  const shown = Array.from({ length: seats }, (_, seat) => (seat in first ? [first[seat]] : []));
  plays.forEach((action, at) => shown[(leaders[Math.floor(at / seats)] + at) % seats].push(card(action)));
  return [
    { who: "the stock", shown: [turned], dealt: [hidden ? null : stock] },
    ...shown.map((cards, seat) => ({ who: `seat ${seat}`, shown: cards, dealt: dealt.slice(seat * hand, (seat + 1) * hand) })),
  ];
}
