package arena.client;

import arena.client.ArenaException.Kind;
import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The meaning of a call's end: a permanent {@link ArenaException}, or {@link Dropped}. */
final class Failures {
    /** The statuses after which another try may succeed. All other statuses with a reason are final. */
    private static final Set<Code> COME_BACK =
            EnumSet.of(Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED, Code.DEADLINE_EXCEEDED);

    /** Maximum pause that a server may ask for; a longer one must be a mistake. */
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
        // Limited so that sums with further nanoseconds cannot overflow.
        long seconds = Math.max(-10, Math.min(pause.getSeconds(), TimeUnit.NANOSECONDS.toSeconds(LONGEST_PAUSE) + 10));
        return Math.max(0, Math.min(TimeUnit.SECONDS.toNanos(seconds) + pause.getNanos(), LONGEST_PAUSE));
    }

    /** The exception for the end of a stream. */
    static RuntimeException ofPlay(Status status) {
        return new Failures(status).play();
    }

    /** The exception for a failed registration. */
    static RuntimeException ofRegistration(Status status) {
        return new Failures(status).registration();
    }

    private RuntimeException play() {
        Code code = code();
        if (code == Code.OK) {
            return new Dropped("the server closed the connection", pause);
        }
        if (code == Code.RESOURCE_EXHAUSTED && reason.isEmpty()) { // raised by gRPC in this process
            return refused(Kind.PROTOCOL_MISMATCH, "a message from the server is larger than this client accepts: " + text);
        }
        if (COME_BACK.contains(code)) {
            return new Dropped(text + " (" + (reason.isEmpty() ? code : reason) + ")", pause);
        }
        return switch (reason) {
            case "TAKEN_OVER" -> refused(Kind.TAKEN_OVER, "the bot is connected from somewhere else: " + text);
            case "NO_SUCH_GAME" -> refused(Kind.NO_GAME_IN_COMMON, text);
            case "NO_CASUAL" -> refused(Kind.REFUSED, text + "; leave out casual (--casual) for rated matches");
            default -> playByCode(code);
        };
    }

    private RuntimeException playByCode(Code code) {
        return switch (code) {
            case UNAUTHENTICATED -> refused(Kind.TOKEN_REFUSED, "the server refuses the token: " + text);
            case UNIMPLEMENTED -> refused(
                    Kind.PROTOCOL_MISMATCH, "this is no Arena server, or it speaks another version of the protocol: " + text);
            case INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION -> refused(Kind.REFUSED, "the server refuses the bot: " + text);
            default -> reason.isEmpty()
                    ? new Dropped(text + " (" + code + ")", pause)
                    : refused(Kind.REFUSED, "the server refuses the bot: " + text);
        };
    }

    private RuntimeException registration() {
        return switch (code()) {
            case ALREADY_EXISTS -> refused(
                    Kind.NAME_TAKEN,
                    text + ". If the bot is yours, give its token or token file; if it was deleted, or is not yours,"
                            + " register under another name");
            case INVALID_ARGUMENT -> refused(
                    reason.equals("TOKEN_NOT_ALLOWED") ? Kind.TOKEN_REFUSED : Kind.NAME_NOT_ALLOWED, text);
            case PERMISSION_DENIED -> reason.equals("OWNER_BANNED")
                    ? play()
                    : refused(Kind.INVITATION_NEEDED, text);
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
