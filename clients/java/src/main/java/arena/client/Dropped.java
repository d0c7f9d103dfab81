package arena.client;

/** The connection is lost or was never open; another try may succeed. */
final class Dropped extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Additional pause that the server asks for, in nanoseconds. */
    final long pause;

    Dropped(String message, long pause) {
        super(message);
        this.pause = pause;
    }
}
