package arena.client;

import arena.v1.Hello;
import arena.v1.PlayRequest;
import com.google.protobuf.ByteString;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What outlives a stream: how many matches are wanted, and which are being played. */
final class Progress {
    /** How many matches to play in all; 0 for no end. */
    private final int wanted;

    int finished;
    /** Matches that have begun. */
    final Set<Long> playing = new TreeSet<>(Long::compareUnsigned);
    /** Accepted invitations whose matches have yet to begin, with the bot's own chance in each deal. */
    final Map<Long, ByteString> accepted = new HashMap<>();
    /** What is known of the matches that have begun. */
    final Map<Long, Seat> seats = new HashMap<>();
    /** Whether no more matches are to begin, however many are wanted. */
    boolean ending;
    /** Why the server gives the bot no seats; empty where it does. */
    String parked = "";

    Progress(int wanted) {
        this.wanted = wanted;
    }

    /** How many matches go on or are about to. */
    int begun() {
        return playing.size() + accepted.size();
    }

    /** Whether another match may begin. */
    boolean more() {
        return !ending && (wanted == 0 || finished + begun() < wanted);
    }

    /** How many matches may be played at once, given a capacity. */
    int room(int capacity) {
        if (ending) {
            return 0;
        }
        return wanted == 0 ? capacity : Math.max(0, Math.min(capacity, wanted - finished));
    }

    /** Whether nothing is left to play. */
    boolean done() {
        return !more() && begun() == 0;
    }

    /**
     * Forgets what the server says again at a new connection: invitations, and the matches that go on. While the last matches are
     * finished these are kept: each has its report, or begins again.
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
