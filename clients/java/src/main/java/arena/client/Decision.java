package arena.client;

import arena.v1.NullernView;
import arena.v1.SixthSenseView;
import com.google.protobuf.Any;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Map;

/** A choice that the bot must make, with everything that its seat may know, so that a bot needs no memory. */
public final class Decision {
    private final arena.v1.Decision message;
    private final Catalog game;
    private final Session session;
    private final List<Integer> legal;
    private int softMs;
    private int bankMs;

    private Decision(arena.v1.Decision message, Catalog game, Session session) {
        this.message = message;
        this.game = game;
        this.session = session;
        legal = List.copyOf(message.getLegalList());
        softMs = message.getSoftMs();
        bankMs = message.getBankMs();
    }

    /** Converts a message to a decision for a bot; PROTOCOL_MISMATCH if `games` does not contain its game. */
    public static Decision of(arena.v1.Decision message, Map<String, Catalog> games) {
        return of(message, games, null);
    }

    /** Converts a message to a decision. `session` knows whether the decision is open; null without a session. */
    static Decision of(arena.v1.Decision message, Map<String, Catalog> games, Session session) {
        Catalog game = switch (message.getViewCase()) {
            case SIXTH_SENSE -> games.get("sixth_sense");
            case NULLERN -> games.get("nullern");
            default -> games.values().stream().filter(each -> isView(message, each)).findAny().orElse(null);
        };
        if (game == null) {
            throw new ArenaException(
                    ArenaException.Kind.PROTOCOL_MISMATCH,
                    "the server asks for a decision in a game unknown to this client: update clients/java");
        }
        return new Decision(message, game, session);
    }

    private static boolean isView(arena.v1.Decision message, Catalog game) {
        String type = game.message().getViewType();
        return !type.isEmpty() && message.getOther().getTypeUrl().endsWith("/" + type);
    }

    /** The match's number, unsigned. */
    public long matchId() {
        return message.getMatchId();
    }

    /** Number of the decision, unique within the match. */
    public int decisionId() {
        return message.getDecisionId();
    }

    public Catalog game() {
        return game;
    }

    /**
     * The game as this seat sees it: a {@link SixthSenseView} or a {@link NullernView}. For any other game it is an
     * {@link Any} as the server sent it, whose message {@code game().message()} describes.
     */
    public Message view() {
        return switch (message.getViewCase()) {
            case SIXTH_SENSE -> message.getSixthSense();
            case NULLERN -> message.getNullern();
            default -> message.getOther();
        };
    }

    /** The legal actions in rising order, never empty: indices into the game's actions. The list cannot be changed. */
    public List<Integer> legal() {
        return legal;
    }

    /** The legal actions with their meaning, in the order of {@link #legal()}. */
    public List<Catalog.Action> actions() {
        return legal.stream().map(game.actions()::get).toList();
    }

    /** The seat's own cards, in the order of the view's hand; empty if the seat may not see them, or if the view is of another game. */
    public List<Catalog.Card> hand() {
        List<Integer> hand = message.hasNullern() ? message.getNullern().getHandList() : message.getSixthSense().getHandList();
        return hand.stream().map(game.cards()::get).toList();
    }

    /** The milliseconds until the bank is used. */
    public int softMs() {
        return softMs;
    }

    /** The milliseconds left in the bank for the rest of the match. */
    public int bankMs() {
        return bankMs;
    }

    /**
     * True if further thinking is useless, because the server has decided for the bot or the match
     * has ended. A long search can check it in any thread and then return any legal action.
     */
    public boolean isClosed() {
        return session != null && !session.isOpen(message.getMatchId(), message.getDecisionId());
    }

    /** Sets the time left, `ms` milliseconds after the decision arrived. */
    void passed(long ms) {
        softMs = (int) Math.max(0, message.getSoftMs() - ms);
        bankMs = (int) Math.max(0, message.getBankMs() - Math.max(0, ms - message.getSoftMs()));
    }
}
