package arena.client;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;

/** A running bot: its connection, and its code in a separate thread. */
public final class Run implements AutoCloseable {
    private final Connection connection;
    private final Answering answering;

    /**
     * Lets a bot play on the server at "host:port". An empty address stands for ARENA_SERVER, or localhost:50051.
     *
     * @throws ArenaException BAD_ARGUMENT if bot, options or environment are invalid
     */
    public Run(Bot bot, String address, Options options) {
        Profile profile = new Profile(bot, address, options, System.getenv());
        MachineClock clock = new MachineClock();
        answering = new Answering(new Caller(bot, options.playOn, clock), this::say);
        connection = new Connection(profile, new Connection.Surroundings(
                node -> new Network(profile, node),
                clock,
                answering,
                () -> ThreadLocalRandom.current().nextDouble(),
                found -> daemon("arena-probe", () -> found.accept(Probe.obstacle(profile))),
                profile.receipts == null ? null : new Receipts(profile.receipts),
                why -> {
                    clock.close();
                    answering.end(why);
                }));
        daemon("arena-bot", this::play);
        connection.start();
    }

    private void say(Session session, arena.v1.PlayRequest request) {
        connection.say(session, request);
    }

    private void play() {
        try {
            answering.answer();
        } catch (ArenaException wrong) {
            connection.end(null);
            answering.over.complete(wrong);
        } catch (InterruptedException stopped) { // by the bot itself: no other code can interrupt this thread
            connection.end(null);
            answering.over.complete(
                    new ArenaException(ArenaException.Kind.BOT_FAILED, "the bot interrupted its own thread", stopped));
        }
    }

    private static void daemon(String name, Runnable work) {
        Thread made = new Thread(work, name);
        made.setDaemon(true);
        made.start();
    }

    /** Starts no more matches and finishes the current ones; at the time limit it leaves those still running. */
    public void drain(Duration limit) {
        connection.drain(limit.toNanos());
    }

    /** Leaves the bot's matches at once; house bots take its seats. */
    public void leave() {
        answering.hurry();
        connection.leave();
    }

    /** Leaves as {@link #leave} does, and waits for the server, for 2 s at most. {@link #await} throws the run's errors. */
    @Override
    public void close() {
        leave();
        try {
            answering.over.get();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /**
     * Waits until enough matches are finished or the run is stopped.
     *
     * @throws ArenaException for a permanent error, and for an error in the bot unless {@link Options#playOn}
     */
    public void await() throws InterruptedException {
        RuntimeException why;
        try {
            why = answering.over.get();
        } catch (ExecutionException impossible) {
            throw new AssertionError(impossible);
        }
        if (why != null) {
            throw why;
        }
    }
}
