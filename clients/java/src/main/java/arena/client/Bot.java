package arena.client;

import arena.v1.MatchReport;
import arena.v1.MatchStart;
import arena.v1.Notice;
import arena.v1.RoundReport;
import arena.v1.Welcome;
import java.nio.file.Path;
import java.util.List;

/**
 * A player. It overrides {@link #decide} or {@link #decideMany}; the rest is optional. A bot has no connection: {@link Arena}
 * passes decisions to the bot and sends its answers. All calls are in one thread, one at a time.
 */
public abstract class Bot {
    private final String name;
    private final List<String> games;

    /**
     * @param name 1 to 40 letters, digits, '.', '_' or '-'
     * @param games names of the games that the bot plays; 6th Sense if there are none
     */
    protected Bot(String name, String... games) {
        this.name = name;
        this.games = games.length > 0 ? List.of(games) : List.of("sixth_sense");
    }

    public final String name() {
        return name;
    }

    public final List<String> games() {
        return games;
    }

    /** Owner of the bot; its own name if empty. Bots of one owner meet in challenges only. */
    public String owner() {
        return "";
    }

    /** The number of matches that the bot plays at once. */
    public int capacity() {
        return 8;
    }

    /** Files that affect the bot's behaviour, such as weights; the version's digest covers them. */
    public List<Path> files() {
        return List.of();
    }

    /**
     * At most 40 printable characters; if empty a digest of {@link #files()} and of the program: the jar, the source file or
     * the folder of classes with the bot's class. Each version has its own rating.
     */
    public String version() {
        return "";
    }

    /** Protocol features newer than this client that the bot's own code understands. */
    public List<String> features() {
        return List.of();
    }

    /** Chooses one of {@code decision.legal()}. */
    public int decide(Decision decision) {
        throw new UnsupportedOperationException("the bot has neither decide nor decideMany");
    }

    /**
     * Chooses for all open decisions at once: one action for each, in the same order. Override it if many decisions
     * together are cheaper than one by one. The result may be a list, or an iterable that computes actions one by one:
     * each is sent while the next is computed. For a closed decision ({@link Decision#isClosed}), the action may be
     * null.
     */
    public Iterable<Integer> decideMany(List<Decision> decisions) {
        return () -> decisions.stream().<Integer>map(each -> each.isClosed() ? null : decide(each)).iterator();
    }

    /** Called first on each connection; the welcome contains the server's rules, its limits and the features in use. */
    public void onWelcome(Welcome welcome) {}

    /** Called at the beginning of a match and after a reconnect, with the seat and the names of all bots. */
    public void onMatchStart(MatchStart start) {}

    /** Called at the end of a round; the report shows all cards. */
    public void onRound(RoundReport report) {}

    /** Called at the end of a match; by default place, points and rating are logged. */
    public void onMatchEnd(MatchReport report) {
        News.log(report);
    }

    /** Called for each notice from the server; the default logs it, as a warning if the bot is at fault. */
    public void onNotice(Notice notice) {
        News.log(notice);
    }
}
