package arena.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** What a run is told besides its bot; each may be left out. Each method changes these options and returns them. */
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

    /** Goes before the bot's own name. */
    public Options name(String value) {
        name = value;
        return this;
    }

    /** Goes before the bot's own owner; else ARENA_OWNER. */
    public Options owner(String value) {
        owner = value;
        return this;
    }

    /** Goes before the bot's own version. */
    public Options version(String value) {
        version = value;
        return this;
    }

    /** Go before the bot's own games. */
    public Options games(List<String> value) {
        games = List.copyOf(value);
        return this;
    }

    /** Goes before the bot's own capacity; 1 or more. */
    public Options capacity(int value) {
        if (value < 1) {
            throw ArenaException.badArgument("the capacity is %d: it takes 1 or more", value);
        }
        capacity = value;
        return this;
    }

    /** The token itself. */
    public Options token(String value) {
        token = value;
        return this;
    }

    /** The file of the token; else ARENA_TOKEN_FILE, else a file of the bot's own in ~/.arena/tokens. */
    public Options tokenFile(Path value) {
        tokenFile = value;
        return this;
    }

    /** For a server that registers bots by invitation. */
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

    /** Stops after so many matches with a result; 0 for no end. */
    public Options matches(int value) {
        if (value < 0) {
            throw ArenaException.badArgument("matches is %d: it takes 1 or more, or 0 for no end", value);
        }
        matches = value;
        return this;
    }

    /** An error in the bot is logged and its first legal action played; else it ends the run. */
    public Options playOn() {
        playOn = true;
        return this;
    }

    /** The time without any connection after which the run ends; else it never does. */
    public Options giveUpAfter(Duration value) {
        if (value.isNegative()) {
            throw ArenaException.badArgument("giveUpAfter is %s: it takes no negative time", value);
        }
        giveUpAfter = value;
        return this;
    }

    /** Keeps nothing of the server's log of results beside the token, and compares nothing with it. */
    public Options noReceipts() {
        noReceipts = true;
        return this;
    }

    /** All its matches are with house bots only and unrated. */
    public Options casual() {
        casual = true;
        return this;
    }

    /** Accepts everybody's challenges. */
    public Options challenges() {
        challenges = true;
        return this;
    }

    /** Accepts challenges with one of these bots only. */
    public Options challengers(List<String> names) {
        challengers = List.copyOf(names);
        return this;
    }
}
