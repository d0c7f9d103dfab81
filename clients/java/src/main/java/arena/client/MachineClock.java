package arena.client;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The machine's own clock. It does not prevent a program from ending. */
final class MachineClock implements Clock, AutoCloseable {
    private final ScheduledThreadPoolExecutor alarms = new ScheduledThreadPoolExecutor(1, call -> {
        Thread made = new Thread(call, "arena-clock");
        made.setDaemon(true);
        return made;
    });

    MachineClock() {
        alarms.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public Runnable after(long wait, Runnable call) {
        Future<?> alarm = alarms.schedule(call, wait, NANOSECONDS);
        return () -> alarm.cancel(false);
    }

    @Override
    public void close() {
        alarms.shutdownNow();
    }
}
