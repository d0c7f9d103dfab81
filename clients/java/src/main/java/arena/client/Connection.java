package arena.client;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import arena.client.ArenaException.Kind;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import arena.v1.RegisterBotRequest;
import arena.v1.RegisterBotResponse;
import arena.v1.Welcome;
import com.google.rpc.Status;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Function;

/**
 * A bot's connection to a server: it registers once, connects, and reconnects when the connection is lost. It answers
 * heartbeats and invitations in the thread that delivers them, and puts all other messages into the bot's inbox. It never
 * waits. Times are in nanoseconds.
 */
final class Connection {
    /** Receiver of everything for the bot. */
    interface Inbox {
        /** A message from the server on a session's stream, with its time of arrival. */
        void deliver(Session session, PlayResponse message, long received);

        /** Stop calling the bot, because no time is left. */
        void hurry();
    }

    /**
     * Everything that a connection needs besides the bot's profile.
     *
     * @param open opens a channel to an address, which connects at its first call
     * @param chance returns random numbers from 0 to 1
     * @param obstacle passes on the description of a permanent obstacle if the first connection fails; empty for none
     * @param receipts records the server's statements about its log of results; null to record nothing
     * @param done called once at the end, with the error or null
     */
    record Surroundings(
            Function<String, Channel> open,
            Clock clock,
            Inbox inbox,
            DoubleSupplier chance,
            Consumer<Consumer<String>> obstacle,
            Receipts receipts,
            Consumer<RuntimeException> done) {}

    /** The server's time limit for a registration, for its welcome and for its goodbye. */
    static final long ANSWER_TIME = SECONDS.toNanos(20);
    /** Maximum wait before the first try to reconnect. */
    private static final long FIRST_WAIT = MILLISECONDS.toNanos(100);
    /** Maximum wait between two tries while a server restart is likely. */
    private static final long LONGEST_WAIT = SECONDS.toNanos(5);
    /** Time without a connection after which a restart is no longer likely. */
    private static final long LONG_OUTAGE = SECONDS.toNanos(120);
    /** Maximum wait between two tries during a long outage. */
    private static final long LONGEST_OUTAGE_WAIT = SECONDS.toNanos(30);
    /** Time without a connection to a node after which its matches may be interrupted. The bot then tries another. */
    private static final long LEASE = SECONDS.toNanos(15);
    /** The server's time limit to end the stream of a bot that leaves in the middle of matches. */
    private static final long LEAVE_TIME = SECONDS.toNanos(2);
    /** Time after which a connection counts as good, so that the next wait is the shortest again. */
    private static final long STEADY = SECONDS.toNanos(1);
    /** Maximum number of failures to diagnose before the first connection. */
    private static final int PROBES = 3;

    private final Profile profile;
    private final Surroundings around;
    private final Progress progress;
    private final Addresses addresses;
    private final Set<Alarm> alarms = new HashSet<>();
    private String name;
    /** Number of tries to connect. Events of earlier tries are ignored. */
    private int attempt;
    private Channel channel;
    private Channel.Call call;
    private Session session;
    /** True if the token was known before this try. */
    private boolean known;
    /** True if the server has sent a welcome on this try. */
    private boolean greeted;
    /** True after the first welcome on any try. */
    private boolean reached;
    private int probed;
    private boolean leaving;
    private boolean finishing;
    private boolean over;
    private long begun;
    private long good;
    private long seen;

    Connection(Profile profile, Surroundings around) {
        this.profile = profile;
        this.around = around;
        progress = new Progress(profile.matches);
        addresses = new Addresses(profile.address);
        name = profile.name;
    }

    /** A scheduled call, unless it is cancelled. */
    private final class Alarm {
        private final Runnable callOff;

        Alarm(long wait, Runnable something) {
            alarms.add(this);
            callOff = around.clock.after(wait, () -> locked(() -> {
                if (alarms.remove(this)) {
                    something.run();
                }
            }));
        }

        void off() {
            if (alarms.remove(this)) {
                callOff.run();
            }
        }
    }

    /** The longest wait before the next try, given the time since the last good connection. */
    private static long longest(long outage) {
        long limit = outage > LONG_OUTAGE ? LONGEST_OUTAGE_WAIT : LONGEST_WAIT;
        return Math.min(limit, Math.max(FIRST_WAIT, outage));
    }

