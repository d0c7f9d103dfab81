package arena.client;

/** Runs bots. */
public final class Arena {
    /** That of this client, which a server is told. */
    public static final String VERSION = "0.1.0";

    private Arena() {}
}
