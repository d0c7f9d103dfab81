package arena.client;

import arena.client.ArenaException.Kind;
import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** What the end of a call means: an {@link ArenaException} for good, or {@link Dropped}. */
final class Failures {
    /** The reasons for the end of a stream after which another try may succeed. */
    private static final Set<String> COME_BACK =
            Set.of("NO_HELLO", "STOPPING", "STORE_UNAVAILABLE", "NOT_READING", "FLOODING", "OVER_BUDGET");

    /** What a server may ask to wait: what asks for more is a mistake, or answered sooner. */
    private static final long LONGEST_PAUSE = TimeUnit.HOURS.toNanos(1);

    private final Status status;
    private final String text;
    private String reason = "";
    private long pause;

    private Failures(Status status) {
        this.status = status;
        text = News.oneLine(status.getMessage());
        for (Any detail : status.getDetailsList()) {
            try {
                if (detail.is(ErrorInfo.class)) {
                    reason = detail.unpack(ErrorInfo.class).getReason();
                } else if (detail.is(RetryInfo.class)) {
                    pause = nanos(detail.unpack(RetryInfo.class).getRetryDelay());
                }
            } catch (InvalidProtocolBufferException unreadable) {
                News.warn("the server gave a detail that cannot be read: %s", unreadable.getMessage());
            }
        }
    }

    private static long nanos(Duration pause) {
        // Far beyond what nanoseconds of an int can make up for, so that nothing overflows.
        long seconds = Math.max(-10, Math.min(pause.getSeconds(), TimeUnit.NANOSECONDS.toSeconds(LONGEST_PAUSE) + 10));
        return Math.max(0, Math.min(TimeUnit.SECONDS.toNanos(seconds) + pause.getNanos(), LONGEST_PAUSE));
    }

    /** What the end of a stream means. */
    static RuntimeException ofPlay(Status status) {
        return new Failures(status).play();
    }

    /** What a failed registration means. */
    static RuntimeException ofRegistration(Status status) {
        return new Failures(status).registration();
    }

    private RuntimeException play() {
        Code code = code();
        if (code == Code.OK) {
            return new Dropped("the server closed the connection", pause);
        }
        if (COME_BACK.contains(reason)) {
            return new Dropped(text + " (" + reason + ")", pause);
        }
        return switch (code) {
            case UNAUTHENTICATED -> refused(Kind.TOKEN_REFUSED, "the server refuses the token: " + text);
            case ABORTED -> refused(Kind.TAKEN_OVER, "the bot is connected from somewhere else: " + text);
            case UNIMPLEMENTED -> refused(
                    Kind.PROTOCOL_MISMATCH, "this is no Arena server, or it speaks another version of the protocol: " + text);
            case FAILED_PRECONDITION -> reason.equals("NO_CASUAL")
                    ? refused(Kind.REFUSED, text + "; leave out casual (--casual) for rated matches")
                    : refused(Kind.NO_GAME_IN_COMMON, text);
            case INVALID_ARGUMENT, PERMISSION_DENIED -> refused(Kind.REFUSED, "the server refuses the bot: " + text);
            default -> new Dropped(text + " (" + code + ")", pause);
        };
    }

    private RuntimeException registration() {
        if (COME_BACK.contains(reason)) {
            return play();
        }
        return switch (code()) {
            case ALREADY_EXISTS -> refused(
                    Kind.NAME_TAKEN,
                    text + ". If the bot is yours, give its token or token file; if it was deleted, or is not yours,"
                            + " register under another name");
            case INVALID_ARGUMENT -> refused(
                    reason.equals("TOKEN_NOT_ALLOWED") ? Kind.TOKEN_REFUSED : Kind.NAME_NOT_ALLOWED, text);
            case PERMISSION_DENIED -> reason.equals("OWNER_BANNED")
                    ? refused(Kind.REFUSED, "the server refuses the bot: " + text)
                    : refused(Kind.INVITATION_NEEDED, text);
            case RESOURCE_EXHAUSTED -> refused(Kind.REFUSED, "the server refuses the bot: " + text);
            default -> play();
        };
    }

    private Code code() {
        Code code = Code.forNumber(status.getCode());
        return code == null ? Code.UNKNOWN : code;
    }

    private ArenaException refused(Kind kind, String message) {
        return new ArenaException(kind, message, reason);
    }
}
