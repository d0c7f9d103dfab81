package arena.client;

import arena.v1.NullernView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A summary of a view of Nullern: the strengths of cards, the trick on the table, the seats that want tricks, the unseen
 * cards. It is computed from a single decision.
 *
 * @param view the view itself
 * @param strengths the strength of each card: its value, plus 20 for a trump; the strongest card takes the trick
 * @param trick the strengths of the cards on the table; the first of equally strong cards takes the trick
 * @param toCome the seats that play to this trick after the bot's own
 * @param unseen the strengths of the unseen cards: those in other hands or in the stock
 */
public record Nullern(NullernView view, List<Integer> strengths, List<Integer> trick, List<Integer> toCome, List<Integer> unseen) {
    /** The highest strength of a card that is not a trump. */
    public static final int PLAIN = 20;
    /** The points that a missed bid costs at the end of the game. */
    public static final int HUPFER = 5;

    /** Reads the table from a view. */
    public static Nullern read(Catalog game, NullernView view) {
        int trump = game.cards().get(view.getTurned()).colour();
        List<Integer> strengths = game.cards().stream()
                .map(card -> card.values().get(0) + (card.colour() == trump ? PLAIN : 0))
                .toList();
        List<Integer> plays = view.getPlaysList();
        List<Integer> trick =
                plays.subList(view.getTakersCount() * view.getSeats(), plays.size()).stream().map(strengths::get).toList();
        List<Integer> toCome = new ArrayList<>();
        for (int step = 1; step < view.getSeats() - trick.size(); step++) {
            toCome.add((view.getSeat() + step) % view.getSeats());
        }
        List<Integer> unseen = new ArrayList<>();
        for (int card = 0; card < strengths.size(); card++) {
            if (card != view.getTurned() && !view.getHandList().contains(card) && !plays.contains(card)) {
                unseen.add(strengths.get(card));
            }
        }
        return new Nullern(view, strengths, trick, toCome, unseen);
    }

    /** The seat now winning the trick; {@link Catalog#NONE} if the table is empty. */
    public int taker() {
        if (trick.isEmpty()) {
            return Catalog.NONE;
        }
        int place = trick.indexOf(Collections.max(trick));
        return (view.getLeaders(view.getTakersCount()) + place) % view.getSeats();
    }

    /** The number of tricks that a seat still needs for its bid; negative if it has too many or has not bid. */
    public int wanted(int seat) {
        int bid = view.getBidsOrDefault(seat, -1);
        return bid - view.getTaken(seat);
    }

    /** True if a seat wants a trick: for its bid or, if the bid is lost, for the point. */
    public boolean eager(int seat) {
        return wanted(seat) != 0;
    }

    /** The points of a round with this bid and these tricks, including the later cost of a missed bid. */
    public static int points(int bid, int tricks) {
        if (bid != tricks) {
            return tricks - HUPFER;
        }
        return tricks == 0 ? 20 : 10 + tricks;
    }
}
