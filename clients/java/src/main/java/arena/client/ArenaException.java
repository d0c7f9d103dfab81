package arena.client;

/** Ends a run: the bot cannot continue. Its message names cause and remedy. */
public final class ArenaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Kind of a permanent error. Everything else (a lost network, a restarting server) is retried and only logged. */
    public enum Kind {
        /** An argument is invalid, for example a file that cannot be read. */
        BAD_ARGUMENT,
        /** The bot's code returned an invalid answer. */
        BAD_ANSWER,
        /** The bot's code threw an exception, which is the cause. */
        BOT_FAILED,
        /** The server does not know the token. */
        TOKEN_REFUSED,
        /** Another bot on this server has the name. */
        NAME_TAKEN,
        /** The server does not accept the name of the bot or of its owner. */
        NAME_NOT_ALLOWED,
        /** The server registers new bots only by invitation, or does not accept this invitation. */
        INVITATION_NEEDED,
        /** The server plays none of the bot's games. */
        NO_GAME_IN_COMMON,
        /** The other side is not an Arena server, or is newer than this client. */
        PROTOCOL_MISMATCH,
        /** The same bot connected from somewhere else; only the newest connection continues. */
        TAKEN_OVER,
        /** The server ended the connection for a permanent reason. */
        REFUSED,
        /** The bot gets no seats until it is un-parked. */
        PARKED,
        /** There was no connection for too long, or no connection is possible at this address. */
        UNREACHABLE
    }

    private final Kind kind;
    private final String reason;

    ArenaException(Kind kind, String message) {
        this(kind, message, "");
    }

    ArenaException(Kind kind, String message, String reason) {
        super(message);
        this.kind = kind;
        this.reason = reason;
    }

    ArenaException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.reason = "";
    }

    static ArenaException badArgument(String format, Object... values) {
        return new ArenaException(Kind.BAD_ARGUMENT, String.format(format, values));
    }

    static ArenaException unusable(Object file, Exception cause) {
        String why = cause instanceof java.nio.file.NoSuchFileException ? "there is no such file" : cause.toString();
        return badArgument("the file %s cannot be used: %s", file, why);
    }

    /** Returns a copy of this exception with `more` added to its message. */
    ArenaException with(String more) {
        ArenaException longer = new ArenaException(kind, getMessage() + more, reason);
        longer.initCause(getCause());
        return longer;
    }

    /** The kind of the error. */
    public Kind kind() {
        return kind;
    }

    /** The server's machine-readable reason, such as "OWNER_BANNED"; empty without one. */
    public String reason() {
        return reason;
    }

    /** The program's exit status: 1 error in the bot, 2 wrong command line, 3 refusal, 4 no server reached. */
    public int status() {
        return switch (kind) {
            case BAD_ANSWER, BOT_FAILED -> 1;
            case BAD_ARGUMENT -> 2;
            case UNREACHABLE -> 4;
            default -> 3;
        };
    }
}
