package arena.client;

import arena.v1.SixthSenseView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A summary of a view of 6th Sense: the trick on the table, its taker, the unseen cards, the seats void of a colour. It is
 * computed from a single decision.
 *
 * @param trump the trump colour; {@link Catalog#NONE} if there is none, or none yet
 * @param trick the cards of the current trick that count, in the order of play
 * @param toCome the seats that play to this trick after the bot's own
 * @param unseen the unseen cards: those in other hands or in the stock
 * @param lacks for each seat, the colours that it certainly does not hold
 */
public record SixthSense(
        int trump, List<Laid> trick, List<Integer> toCome, List<Integer> unseen, Map<Integer, Set<Integer>> lacks) {

    /** An unblocked card in a trick; only these count. */
    public record Laid(int seat, int place, int colour, int value) {}

    /** Reads the table from a view. */
    public static SixthSense read(Catalog game, SixthSenseView view) {
        int seats = view.getSeats();
        int trump = view.hasTurned() ? game.cards().get(view.getTurned()).colour() : Catalog.NONE;
        Set<Integer> seen = new HashSet<>(view.getHandList());
        seen.addAll(view.getKnownPredictionsMap().values());
        if (view.hasTurned()) {
            seen.add(view.getTurned());
        }
        Map<Integer, Set<Integer>> lacks = new HashMap<>();
        List<Laid> trick = List.of();
        for (int at = 0; at < view.getPlaysCount(); at++) {
            int place = at % seats;
            int seat = (view.getLeaders(at / seats) + place) % seats;
            if (place == 0) {
                trick = List.of();
            }
            Catalog.Action action = game.actions().get(view.getPlays(at));
            if (action.card() != Catalog.NONE) {
                seen.add(action.card());
                if (!trick.isEmpty() && game.cards().get(action.card()).colour() != trick.get(0).colour()) {
                    lacks.computeIfAbsent(seat, any -> new TreeSet<>()).add(trick.get(0).colour());
                }
            }
            trick = after(trick, game, action, seat, place);
        }
        int laid = view.getPlaysCount() - view.getTakersCount() * seats;
        if (laid == 0) {
            trick = List.of(); // the last trick is complete: a new one begins
        }
        List<Integer> toCome = new ArrayList<>();
        for (int step = 1; step < seats - laid; step++) {
            toCome.add((view.getSeat() + step) % seats);
        }
        int colours = game.colours().size() - (seats == 2 ? 1 : 0);
        List<Integer> unseen = new ArrayList<>();
        for (int card = 0; card < game.cards().size(); card++) {
            if (game.cards().get(card).colour() < colours && !seen.contains(card)) {
                unseen.add(card);
            }
        }
        return new SixthSense(trump, trick, toCome, unseen, lacks);
    }

    /** The cards that count in a trick after one more action. A block removes a card and does not count itself. */
    public static List<Laid> after(List<Laid> trick, Catalog game, Catalog.Action action, int seat, int place) {
        if (action.kind().equals("block")) {
            return trick.stream().filter(laid -> laid.place() != action.place()).toList();
        }
        List<Laid> longer = new ArrayList<>(trick);
        longer.add(new Laid(seat, place, game.cards().get(action.card()).colour(), action.value()));
        return longer;
    }

    /** The seat now winning the trick; {@link Catalog#NONE} if no card counts. */
    public int taker() {
        return taker(trick, trump);
    }

    /** The seat now winning a trick; {@link Catalog#NONE} if no card counts. */
    public static int taker(List<Laid> trick, int trump) {
        if (trick.isEmpty()) {
            return Catalog.NONE;
        }
        int led = trick.get(0).colour();
        Comparator<Laid> higher = Comparator.<Laid>comparingInt(laid -> laid.colour() == trump ? 2 : laid.colour() == led ? 1 : 0)
                .thenComparingInt(Laid::value)
                .thenComparingInt(laid -> -laid.place());
        long fours = trick.stream().filter(laid -> laid.value() == 4).count();
        Comparator<Laid> better = fours % 2 == 1 ? higher.reversed() : higher; // an odd number of fours reverses the trick
        return trick.stream().max(better).orElseThrow().seat();
    }

    /** The numbers of tricks that a prediction card predicts: two for a 6/9. */
    public static List<Integer> targets(Catalog game, int card) {
        return game.cards().get(card).values();
    }

    /** The points of a round with the given aims and number of tricks. */
    public static int points(List<Integer> aims, int tricks, boolean novice) {
        int distance = aims.stream().mapToInt(aim -> Math.abs(aim - tricks)).min().orElseThrow();
        if (novice) {
            return List.of(6, 4, 3, 2, 1, 0).get(Math.min(distance, 5));
        }
        return distance == 0 ? tricks : -distance;
    }
}
