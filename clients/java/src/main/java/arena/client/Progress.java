package arena.client;

import arena.v1.Hello;
import arena.v1.PlayRequest;
import com.google.protobuf.ByteString;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What outlives a stream: the number of matches to play, and those in progress. */
final class Progress {
    /** The number of matches to play; 0 for no end. */
    private final int wanted;

    int finished;
    /** Matches that have begun. */
    final Set<Long> playing = new TreeSet<>(Long::compareUnsigned);
    /** Accepted invitations whose matches have yet to begin, with the bot's random bytes for each deal. */
    final Map<Long, ByteString> accepted = new HashMap<>();
    /** The known facts of the matches that have begun. */
    final Map<Long, Seat> seats = new HashMap<>();
    /** True if no more matches are to begin, whatever their number. */
    boolean ending;
    /** The reason the reason the reason why the server gives the bot no seats; empty if it does. */
    String parked = "";

    Progress(int wanted) {
        this.wanted = wanted;
    }

    /** How many matches go on or are about to. */
    int begun() {
        return playing.size() + accepted.size();
    }

    /** True if another match may begin. */
    boolean more() {
        return !ending && (wanted == 0 || finished + begun() < wanted);
    }

    /** The number of matches that may be played at once, given a capacity. */
    int room(int capacity) {
        if (ending) {
            return 0;
        }
        return wanted == 0 ? capacity : Math.max(0, Math.min(capacity, wanted - finished));
    }

    /** True if nothing is left to play. */
    boolean done() {
        return !more() && begun() == 0;
    }

    /**
     * Forgets the state that the server sends again at a new connection: invitations and running matches. While the last matches
     * are being finished they stay: each gets its report, or begins again.
     */
    void reconnect() {
        if (!ending) {
            playing.clear();
        }
        accepted.clear();
    }

    /** The first message of a stream. */
    PlayRequest hello(Profile profile) {
        Hello.Builder hello = Hello.newBuilder()
                .addAllGames(profile.games)
                .setCapacity(room(profile.capacity))
                .setClient("arena-client-java " + Arena.VERSION)
                .setVersion(profile.version)
                .addAllPlaying(playing)
                .setCasual(profile.casual)
                .setChallenges(profile.challenges);
        return PlayRequest.newBuilder().setHello(hello).build();
    }
}