    /** Connects, and stays so until the matches are played, the server ends the stream, or {@link #end} is called. */
    void start() {
        locked(() -> {
            good = around.clock.now();
            seen = good;
            connect();
        });
    }

    /** Starts no more matches and finishes the current ones. After `limit`, leaves those still running. */
    void drain(long limit) {
        locked(() -> {
            progress.ending = true;
            int left = progress.begun();
            if (left == 0) {
                finish(null);
                return;
            }
            News.info(
                    "finishing %s within %d s, and beginning no more; once more, and it leaves at once: "
                            + "house bots play them on, and each counts as a last place",
                    News.matches(left), Math.round(limit / 1e9));
            if (call != null) {
                call.write(PlayRequest.newBuilder().setCapacity(0).build());
            }
            new Alarm(limit, () -> {
                leaveNow();
                around.inbox.hurry();
            });
        });
    }

    /** Sends `leave` if the bot is playing or about to play; the server then ends the stream. */
    void leave() {
        locked(this::leaveNow);
    }

    private void leaveNow() {
        int left = progress.begun();
        if (call == null || left == 0) {
            finish(null);
            return;
        }
        if (leaving) {
            return;
        }
        leaving = true;
        News.info("leaving %s in order: house bots play them on, and each counts as a last place", News.matches(left));
        call.write(PlayRequest.newBuilder().setLeave(true).build());
        new Alarm(LEAVE_TIME, () -> finish(null));
    }

    /** Cuts the connection without notice; `why` is the reason, null for none. */
    void end(RuntimeException why) {
        locked(() -> finish(why));
    }

    /** Sends a message on a session's stream, if it still exists. */
    void say(Session session, PlayRequest request) {
        locked(() -> {
            if (session == this.session && call != null) {
                call.write(request);
            }
        });
    }

    /** Calls `something` unless the connection has ended; an exception ends the connection. */
    private synchronized void locked(Runnable something) {
        if (over) {
            return;
        }
        try {
            something.run();
        } catch (ArenaException wrong) {
            if (!over) {
                finish(wrong);
            }
        }
    }

    /** Calls `something` unless a later try has begun or the connection has ended. */
    private void during(int since, Runnable something) {
        locked(() -> {
            if (since == attempt) {
                something.run();
            }
        });
    }

    private void finish(RuntimeException why) {
        hangUp();
        over = true;
        Set.copyOf(alarms).forEach(Alarm::off);
        around.done.accept(why);
    }

    /** Ends the stream and connection of the current try, if any. */
    private void hangUp() {
        attempt++;
        if (session != null) {
            session.over = true;
        }
        if (call != null) {
            call.cancel();
        }
        if (channel != null) {
            channel.close();
        }
        call = null;
        channel = null;
        session = null;
        finishing = false;
    }

    private void connect() {
        begun = around.clock.now();
        greeted = false;
        String token = profile.token.isEmpty() ? Tokens.read(profile.tokenFile) : profile.token;
        channel = around.open.apply(addresses.current);
        known = !token.isEmpty();
        if (known) {
            converse(token);
        } else {
            register();
        }
    }

    private void register() {
        int since = attempt;
        Tokens made = Tokens.offer(profile.tokenFile);
        RegisterBotRequest request = RegisterBotRequest.newBuilder()
                .setName(profile.name)
                .setOwner(profile.owner)
                .setInvitation(profile.invitation)
                .setToken(made.token())
                .build();
        channel.register(request, ANSWER_TIME, (answer, ended) -> during(since, () -> registered(made, answer, ended)));
    }

    private void registered(Tokens made, RegisterBotResponse answer, Status ended) {
        if (answer == null) {
            RuntimeException failure = Failures.ofRegistration(ended);
            if (failure instanceof ArenaException) {
                made.drop();
            }
            fail(failure);
            return;
        }
        made.keep(answer.getToken());
        News.info("registered %s at %s; its token is in %s", answer.getName(), profile.address, profile.tokenFile);
        converse(answer.getToken());
    }

