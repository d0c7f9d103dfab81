package arena.client;

import arena.v1.MatchReport;
import arena.v1.Notice;
import arena.v1.NoticeKind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Locale;

/** Describes messages to a bot in words for its log. */
final class News {
    /** The logger of this package, so that programs can configure it. */
    static final Logger LOG = System.getLogger("arena.client");

    private News() {}

    static void info(String format, Object... values) {
        LOG.log(Level.INFO, () -> String.format(Locale.ROOT, format, values));
    }

    static void warn(String format, Object... values) {
        LOG.log(Level.WARNING, () -> String.format(Locale.ROOT, format, values));
    }

    static void failed(String what, Throwable cause) {
        LOG.log(Level.ERROR, what, cause);
    }

    static void log(MatchReport report) {
        String match = "match " + Long.toUnsignedString(report.getMatchId());
        if (!report.getInterrupted().isEmpty()) {
            warn("%s was interrupted: %s", match, report.getInterrupted());
            return;
        }
        String rated = "";
        if (report.hasRating()) {
            double after = report.getRating().getAfter();
            rated = String.format(Locale.ROOT, ", rating %.0f (%+.1f)", after, after - report.getRating().getBefore());
        }
        int seat = report.getSeat();
        if (seat < 0 || seat >= Math.min(report.getPlacesCount(), report.getScoresCount())) {
            info("%s is over%s", match, rated);
            return;
        }
        info("%s: place %d of %d with %d points%s", match, report.getPlaces(seat), report.getPlacesCount(), report.getScores(seat), rated);
    }

    static void log(Notice notice) {
        if (notice.getKind() == NoticeKind.NOTICE_KIND_PARKED) { // the error that ends the run reports the parking
            return;
        }
        Level level = switch (notice.getKind()) {
            case NOTICE_KIND_ILLEGAL, NOTICE_KIND_STALE, NOTICE_KIND_UNKNOWN, NOTICE_KIND_FORCED_BY_TIME,
                    NOTICE_KIND_FORCED_BY_ILLEGALITY, NOTICE_KIND_SUSPENDED -> Level.WARNING;
            default -> Level.INFO;
        };
        String where = notice.hasMatchId() ? "match " + Long.toUnsignedString(notice.getMatchId()) : "server";
        if (notice.hasDecisionId()) {
            where += ", decision " + Integer.toUnsignedString(notice.getDecisionId());
        }
        String text = where + ": " + kindOf(notice) + ": " + oneLine(notice.getText());
        LOG.log(level, () -> text);
    }

    /** The name of a notice's kind, such as "forced by time"; "notice 99" for an unknown kind. */
    private static String kindOf(Notice notice) {
        if (notice.getKind() == NoticeKind.UNRECOGNIZED) {
            return "notice " + notice.getKindValue();
        }
        return notice.getKind().name().replaceFirst("^NOTICE_KIND_", "").replace('_', ' ').toLowerCase(Locale.ROOT);
    }

    /** Returns a text from the server in one line, for human readers; "no reason given" for an empty text. */
    static String oneLine(String text) {
        String line = text.strip().replaceAll("\\s+", " ");
        return line.isEmpty() ? "no reason given" : line;
    }

    static String matches(int count) {
        return count == 1 ? "1 match" : count + " matches";
    }
}
