package arena.client;

import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

/** Queue of messages for a bot; it calls the bot for each in order. */
final class Answering implements Connection.Inbox {
    private record Delivery(Session session, PlayResponse message, long received) {}

    private final Caller caller;
    /** Sends a message on the stream of a session. */
    private final BiConsumer<Session, PlayRequest> say;
    private final Queue<Delivery> deliveries = new ArrayDeque<>();
    /** Completes at the run's end, with its error or null. After a stop, does not wait for a bot that is computing. */
    final CompletableFuture<RuntimeException> over = new CompletableFuture<>();
    private boolean ended;
    private RuntimeException why;

    Answering(Caller caller, BiConsumer<Session, PlayRequest> say) {
        this.caller = caller;
        this.say = say;
    }

    @Override
    public synchronized void deliver(Session session, PlayResponse message, long received) {
        deliveries.add(new Delivery(session, message, received));
        notifyAll();
    }

    @Override
    public synchronized void hurry() {
        caller.interrupted = true;
        if (ended) {
            over.complete(why);
        }
    }

    /** Closes the queue; `reason` is the connection's error, null for none. */
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

    /** Calls the bot for each message until the queue is closed; throws the bot's errors. */
    void answer() throws InterruptedException {
        while (waits()) {
            one();
        }
        over.complete(why);
    }

    /** Waits for a delivery; returns false if no more will come. */
    private synchronized boolean waits() throws InterruptedException {
        while (deliveries.isEmpty() && !ended) {
            wait();
        }
        return !deliveries.isEmpty();
    }

    /** Calls the bot for the oldest delivery, if there is one. */
    void one() {
        Delivery next;
        synchronized (this) {
            next = deliveries.poll();
        }
        if (next == null) {
            return;
        }
        try {
            caller.react(next.message, next.session, next.received, request -> say.accept(next.session, request));
        } catch (Caller.Interrupted stopped) { // after a stop the bot makes no more decisions
            clear();
        }
    }
}
