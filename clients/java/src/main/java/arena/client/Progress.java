package arena.client;

import arena.v1.EventEntry;
import arena.v1.Hello;
import arena.v1.LogState;
import arena.v1.PlayRequest;
import com.google.protobuf.ByteString;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** State that outlives a stream: the number of matches to play, and the matches in progress. */
final class Progress {
    private static final SecureRandom CHANCE = new SecureRandom();

    /** The number of matches to play; 0 for no limit. */
    private final int wanted;

    int finished;
    /** The matches that have begun. */
    final Set<Long> playing = new TreeSet<>(Long::compareUnsigned);
    /** The bot's random bytes for the deal, for each accepted invitation whose match has not begun. */
    final Map<Long, ByteString> accepted = new HashMap<>();
    /** The known facts of the matches that have begun. */
    final Map<Long, Seat> seats = new HashMap<>();
    /** The number of the last report's leaf, or the log's size before the first report; null before the first welcome. */
    Long reportsAfter;
    /** True if no more matches may begin, regardless of `wanted`. */
    boolean ending;
    /** The server's reason for parking the bot; empty if the bot is not parked. */
    String parked = "";

    Progress(int wanted) {
        this.wanted = wanted;
    }

    /** The number of matches that are running or about to begin. */
    int begun() {
        return playing.size() + accepted.size();
    }

    /** True if another match may begin. */
    boolean more() {
        return !ending && (wanted == 0 || finished + begun() < wanted);
    }

    /** The number of simultaneous matches that are possible with a capacity. */
    int room(int capacity) {
        if (ending) {
            return 0;
        }
        return wanted == 0 ? capacity : Math.max(0, Math.min(capacity, wanted - finished));
    }

    /** True if the bot has no more matches to play. */
    boolean done() {
        return !more() && begun() == 0;
    }

    /**
     * Forgets the state that the server sends again on a new connection: invitations and running
     * matches. The last matches of a run are not forgotten: each gets its report or begins again.
     */
    void reconnect() {
        if (!ending) {
            playing.clear();
        }
        accepted.clear();
    }

    /** Applies the log of a welcome. A number larger than the log's size belongs to another log. */
    void shown(LogState log) {
        if (log.hasHead() && (reportsAfter == null || Long.compareUnsigned(reportsAfter, log.getHead().getSize()) > 0)) {
            reportsAfter = log.getHead().getSize();
        }
    }

    /** Returns the bot's random bytes for a deal or for an event's draw. */
    static ByteString ownChance() {
        byte[] nonce = new byte[16];
        CHANCE.nextBytes(nonce);
        return ByteString.copyFrom(nonce);
    }

    /** The first message of a stream. */
    PlayRequest hello(Profile profile) {
        Hello.Builder hello = Hello.newBuilder()
                .addAllGames(profile.games)
                .setCapacity(room(profile.capacity))
                .setClient("arena-client-java " + Arena.VERSION)
                .setVersion(profile.version)
                .addAllFeatures(profile.features)
                .addAllLadders(profile.ladders)
                .setCasual(profile.casual)
                .setChallenges(profile.challenges);
        for (String event : profile.events) {
            hello.addEvents(EventEntry.newBuilder().setEvent(event).setNonce(ownChance()));
        }
        if (reportsAfter != null) {
            hello.setReportsAfter(reportsAfter);
        }
        return PlayRequest.newBuilder().setHello(hello).build();
    }
}
