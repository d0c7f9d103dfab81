package arena.client;

import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What waits for a bot, in order; it takes it out and calls the bot. */
final class Answering implements Connection.Inbox {
    /** Says something on the stream of a session. */
    interface Speaker {
        void say(int session, PlayRequest request);
    }

    private record Delivery(int session, PlayResponse message, long received) {}

    private final Caller caller;
    private final Speaker speaker;
    private final Queue<Delivery> deliveries = new ArrayDeque<>();
    /** The end: why, null for a good reason. A bot that computes on though it is to be called no more is not waited for. */
    final CompletableFuture<RuntimeException> over = new CompletableFuture<>();
    private Map<String, Catalog> games = Map.of();
    private int lost;
    private boolean ended;
    private RuntimeException why;

    Answering(Caller caller, Speaker speaker) {
        this.caller = caller;
        this.speaker = speaker;
    }

    @Override
    public synchronized void deliver(int session, PlayResponse message, long received) {
        deliveries.add(new Delivery(session, message, received));
        notifyAll();
    }

    @Override
    public synchronized void over(int session) {
        lost = session;
    }

    @Override
    public synchronized void hurry() {
        caller.interrupted = true;
        if (ended) {
            over.complete(why);
        }
    }

    /** Adds nothing any more; why the connection has ended, null for a good reason. */
    synchronized void end(RuntimeException reason) {
        ended = true;
        why = reason;
        if (caller.interrupted) {
            over.complete(why);
        }
        notifyAll();
    }

    synchronized boolean isEmpty() {
        return deliveries.isEmpty();
    }

    synchronized void clear() {
        deliveries.clear();
    }

    /** Calls the bot for what comes, until the end; what the bot did wrong is thrown. */
    void answer() throws InterruptedException {
        while (waits()) {
            one();
        }
        over.complete(why);
    }

    /** Waits for a delivery; returns false where none comes any more. */
    private synchronized boolean waits() throws InterruptedException {
        while (deliveries.isEmpty() && !ended) {
            wait();
        }
        return !deliveries.isEmpty();
    }

    /** Calls the bot for the delivery that has waited longest, if there is one. */
    void one() {
        Delivery next;
        boolean asked;
        synchronized (this) {
            next = deliveries.poll();
            asked = next != null && next.session > lost;
        }
        if (next == null) {
            return;
        }
        if (next.message.hasWelcome()) {
            games = next.message.getWelcome().getGamesList().stream()
                    .map(Catalog::of)
                    .collect(Collectors.toMap(Catalog::name, Function.identity(), (one, other) -> other));
        }
        try {
            caller.react(next.message, games, next.received, asked, request -> speaker.say(next.session, request));
        } catch (Caller.Interrupted stopped) { // after a stop the bot makes no more decisions
            clear();
        }
    }
}