    /** Plays on one stream until all matches are played or the stream ends. */
    private void converse(String token) {
        int since = attempt;
        Alarm tooLate = new Alarm(ANSWER_TIME, () -> {
            if (since == attempt) {
                fail(new Dropped("no welcome within " + ANSWER_TIME / SECONDS.toNanos(1) + " s", 0));
            }
        });
        call = channel.play(token, new Channel.Events(
                message -> during(since, () -> {
                    tooLate.off();
                    if (!finishing) {
                        hear(message);
                    }
                }),
                status -> during(since, () -> {
                    tooLate.off();
                    if (finishing) { // the status after a goodbye does not matter
                        close();
                    } else {
                        fail(Failures.ofPlay(status));
                    }
                })));
        call.write(progress.hello(profile));
    }

    private void hear(PlayResponse message) {
        long received = around.clock.now();
        boolean first = session == null;
        if (first) {
            greet(message.getWelcome());
        }
        PlayRequest reply = session.receive(message);
        if (reply != null) {
            call.write(reply);
        }
        if (first || Session.concernsBot(message)) {
            around.inbox.deliver(session, message, received);
        }
        if (progress.done()) {
            finishing = true;
            call.end();
            new Alarm(ANSWER_TIME, this::close);
        }
    }

    private void greet(Welcome welcome) {
        String build = welcome.getBuild().isEmpty() ? "" : ", " + welcome.getBuild();
        News.info("%s is connected to %s (Arena %s%s)", welcome.getBot(), addresses.current, welcome.getServer(), build);
        name = welcome.getBot();
        addresses.list(welcome.getNodesList());
        progress.reconnect();
        progress.shown(welcome.getLog());
        session = new Session(welcome, profile, progress, around.receipts);
        greeted = true;
        reached = true;
        if (around.receipts != null) {
            around.receipts.recordLog(welcome.getLog());
        }
    }

    /** Closes everything after a goodbye. */
    private void close() {
        finish(progress.parked.isEmpty() ? null : new ArenaException(Kind.PARKED, parked()));
    }

    /** Handles a failed try: ends the run, or waits for the next try. */
    private void fail(RuntimeException failure) {
        if (!(failure instanceof Dropped lost)) {
            ArenaException refused = (ArenaException) failure;
            boolean ours = refused.kind() == Kind.TOKEN_REFUSED && profile.token.isEmpty() && known;
            if (ours && !refused.reason().equals("TOKEN_REVOKED")) {
                refused = refused.with(" (from " + profile.tokenFile
                        + "; remove it to register the bot anew, and under another name if it was deleted here)");
            }
            finish(refused);
            return;
        }
        hangUp();
        if (leaving || progress.ending && progress.playing.isEmpty()) {
            finish(null);
            return;
        }
        if (reached || probed >= PROBES || around.obstacle == null) {
            retry(lost);
            return;
        }
        probed++;
        int since = attempt;
        around.obstacle.accept(why -> during(since, () -> {
            if (why.isEmpty()) {
                retry(lost);
            } else {
                finish(new ArenaException(Kind.UNREACHABLE, why));
            }
        }));
    }

    private void retry(Dropped lost) {
        long now = around.clock.now();
        if (greeted) { // the server is there, even if the stream ended at once and may do so again
            good = Math.max(good, now - LONGEST_WAIT);
            if (now - begun > STEADY) {
                good = now;
            }
            seen = now;
        }
        long wait = (long) (around.chance.getAsDouble() * longest(now - good)) + lost.pause;
        if (profile.giveUpAfter >= 0 && now + wait - seen > profile.giveUpAfter) {
            finish(new ArenaException(Kind.UNREACHABLE, "no connection to " + addresses.current + ": " + lost.getMessage()));
            return;
        }
        News.warn("no connection to %s: %s; next try in %.1f s", addresses.current, lost.getMessage(), wait / 1e9);
        if (now + wait - seen > LEASE) {
            addresses.next();
        }
        new Alarm(wait, this::connect);
    }

    /** Describes why the bot is parked, and how to un-park it. */
    private String parked() {
        String why = progress.parked.split("; mend it", 2)[0];
        String roots = profile.tlsRoots != null ? " --tls-roots " + profile.tlsRoots : profile.tls ? " --tls" : "";
        boolean given = profile.tokenFile == null;
        return why + ". Mend it, then un-park it: arena-bot unpark " + name + " --server " + profile.address + " --token-file "
                + (given ? "FILE" : profile.tokenFile) + roots + (given ? ", with its token in FILE" : "")
                + " (arena-bot comes with the Python SDK)";
    }
}
