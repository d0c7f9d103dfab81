package arena.client;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;

/** A bot that plays: a connection, the bot's code in a thread of its own, and an orderly end. */
public final class Run {
    private final Connection connection;
    private final Answering answering;

    /**
     * Has a bot play on the server at "host:port"; where that is empty on the one in ARENA_SERVER, or localhost:50051.
     *
     * @throws ArenaException BAD_ARGUMENT where bot, options or environment make no sense
     */
    public Run(Bot bot, String address, Options options) {
        Profile profile = new Profile(bot, address, options, System.getenv());
        MachineClock clock = new MachineClock();
        answering = new Answering(new Caller(bot, options.playOn, clock), this::say);
        connection = new Connection(profile, new Connection.Surroundings(
                () -> new Network(profile),
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

    private void say(int session, arena.v1.PlayRequest request) {
        connection.say(session, request);
    }

    private void play() {
        try {
            answering.answer();
        } catch (ArenaException wrong) {
            connection.end(null);
            answering.over.complete(wrong);
        } catch (InterruptedException stopped) { // by the bot itself: nobody else knows this thread
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

    /** Begins no more matches and finishes the current ones; after a while it leaves what is left. */
    public void drain(Duration limit) {
        connection.drain(limit.toNanos());
    }

    /** Leaves what it plays in order, at once: house bots play it on. */
    public void leave() {
        answering.hurry();
        connection.leave();
    }

    /**
     * Waits for the end: enough matches are finished, or it was told to stop.
     *
     * @throws ArenaException what trying again cannot change, or an error in the bot, unless it plays on
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
