// The deals of Leduc poker (ruling L1): one card for each seat, and the board.
export default ({ seats }, { cards, board }, { deck }) => {
  const dealt = deck(6, seats + 1);
  return [...cards, board].map((card, at) => ({ who: at < seats ? `seat ${at}` : "the board", shown: [card], dealt: [dealt[at]] }));
};
