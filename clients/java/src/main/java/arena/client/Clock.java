package arena.client;

/** Has the time and its alarms, in nanoseconds. */
interface Clock {
    /** The time since whenever. */
    long now();

    /** Makes a call later, never at once; returns what calls it off. */
    Runnable after(long wait, Runnable call);
}
