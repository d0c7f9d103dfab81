package arena.samples;

import arena.client.Arena;
import arena.client.Bot;
import arena.client.Catalog;
import arena.client.Decision;
import arena.client.Nullern;
import arena.client.SixthSense;
import arena.v1.NullernView;
import arena.v1.SixthSenseView;
import java.util.Collections;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;

/**
 * A few plain rules: announce the number of tricks that the hand is worth, take that many, then duck. It knows which card
 * takes the trick on the table, but does not count cards.
 */
public final class Rules extends Bot {
    public Rules() {
        super("rules", "sixth_sense", "nullern");
    }

    public static void main(String[] arguments) {
        Arena.main(
                new Rules(),
                "A few plain rules: announces what the hand is worth, takes tricks until that is reached, then ducks.",
                arguments);
    }

    @Override
    public int decide(Decision decision) {
        if (decision.view() instanceof NullernView view) {
            return nullern(decision, view);
        }
        return sixthSense(decision, (SixthSenseView) decision.view());
    }

    /** Applies the rule for each kind of choice. */
    private static int sixthSense(Decision decision, SixthSenseView view) {
        Catalog game = decision.game();
        List<Integer> legal = decision.legal();
        SixthSense table = SixthSense.read(game, view);
        String kind = decision.actions().get(0).kind();
        if (kind.equals("predict")) {
            return predict(decision, view, table.trump());
        }
        int wanted = wantedTricks(game, view);
        if (kind.equals("double") || kind.equals("peek")) {
            return legal.get(kind.equals("double") && wanted > 0 ? 1 : 0);
        }
        int seat = view.getSeat();
        int place = view.getSeats() - 1 - table.toCome().size();
        IntPredicate takes = number -> {
            List<SixthSense.Laid> then = SixthSense.after(table.trick(), game, game.actions().get(number), seat, place);
            return SixthSense.taker(then, table.trump()) == seat;
        };
        IntUnaryOperator strength = number -> {
            Catalog.Action action = game.actions().get(number);
            boolean trump = action.card() != Catalog.NONE && game.cards().get(action.card()).colour() == table.trump();
            return Math.max(0, action.value()) + (trump ? 100 : 0);
        };
        return takeOrDuck(legal, takes, strength, wanted > 0, table.toCome().isEmpty());
    }

    /** The prediction nearest to the number of good cards (high trumps, 13 and 14) in the rest of the hand. */
    private static int predict(Decision decision, SixthSenseView view, int trump) {
        Catalog game = decision.game();
        Predicate<Integer> good = number -> {
            Catalog.Card card = game.cards().get(number);
            return Collections.max(card.values()) >= (card.colour() == trump ? 9 : 13);
        };
        return least(decision.legal(), number -> {
            int prediction = game.actions().get(number).card();
            int tricks = (int) view.getHandList().stream().filter(card -> card != prediction).filter(good).count();
            return SixthSense.targets(game, prediction).stream().mapToInt(aim -> Math.abs(aim - tricks)).min().orElseThrow();
        });
    }

    /** The number of tricks that the prediction still needs; a 6/9 needs 9 only after more than 6 tricks. */
    private static int wantedTricks(Catalog game, SixthSenseView view) {
        return SixthSense.targets(game, view.getPrediction()).stream()
                .mapToInt(aim -> aim - view.getTaken(view.getSeat()))
                .filter(tricks -> tricks >= 0)
                .min()
                .orElse(0);
    }

    /** Bids the number of good cards (trumps, and with few opponents a 19 or 20), then plays for that bid. */
    private static int nullern(Decision decision, NullernView view) {
        Catalog game = decision.game();
        List<Integer> legal = decision.legal();
        Nullern table = Nullern.read(game, view);
        if (decision.actions().get(0).kind().equals("bid")) {
            int lowest = view.getSeats() > 3 ? Nullern.PLAIN + 1 : 19;
            return legal.get((int) view.getHandList().stream().filter(card -> table.strengths().get(card) >= lowest).count());
        }
        if (view.getHandCount() == 0) {
            return legal.get(0); // the blind card
        }
        IntUnaryOperator strength = number -> table.strengths().get(game.actions().get(number).card());
        int highest = table.trick().stream().mapToInt(each -> each).max().orElse(0);
        IntPredicate takes = number -> strength.applyAsInt(number) > highest;
        return takeOrDuck(legal, takes, strength, table.eager(view.getSeat()), table.toCome().isEmpty());
    }

    /**
     * Takes the trick if the seat is eager: with the lowest card in the last seat, before that with the highest.
     * Otherwise throws away the highest card that does not take the trick.
     */
    private static int takeOrDuck(List<Integer> legal, IntPredicate takes, IntUnaryOperator strength, boolean eager, boolean last) {
        List<Integer> taking = legal.stream().filter(takes::test).toList();
        List<Integer> losing = legal.stream().filter(number -> !takes.test(number)).toList();
        if (!eager) {
            return losing.isEmpty() ? least(taking, strength) : most(losing, strength);
        }
        if (taking.isEmpty()) {
            return least(losing, strength);
        }
        return last ? least(taking, strength) : most(taking, strength);
    }

    /** The first of the lowest-ranked numbers. */
    private static int least(List<Integer> numbers, IntUnaryOperator rank) {
        int best = numbers.get(0);
        for (int number : numbers) {
            if (rank.applyAsInt(number) < rank.applyAsInt(best)) {
                best = number;
            }
        }
        return best;
    }

    /** The first of the highest-ranked numbers. */
    private static int most(List<Integer> numbers, IntUnaryOperator rank) {
        return least(numbers, number -> -rank.applyAsInt(number));
    }
}
