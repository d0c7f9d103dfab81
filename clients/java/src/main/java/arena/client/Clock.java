package arena.client;

/** A clock with alarms, in nanoseconds. */
interface Clock {
    /** The time since an arbitrary moment. */
    long now();

    /** Makes a call later, never immediately; returns a function that cancels it. */
    Runnable after(long wait, Runnable call);
}
