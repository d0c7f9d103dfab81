package arena.client;

import arena.v1.LogHead;
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
import java.util.function.Consumer;

/**
 * The file of a bot's receipts: JSON lines beside its token, which are added to; docs/log.md of the Arena describes it, and
 * {@code arena replay verify --receipts} reads it. What cannot be read or written costs no match.
 */
final class ReceiptFile {
    /** The receipts that a file keeps, the newest; up to twice as many for a while. */
    static final int KEPT = 1000;

    private static final String PIN_BEGIN = "{\"arena_receipts\"";
    private static final HexFormat HEX = HexFormat.of();

    sealed interface Line permits PinLine, ReceiptLine {
        HeadLine head();

        default LogHead logHead() {
            if (head() == null) {
                throw new JsonParseException("a line has no head");
            }
            return head().read();
        }
    }

    record HeadLine(@JsonAdapter(StrictJson.Unsigned.class) long size, String root, String signature) {
        static HeadLine of(LogHead head) {
            return new HeadLine(head.getSize(), hex(head.getRoot()), hex(head.getSignature()));
        }

        LogHead read() {
            return LogHead.newBuilder().setSize(size).setRoot(bytes(root)).setSignature(bytes(signature)).build();
        }
    }

    /** What is known of a server's log; cut: the leaves that a restoration had left of it, null where there was none. */
    record PinLine(
            @SerializedName("arena_receipts") int format,
            List<String> keys,
            List<String> restores,
            HeadLine head,
            @JsonAdapter(StrictJson.Unsigned.class) Long cut)
            implements Line {}

    /** A receipt; nonce, salt and commitment are null where nothing is known of the match's beginning. */
    record ReceiptLine(
            @JsonAdapter(StrictJson.Unsigned.class) long match,
            long seat,
            String nonce,
            String salt,
            String commitment,
            @JsonAdapter(StrictJson.Unsigned.class) long number,
            String leaf,
            HeadLine head,
            List<String> proof)
            implements Line {}

    /** Where it is; null keeps nothing on the disk. */
    final Path path;

    private int lines;
    private boolean troubled;

    ReceiptFile(Path path) {
        this.path = path;
    }

    static String hex(ByteString content) {
        return HEX.formatHex(content.toByteArray());
    }

    private static ByteString bytes(String digits) {
        return digits == null ? ByteString.EMPTY : ByteString.copyFrom(HEX.parseHex(digits));
    }

    /** Reads it line by line; what cannot be read is left alone, with a warning. */
    void read(Consumer<Line> take) {
        if (path == null) {
            return;
        }
        try {
            if (PrivateFile.cutUnfinishedLine(path)) {
                News.warn("the last line of %s was not finished, and is left out", path);
            }
            for (String line : texts()) {
                lines++;
                Class<? extends Line> kind = line.startsWith(PIN_BEGIN) ? PinLine.class : ReceiptLine.class;
                take.accept(StrictJson.read(line, kind));
            }
        } catch (NoSuchFileException none) { // yet
        } catch (IOException | JsonParseException | IllegalArgumentException wrong) {
            warn(wrong);
        }
    }

    private List<String> texts() throws IOException {
        String text = new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
        return text.lines().filter(line -> !line.isEmpty()).toList();
    }

    void add(Line line) {
        if (path == null) {
            return;
        }
        try {
            if (lines >= 2 * KEPT) {
                shorten();
            }
            PrivateFile.append(path, (StrictJson.write(line) + "\n").getBytes(StandardCharsets.UTF_8));
            lines++;
        } catch (IOException wrong) {
            warn(wrong);
        }
    }

    /** Keeps the newest receipts, and the newest pin before them. */
    private void shorten() throws IOException {
        String pin = "";
        List<String> receipts = new ArrayList<>();
        for (String line : texts()) {
            if (line.startsWith(PIN_BEGIN)) {
                pin = line + "\n";
            } else {
                receipts.add(line + "\n");
            }
        }
        List<String> kept = receipts.subList(Math.max(0, receipts.size() - KEPT), receipts.size());
        PrivateFile.replace(path, (pin + String.join("", kept)).getBytes(StandardCharsets.UTF_8));
        lines = kept.size() + (pin.isEmpty() ? 0 : 1);
    }

    private void warn(Exception wrong) {
        if (!troubled) {
            troubled = true;
            News.warn("receipts cannot be kept in %s (%s); the bot plays on without", path, wrong);
        }
    }
}
