package arena.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Options of a run besides its bot; each may be left out. Each method changes these options and returns them. */
public final class Options {
    String name = "";
    String owner = "";
    String version = "";
    List<String> games = List.of();
    int capacity;
    String token = "";
    Path tokenFile;
    String invitation = "";
    boolean tls;
    Path tlsRoots;
    int matches;
    boolean playOn;
    Duration giveUpAfter;
    boolean noReceipts;
    boolean casual;
    boolean challenges;
    List<String> challengers = List.of();
    /** Names of ladders; null for those in ARENA_LADDERS. */
    List<String> ladders;
    List<String> events;

    /** Overrides the bot's own name. */
    public Options name(String value) {
        name = value;
        return this;
    }

    /** Overrides the bot's own owner; by default ARENA_OWNER. */
    public Options owner(String value) {
        owner = value;
        return this;
    }

    /** Overrides the bot's own version. */
    public Options version(String value) {
        version = value;
        return this;
    }

    /** Overrides the bot's own games. */
    public Options games(List<String> value) {
        games = List.copyOf(value);
        return this;
    }

    /** Overrides the bot's own capacity; 1 or more. */
    public Options capacity(int value) {
        if (value < 1) {
            throw ArenaException.badArgument("the capacity is %d: it takes 1 or more", value);
        }
        capacity = value;
        return this;
    }

    /** The token. */
    public Options token(String value) {
        token = value;
        return this;
    }

    /** The token file; by default ARENA_TOKEN_FILE, or a separate file for each bot in ~/.arena/tokens. */
    public Options tokenFile(Path value) {
        tokenFile = value;
        return this;
    }

    /** The invitation to a server that registers bots by invitation only. */
    public Options invitation(String value) {
        invitation = value;
        return this;
    }

    /** Connects with TLS. */
    public Options tls() {
        tls = true;
        return this;
    }

    /** Connects with TLS, with the authorities in this PEM file instead of those that Java trusts. */
    public Options tlsRoots(Path file) {
        tlsRoots = file;
        return tls();
    }

    /** Stops after this number of matches with a result; 0 for no limit. */
    public Options matches(int value) {
        if (value < 0) {
            throw ArenaException.badArgument("matches is %d: it takes 1 or more, or 0 for no end", value);
        }
        matches = value;
        return this;
    }

    /** Logs an error in the bot and plays the first legal action, instead of ending the run. */
    public Options playOn() {
        playOn = true;
        return this;
    }

    /** Sets the time without any connection after which the run ends; by default it never does. */
    public Options giveUpAfter(Duration value) {
        if (value.isNegative()) {
            throw ArenaException.badArgument("giveUpAfter is %s: it takes no negative time", value);
        }
        giveUpAfter = value;
        return this;
    }

    /** Stores no receipts from the server's log of results beside the token. */
    public Options noReceipts() {
        noReceipts = true;
        return this;
    }

    /** Plays unrated matches against house bots only. */
    public Options casual() {
        casual = true;
        return this;
    }

    /** Accepts challenges from all bots. */
    public Options challenges() {
        challenges = true;
        return this;
    }

    /**
     * The names of the ladders to play on; by default those in ARENA_LADDERS. If that is unset, or if the list is
     * empty, the bot plays on the default ladders of its games.
     */
    public Options ladders(List<String> names) {
        ladders = List.copyOf(names);
        return this;
    }

    /** The names of the events to enter; by default those in ARENA_EVENTS. */
    public Options events(List<String> names) {
        events = List.copyOf(names);
        return this;
    }

    /** Accepts challenges from these bots only. */
    public Options challengers(List<String> names) {
        challengers = List.copyOf(names);
        return this;
    }
}
