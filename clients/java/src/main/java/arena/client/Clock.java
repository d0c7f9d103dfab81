package arena.client;

/** A clock with alarms, in nanoseconds. */
interface Clock {
    /** The time since a fixed moment. */
    long now();

    /** Makes a call later, never immediately; returns a function that cancels the call. */
    Runnable after(long wait, Runnable call);
}
