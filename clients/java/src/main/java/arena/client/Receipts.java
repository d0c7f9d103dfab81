package arena.client;

import arena.v1.LogEntry;
import arena.v1.LogHead;
import arena.v1.LogState;
import arena.v1.MatchReport;
import com.google.gson.JsonParseException;
import com.google.gson.annotations.JsonAdapter;
import com.google.gson.annotations.SerializedName;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The receipts file beside a bot's token: JSON lines with the server's statements about its log of
 * results, as described in the Arena's docs/log.md. Nothing is verified here: {@code arena replay
 * verify --receipts} does that. A file error ends no match.
 */
final class Receipts {
    /** Number of receipts that remain when the file is shortened, which happens at twice as many lines. */
    static final int KEPT = 1000;

    private static final String PIN_BEGIN = "{\"arena_receipts\"";

    private record HeadLine(@JsonAdapter(StrictJson.Unsigned.class) long size, String root, String signature) {
        static HeadLine of(LogHead head) {
            return new HeadLine(head.getSize(), hex(head.getRoot()), hex(head.getSignature()));
        }
    }

    private record PinLine(@SerializedName("arena_receipts") int format, List<String> keys, List<String> restores, HeadLine head) {}

    /** A receipt; nonce, salt and commitment are null if the match's start is unknown. */
    private record ReceiptLine(
            @JsonAdapter(StrictJson.Unsigned.class) long match,
            long seat,
            String nonce,
            String salt,
            String commitment,
            @JsonAdapter(StrictJson.Unsigned.class) long number,
            String leaf,
            HeadLine head,
            List<String> proof) {}

    /** The fields of a line that are still needed after writing; keys are null in a receipt. */
    private record Known(List<String> keys, HeadLine head) {}

    private final Path path;
    /** The newest line with the log's keys, and the keys in it. */
    private String pin = "";
    private List<String> keys = List.of();
    /** The largest number of entries under any head in the file, unsigned. */
    private long longest;
    private int lines;
    private boolean read;
    private boolean troubled;

    Receipts(Path path) {
        this.path = path;
    }

    /**
     * Records the log that a welcome shows, if any. The file does not change if the log is shorter than the largest
     * head in the file, or if the log's keys do not begin with the keys in the file. Then it may be a different log,
     * whose keys would invalidate all receipts in the file.
     */
    void recordLog(LogState state) {
        readOnce();
        if (!state.hasHead()) {
            return;
        }
        List<String> shown = state.getKeysList().stream().map(ByteString::toStringUtf8).toList();
        List<String> restores = state.getRestoresList().stream().map(entry -> entry.getLeaf().toStringUtf8()).toList();
        String line = StrictJson.write(new PinLine(1, shown, restores, HeadLine.of(state.getHead())));
        boolean continues = shown.size() >= keys.size() && shown.subList(0, keys.size()).equals(keys)
                && Long.compareUnsigned(state.getHead().getSize(), longest) >= 0;
        if (continues && !line.equals(pin)) {
            add(line);
        }
    }

    /** Records a report's entry of the log; begun: facts known from the match's start, null for none. */
    void recordMatch(MatchReport report, Seat begun) {
        readOnce();
        LogEntry entry = report.getEntry();
        if (!entry.hasHead()) {
            return;
        }
        add(StrictJson.write(new ReceiptLine(
                report.getMatchId(),
                Integer.toUnsignedLong(report.getSeat()),
                begun == null ? null : hex(begun.nonce()),
                begun == null ? null : hex(begun.salt()),
                begun == null ? null : hex(begun.commitment()),
                entry.getNumber(),
                entry.getLeaf().toStringUtf8(),
                HeadLine.of(entry.getHead()),
                entry.getProofList().stream().map(Receipts::hex).toList())));
    }

    private static String hex(ByteString content) {
        return HexFormat.of().formatHex(content.toByteArray());
    }

    /** Reads the file at the first call, and removes an unfinished last line, which would corrupt the next line. */
    private void readOnce() {
        if (read) {
            return;
        }
        read = true;
        try {
            if (PrivateFile.cutUnfinishedLine(path)) {
                News.warn("the last line of %s was not finished, and is left out", path);
            }
            for (String line : texts()) {
                lines++;
                note(line);
            }
        } catch (NoSuchFileException none) { // yet
        } catch (IOException | JsonParseException wrong) {
            warn(wrong);
        }
    }

    private List<String> texts() throws IOException {
        String text = new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
        return text.lines().filter(line -> !line.isEmpty()).toList();
    }

    private void note(String line) {
        Known known = StrictJson.read(line, Known.class);
        if (known.head == null) {
            throw new JsonParseException("a line has no head");
        }
        if (Long.compareUnsigned(known.head.size, longest) > 0) {
            longest = known.head.size;
        }
        if (known.keys != null) {
            keys = known.keys;
            pin = line;
        }
    }

    /** Appends a line, completely or not at all. */
    void add(String line) {
        note(line);
        try {
            if (lines >= 2 * KEPT) {
                prune();
            }
            PrivateFile.append(path, (line + "\n").getBytes(StandardCharsets.UTF_8));
            lines++;
        } catch (IOException wrong) {
            warn(wrong);
        }
    }

    /** Leaves only the newest receipts in the file, after the newest line with keys. */
    private void prune() throws IOException {
        String newestPin = "";
        List<String> receipts = new ArrayList<>();
        for (String line : texts()) {
            if (line.startsWith(PIN_BEGIN)) {
                newestPin = line + "\n";
            } else {
                receipts.add(line + "\n");
            }
        }
        List<String> kept = receipts.subList(Math.max(0, receipts.size() - KEPT), receipts.size());
        PrivateFile.replace(path, (newestPin + String.join("", kept)).getBytes(StandardCharsets.UTF_8));
        lines = kept.size() + (newestPin.isEmpty() ? 0 : 1);
    }

    private void warn(Exception wrong) {
        if (!troubled) {
            troubled = true;
            News.warn("receipts cannot be kept in %s (%s); the bot plays on without", path, wrong);
        }
    }
}
