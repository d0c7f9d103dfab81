package arena.client;

import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
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
    private final CountDownLatch hurried = new CountDownLatch(1);
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
        hurried.countDown();
        notifyAll();
    }

    /** Adds nothing any more; why the connection has ended, null for a good reason. */
    synchronized void end(RuntimeException reason) {
        ended = true;
        why = reason;
        notifyAll();
    }

    synchronized boolean isEmpty() {
        return deliveries.isEmpty();
    }

    synchronized void clear() {
        deliveries.clear();
    }

    /** Waits until the connection has ended and the bot has heard all, or computes on though it is to be called no more. */
    RuntimeException await() throws InterruptedException {
        synchronized (this) {
            while (!ended || hurried.getCount() > 0 && !heard) {
                wait();
            }
            return why;
        }
    }

    private boolean heard;

    /** Calls the bot for what comes, until the end; what the bot did wrong is thrown. */
    void answer() throws InterruptedException {
        try {
            while (true) {
                synchronized (this) {
                    while (deliveries.isEmpty() && !ended) {
                        wait();
                    }
                    if (deliveries.isEmpty()) {
                        return;
                    }
                }
                one();
            }
        } finally {
            synchronized (this) {
                heard = true;
                notifyAll();
            }
        }
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
        } catch (Caller.Interrupted stopped) { // whoever was told to stop decides no more
            clear();
        }
    }
}
