package arena.client;

import arena.v1.Conduct;
import arena.v1.LadderTerms;
import arena.v1.MatchStart;
import arena.v1.Welcome;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** Runs bots. */
public final class Arena {
    /** The version of this client, which is sent to servers. */
    public static final String VERSION = "0.1.0";

    /** Time for finishing matches after Ctrl-C, unless ARENA_DRAIN sets another time. */
    private static final Duration DRAIN = Duration.ofSeconds(30);
    /** Maximum time to finish matches after SIGTERM; SIGKILL usually follows after 10 s. */
    private static final Duration DRAIN_TERMINATED = Duration.ofSeconds(8);

    private Arena() {}

    /** Returns the limits of a match: its ladder's if its start names a ladder, otherwise those of the default ladders. */
    public static Conduct conductOf(Welcome welcome, MatchStart start) {
        return welcome.getLaddersList().stream()
                .filter(ladder -> ladder.getName().equals(start.getLadder()))
                .map(LadderTerms::getConduct)
                .findFirst()
                .orElse(welcome.getConduct());
    }

    /** Runs the command line of a program with one bot, and ends the program with its status; --help lists the options. */
    public static void main(Bot bot, String description, String[] arguments) {
        System.exit(Command.status(bot, description, arguments));
    }

    /**
     * Connects a bot to the server at "host:port" and plays until Ctrl-C or until enough matches are finished.
     *
     * <p>An empty address stands for ARENA_SERVER, or localhost:50051. At Ctrl-C the bot starts no
     * more matches and finishes the current ones, for 30 s at most (ARENA_DRAIN); after SIGTERM for
     * 8 s. Then, or at the second signal, or when this thread is interrupted, it leaves the
     * remaining matches. After a lost connection it reconnects.
     *
     * @throws ArenaException for a permanent error, and for an error in the bot, unless {@link Options#playOn}
     */
    public static void run(Bot bot, String address, Options options) {
        Duration limit = drain();
        Run made = new Run(bot, address, options);
        AtomicBoolean stopping = new AtomicBoolean();
        SignalHandler handler = signal -> {
            boolean terminated = signal.getName().equals("TERM") && limit.compareTo(DRAIN_TERMINATED) > 0;
            Duration within = terminated ? DRAIN_TERMINATED : limit;
            if (stopping.getAndSet(true) || within.isZero()) {
                made.leave();
            } else {
                made.drain(within);
            }
        };
        SignalHandler interrupt = handled("INT", handler);
        SignalHandler terminate = handled("TERM", handler);
        try {
            made.await();
            if (stopping.get()) {
                News.info("stopped");
            }
        } catch (InterruptedException stopped) {
            made.leave();
            Thread.currentThread().interrupt();
        } finally {
            handled("INT", interrupt);
            handled("TERM", terminate);
        }
    }

    /** Installs a signal handler; returns the previous one. */
    private static SignalHandler handled(String signal, SignalHandler handler) {
        try {
            return Signal.handle(new Signal(signal), handler);
        } catch (IllegalArgumentException taken) { // with java -Xrs, signals end the program
            return SignalHandler.SIG_DFL;
        }
    }

    private static Duration drain() {
        String text = System.getenv().getOrDefault("ARENA_DRAIN", "");
        if (text.isEmpty()) {
            return DRAIN;
        }
        double seconds;
        try {
            seconds = Double.parseDouble(text.strip());
        } catch (NumberFormatException wrong) {
            seconds = Double.NaN;
        }
        if (!(seconds >= 0 && seconds <= DRAIN.toSeconds())) {
            throw ArenaException.badArgument("ARENA_DRAIN is '%s': it takes seconds from 0 to %d", text, DRAIN.toSeconds());
        }
        return Duration.ofMillis(Math.round(seconds * 1000));
    }
}
