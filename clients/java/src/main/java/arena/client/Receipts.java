package arena.client;

import arena.client.ReceiptFile.HeadLine;
import arena.client.ReceiptFile.Line;
import arena.client.ReceiptFile.PinLine;
import arena.client.ReceiptFile.ReceiptLine;
import arena.v1.LogEntry;
import arena.v1.LogHead;
import arena.v1.LogState;
import arena.v1.MatchReport;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The receipts of one bot at one server: the server's key and newest head, and a receipt for each match. */
final class Receipts {
    /** What is known of a server's log: the leaves that name its keys and its restorations, and its newest head. */
    record Pin(List<ByteString> keys, List<ByteString> restores, LogHead head) {}

    private record Place(long number, long match) {}

    private final ReceiptFile file;
    /** Heads of receipts, the oldest first, and the number of the leaf and the match of each. */
    private final List<LogHead> heads = new ArrayList<>();
    private final List<Place> places = new ArrayList<>();
    private Pin pin;
    private boolean read;

    Receipts(ReceiptFile file) {
        this.file = file;
    }

    /** Where they are kept, for people. */
    String where() {
        return file.path == null ? "memory" : file.path.toString();
    }

    /** Reads the file once. */
    void load() {
        if (!read) {
            read = true;
            file.read(this::remember);
        }
    }

    private void remember(Line line) {
        LogHead head = line.logHead();
        if (line instanceof PinLine known) {
            if (known.cut() != null) {
                forget(known.cut());
            }
            pin = new Pin(leaves(known.keys()), leaves(known.restores()), head);
        } else if (line instanceof ReceiptLine receipt) {
            heads.add(head);
            places.add(new Place(receipt.number(), receipt.match()));
        }
    }

    private static List<ByteString> leaves(List<String> texts) {
        return texts == null ? List.of() : texts.stream().map(ByteString::copyFromUtf8).toList();
    }

    private static List<String> texts(List<ByteString> leaves) {
        return leaves.stream().map(ByteString::toStringUtf8).toList();
    }

    /** What is known of the log; null where nothing is. */
    Pin pin() {
        return pin;
    }

    /** The longest head that is known, of at most so many leaves; null where there is none. */
    LogHead latest(long size) {
        Stream<LogHead> known = pin == null ? heads.stream() : Stream.concat(heads.stream(), Stream.of(pin.head));
        return known.filter(head -> Long.compareUnsigned(head.getSize(), size) <= 0)
                .max((one, other) -> Long.compareUnsigned(one.getSize(), other.getSize()))
                .orElse(null);
    }

    /** The matches of the receipts whose leaves lie beyond a cut. */
    List<Long> beyond(long cut) {
        return places.stream().filter(each -> Long.compareUnsigned(each.number, cut) > 0).map(Place::match).toList();
    }

    /** Keeps keys, restorations and head of a server; cut: the leaves that a restoration left of what was known, null for all. */
    void pinTo(LogState state, Long cut) {
        if (cut != null) {
            forget(cut);
        }
        pin = new Pin(state.getKeysList(), state.getRestoresList().stream().map(LogEntry::getLeaf).toList(), state.getHead());
        add(new PinLine(1, texts(pin.keys), texts(pin.restores), HeadLine.of(pin.head), cut));
    }

    /** Counts no more with what lies beyond a cut; the file keeps it. */
    private void forget(long cut) {
        heads.removeIf(head -> Long.compareUnsigned(head.getSize(), cut) > 0);
        places.removeIf(each -> Long.compareUnsigned(each.number, cut) > 0);
    }

    /** Checks what a report says of the log, and keeps it; seat: what is known from the match's beginning, null for nothing. */
    void take(MatchReport report, Seat seat) {
        LogEntry entry = report.getEntry();
        load();
        String problem = problemOf(report);
        if (!problem.isEmpty()) {
            News.error(
                    "match %s: the server's log of results does not bear out its report: %s",
                    Long.toUnsignedString(report.getMatchId()), problem);
        }
        if (!entry.hasHead()) {
            return;
        }
        heads.add(entry.getHead());
        places.add(new Place(entry.getNumber(), report.getMatchId()));
        add(new ReceiptLine(
                report.getMatchId(),
                Integer.toUnsignedLong(report.getSeat()),
                seat == null ? null : ReceiptFile.hex(seat.nonce()),
                seat == null ? null : ReceiptFile.hex(seat.salt()),
                seat == null ? null : ReceiptFile.hex(seat.commitment()),
                entry.getNumber(),
                entry.getLeaf().toStringUtf8(),
                HeadLine.of(entry.getHead()),
                entry.getProofList().stream().map(ReceiptFile::hex).toList()));
    }

    private void add(Line line) {
        for (List<?> kept : List.of(heads, places)) {
            kept.subList(0, Math.max(0, kept.size() - ReceiptFile.KEPT)).clear();
        }
        file.add(line);
    }

    /** What is wrong with the entry of a report, in words; empty where nothing is. */
    private static String problemOf(MatchReport report) {
        LogEntry entry = report.getEntry();
        if (!Merkle.included(entry)) {
            return "its proof does not lead from leaf to head";
        }
        JsonObject leaf;
        try {
            leaf = StrictJson.read(entry.getLeaf().toStringUtf8(), JsonObject.class);
        } catch (JsonParseException wrong) {
            return "its leaf cannot be read (" + wrong.getMessage() + ")";
        }
        Map<String, String> told = new LinkedHashMap<>();
        told.put("number", Long.toUnsignedString(entry.getNumber()));
        told.put("match", Long.toUnsignedString(report.getMatchId()));
        if (report.getInterrupted().isEmpty()) {
            told.put("places", report.getPlacesList().toString());
            told.put("points", report.getScoresList().toString());
        }
        for (Map.Entry<String, String> each : told.entrySet()) {
            JsonElement value = leaf.get(each.getKey());
            String says = value == null ? "null" : value.toString().replace(",", ", ");
            if (!says.equals(each.getValue())) {
                return "its leaf says " + says + " for \"" + each.getKey() + "\", the report " + each.getValue();
            }
        }
        return "";
    }
}
