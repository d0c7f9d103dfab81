package arena.client;

import arena.v1.LogEntry;
import arena.v1.LogHead;
import arena.v1.LogState;
import arena.v1.MatchReport;
import com.google.gson.JsonParseException;
import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Asks at each welcome: was the server's log of results only added to since the bot last saw it? It says what is wrong once, and
 * the bot plays on.
 */
final class LogChecker {
    /** Asks the server for the proof that a log of so many leaves begins a longer one. */
    interface Consistency {
        /** Empty where the server refuses; {@link Dropped} where nobody answers. */
        Optional<List<ByteString>> proof(long first, long second);
    }

    /** More leaves than any log has, without a sign. */
    private static final long ANY = -1;

    private static final DateTimeFormatter MINUTES = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm").withZone(ZoneOffset.UTC);

    /** A leaf that names a restoration: the leaves that it left, and when, in microseconds since 1970. */
    private record Restoration(String kind, long size, long at) {}

    private final Receipts receipts;
    private final Executor executor;
    /** Held by whoever uses the receipts; free while the server is asked. */
    private final ReentrantLock lock = new ReentrantLock();

    private boolean alarmed;

    /**
     * Keeps receipts in a file.
     *
     * @param file null for none on the disk
     * @param executor runs what waits for the server
     */
    LogChecker(Path file, Executor executor) {
        receipts = new Receipts(new ReceiptFile(file));
        this.executor = executor;
    }

    /** Keeps what a report says of the log; seat: what is known from the match's beginning, null for nothing. */
    void take(MatchReport report, Seat seat) {
        lock.lock();
        try {
            receipts.take(report, seat);
        } finally {
            lock.unlock();
        }
    }

    /** Checks the log that a welcome shows, elsewhere. */
    void welcomed(LogState state, Consistency server) {
        LogHead seen = seen();
        executor.execute(() -> {
            try {
                check(state, seen, server);
            } catch (Dropped nobody) {
                News.info("the server's log of results was not checked: %s", nobody.getMessage());
            }
        });
    }

    /**
     * The longest log that the bot knows of, null where it knows of none: when a welcome comes, as the reports of matches that end while
     * it is checked are of longer ones.
     */
    private LogHead seen() {
        lock.lock();
        try {
            receipts.load();
            return receipts.latest(ANY);
        } finally {
            lock.unlock();
        }
    }

    /** Compares the log that a welcome shows, without a head where it shows none, with what was seen before; Dropped where nobody answers. */
    private void check(LogState state, LogHead seen, Consistency server) {
        lock.lock();
        try {
            if (!state.hasHead()) {
                if (receipts.pin() != null) {
                    alarm("the server had a log of results and shows none now");
                }
                return;
            }
            String problem = problemOf(state);
            if (!problem.isEmpty()) {
                alarm(problem);
            } else if (receipts.pin() == null) {
                receipts.pinTo(state, null);
            } else {
                compare(state, seen == null ? receipts.pin().head() : seen, server);
            }
        } finally {
            lock.unlock();
        }
    }

    /** What is wrong with a log by itself, in words; empty where nothing is. */
    private static String problemOf(LogState state) {
        try {
            return new LogKeys(state.getKeysList()).signed(state.getHead()) ? "" : "its head is not signed by its key";
        } catch (IllegalArgumentException wrong) {
            return "it shows " + wrong.getMessage();
        }
    }

    private void compare(LogState state, LogHead known, Consistency server) {
        Receipts.Pin pin = receipts.pin();
        LogHead head = state.getHead();
        List<ByteString> keys = state.getKeysList();
        if (same(pin.head(), head) && pin.keys().equals(keys)) {
            return;
        }
        if (pin.keys().size() > keys.size() || !pin.keys().equals(keys.subList(0, pin.keys().size()))) {
            alarm("its key is not the one that this bot knows, and that one did not name it");
            return;
        }
        if (Long.compareUnsigned(known.getSize(), head.getSize()) <= 0 && begins(known, head, server)) {
            receipts.pinTo(state, null);
            return;
        }
        Optional<Restoration> cut = newCut(state, pin.restores(), known.getSize());
        if (cut.isEmpty()) {
            alarm("it does not begin with the " + Long.toUnsignedString(known.getSize()) + " entries that this bot has seen");
            return;
        }
        LogHead earlier = receipts.latest(cut.get().size);
        if (earlier != null && !begins(earlier, head, server)) {
            alarm("it was restored from a backup, and does not begin with the " + Long.toUnsignedString(earlier.getSize())
                    + " entries before that");
            return;
        }
        tell(cut.get());
        receipts.pinTo(state, cut.get().size);
    }

    private static boolean same(LogHead one, LogHead other) {
        return one.getSize() == other.getSize() && one.getRoot().equals(other.getRoot());
    }

    /** Whether one log begins another. */
    private boolean begins(LogHead first, LogHead second, Consistency server) {
        if (first.getSize() == second.getSize()) {
            return first.getRoot().equals(second.getRoot());
        }
        Optional<List<ByteString>> proof;
        lock.unlock();
        try {
            proof = server.proof(first.getSize(), second.getSize());
        } finally {
            lock.lock();
        }
        return proof.isPresent() && Merkle.consistent(first, second, proof.get());
    }

    /** Where a restoration that was not known cut the log lowest, below so many entries. */
    private static Optional<Restoration> newCut(LogState state, List<ByteString> known, long seen) {
        return state.getRestoresList().stream()
                .filter(entry -> same(entry.getHead(), state.getHead()) && !known.contains(entry.getLeaf()) && Merkle.included(entry))
                .map(entry -> restoration(entry, seen))
                .filter(Objects::nonNull)
                .min(Comparator.comparingLong(Restoration::size));
    }

    /** What a leaf says of a restoration below so many entries; null where it says none. */
    private static Restoration restoration(LogEntry entry, long seen) {
        Restoration leaf;
        try {
            leaf = StrictJson.read(entry.getLeaf().toStringUtf8(), Restoration.class);
        } catch (JsonParseException none) {
            return null;
        }
        boolean cuts = "restore".equals(leaf.kind) && leaf.size >= 0 && entry.getNumber() == leaf.size + 1
                && Long.compareUnsigned(leaf.size, seen) < 0;
        return cuts ? leaf : null;
    }

    /** Tells which results a restoration lost. */
    private void tell(Restoration cut) {
        List<Long> beyond = receipts.beyond(cut.size);
        String which = "";
        if (beyond.size() == 1) {
            which = " (match " + Long.toUnsignedString(beyond.get(0)) + ")";
        } else if (beyond.size() > 1) {
            which = " (matches " + Long.toUnsignedString(beyond.get(0)) + " to "
                    + Long.toUnsignedString(beyond.get(beyond.size() - 1)) + ")";
        }
        News.warn(
                "the server was restored from a backup on %s UTC, and its log goes on from entry %d: %d of this bot's receipts are of"
                        + " results after that%s, which it does not know any more; they are kept in %s, and the bot plays on",
                MINUTES.format(Instant.EPOCH.plus(cut.at, ChronoUnit.MICROS)), cut.size, beyond.size(), which, receipts.where());
    }

    private void alarm(String problem) {
        if (!alarmed) {
            alarmed = true;
            News.error(
                    "THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: %s. Results may have been changed. What this bot was told is kept in"
                            + " %s; it plays on",
                    problem, receipts.where());
        }
    }
}
