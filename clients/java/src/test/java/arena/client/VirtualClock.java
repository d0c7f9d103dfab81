package arena.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A clock that advances only on request. */
final class VirtualClock implements Clock {
    private record Alarm(long at, Runnable call) {}

    long time;
    private final List<Alarm> alarms = new ArrayList<>();

    @Override
    public long now() {
        return time;
    }

    @Override
    public Runnable after(long wait, Runnable call) {
        Alarm made = new Alarm(time + wait, call);
        alarms.add(made);
        return () -> alarms.remove(made);
    }

    /** Advances the clock by a time or until a condition holds. `settle` runs everything that takes no time. */
    void pass(long length, Runnable settle, BooleanSupplier until) {
        long end = time + length;
        settle.run();
        while (!until.getAsBoolean() && !alarms.isEmpty()) {
            Alarm next = alarms.stream().min(Comparator.comparingLong(Alarm::at)).orElseThrow();
            if (next.at > end) {
                break;
            }
            alarms.remove(next);
            time = Math.max(time, next.at);
            next.call.run();
            settle.run();
        }
        if (!until.getAsBoolean()) {
            time = Math.max(time, end);
        }
    }
}
