package arena.client;

import arena.v1.GameCatalog;
import java.util.List;

/**
 * One game: its colours, cards and actions. It is created once for each connection and shared by its decisions.
 *
 * @param name the name for programs, such as "sixth_sense"
 * @param title the name for people, such as "6th Sense"
 * @param message the catalogue as the server sent it, with the game's options; with the descriptors of the game's
 *     messages
 *     if this client does not contain them
 */
public record Catalog(
        String name,
        String title,
        int minSeats,
        int maxSeats,
        List<String> colours,
        List<Card> cards,
        List<Action> actions,
        GameCatalog message) {

    /** Value of a card, value or place that does not apply. */
    public static final int NONE = -1;

    /**
     * One card of a game.
     *
     * @param name such as "red 7" or "blue 6/9"
     * @param colour an index into the catalogue's colours
     * @param values the values that it can count as: one, or several if its player chooses
     */
    public record Card(String name, int colour, List<Integer> values) {}

    /**
     * One action of a game; fields that do not apply are {@link Catalog#NONE}.
     *
     * @param name such as "red 7" or "red 0 blocks place 2"
     * @param kind the kind of choice, in the game's own terms, such as "play", "bid" or "raise"
     * @param card the played or chosen card, an index into the catalogue's cards; NONE without a card or if it is
     *     hidden
     * @param value the value that a played card counts as, the number predicted or bid, or 1 for yes and 0 for no
     * @param place the place in the trick, counted from 0, of the card that the action blocks
     */
    public record Action(String name, String kind, int card, int value, int place) {}

    /** Builds a catalogue from a message. */
    public static Catalog of(GameCatalog message) {
        List<Card> cards = message.getCardsList().stream()
                .map(card -> new Card(card.getName(), card.getColour(), List.copyOf(card.getValuesList())))
                .toList();
        List<Action> actions = message.getActionsList().stream()
                .map(action -> new Action(
                        action.getName(),
                        action.getKind(),
                        action.hasCard() ? action.getCard() : NONE,
                        action.hasValue() ? action.getValue() : NONE,
                        action.hasPlace() ? action.getPlace() : NONE))
                .toList();
        return new Catalog(
                message.getName(), message.getTitle(), message.getMinSeats(), message.getMaxSeats(),
                List.copyOf(message.getColoursList()), cards, actions, message);
    }
}
