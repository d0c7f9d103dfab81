package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import arena.v1.LogEntry;
import arena.v1.LogHead;
import arena.v1.LogState;
import arena.v1.MatchReport;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The file of receipts: the test stories that all clients share, pruning, and files that cannot be used. */
class ReceiptsTest {
    private static final JsonArray STORIES = Corpus.read("vectors/receipts.json").getAsJsonArray();
    private static final Seat SEAT = new Seat(zeros(16), zeros(32), zeros(32));

    @TempDir Path folder;
    private Heard heard;

    @BeforeEach
    void hear() {
        heard = new Heard();
    }

    @AfterEach
    void hearNoMore() {
        heard.close();
    }

    private static ByteString zeros(int size) {
        return ByteString.copyFrom(new byte[size]);
    }

    private static List<String> linesOf(Path file) throws IOException {
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    private static List<String> texts(JsonElement list) {
        return list.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
    }

    /** The steps of the story with a title. */
    private static List<JsonObject> story(String title) {
        return STORIES.asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(each -> each.get("title").getAsString().equals(title))
                .flatMap(each -> each.getAsJsonArray("steps").asList().stream())
                .map(JsonElement::getAsJsonObject)
                .toList();
    }

    /** The logs that a story shows, one after the other. */
    static List<LogState> shownIn(String title) {
        return story(title).stream().filter(step -> step.has("shows")).map(ReceiptsTest::shown).toList();
    }

    private static LogState shown(JsonObject step) {
        JsonElement state = step.get("shows");
        return state.isJsonNull() ? LogState.getDefaultInstance() : Corpus.message(state, LogState.newBuilder());
    }

    private static MatchReport reported(JsonObject step) {
        return Corpus.message(step.get("reports"), MatchReport.newBuilder());
    }

    @TestFactory
    Stream<DynamicTest> stories() {
        List<JsonObject> stories = STORIES.asList().stream()
                .map(JsonElement::getAsJsonObject).filter(each -> each.get("without_checks").getAsBoolean()).toList();
        assertTrue(stories.size() > 10, "there are few stories");
        return stories.stream().map(each -> DynamicTest.dynamicTest(each.get("title").getAsString(), () -> play(each)));
    }

    private void play(JsonObject story) throws IOException {
        Path file = folder.resolve(story.get("title").getAsString() + ".receipts");
        Receipts receipts = null;
        for (JsonElement each : story.getAsJsonArray("steps")) {
            JsonObject step = each.getAsJsonObject();
            if (step.has("starts")) {
                receipts = new Receipts(file);
            } else if (step.has("tears")) {
                try (FileChannel text = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    text.truncate(text.size() - step.get("tears").getAsLong());
                }
            } else if (step.has("reports")) {
                receipts.recordMatch(reported(step), SEAT);
            } else {
                receipts.recordLog(shown(step));
            }
            List<String> said = heard.take().stream().map(line -> line.replace(file.toString(), "FILE")).toList();
            // The errors in a story come from checks, which this client does not make.
            List<String> warnings = texts(step.get("says")).stream().filter(text -> text.startsWith("warn: ")).toList();
            assertEquals(warnings, said, step::toString);
        }
        assertEquals(texts(story.get("kept")), linesOf(file));
    }

    private static MatchReport interrupted(long match) {
        LogHead head = LogHead.newBuilder().setSize(match).build();
        LogEntry entry = LogEntry.newBuilder().setLeaf(ByteString.copyFromUtf8("<&'>")).setHead(head).build();
        return MatchReport.newBuilder().setMatchId(match).setInterrupted("x").setEntry(entry).build();
    }

    @Test
    void theNewestAreKept() throws IOException {
        Path file = folder.resolve("new").resolve("bot.receipts");
        Receipts receipts = new Receipts(file);
        JsonObject welcome = story("A log that grows, under a key that names the next").get(1);
        receipts.recordLog(shown(welcome));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)), "as it is begun");
        int last = 2 * Receipts.KEPT + 1;
        for (int match = 1; match <= last; match++) {
            receipts.recordMatch(interrupted(match), null);
        }
        List<String> lines = linesOf(file);
        assertTrue(lines.size() > Receipts.KEPT && lines.size() <= 2 * Receipts.KEPT, () -> lines.size() + " lines");
        assertTrue(lines.get(0).startsWith("{\"arena_receipts\":1,"), lines.get(0));
        assertTrue(lines.get(1).contains("\"leaf\":\"<&'>\""), "a leaf is kept as it is");
        assertFalse(lines.get(1).contains("nonce"), "of a match whose beginning nobody saw");
        assertTrue(lines.get(lines.size() - 1).startsWith("{\"match\":" + last + ","));
        new Receipts(file).recordLog(shown(welcome));
        assertEquals(lines, linesOf(file), "a log with fewer entries is left out");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)), "as it is shortened");
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        try (Stream<Path> files = Files.list(file.getParent())) {
            assertEquals(List.of(file), files.toList(), "nothing lies beside it");
        }
    }

    @Test
    void numbersHaveNoSign() throws IOException {
        Path file = folder.resolve("bot.receipts");
        new Receipts(file).recordMatch(interrupted(-1), null);
        assertTrue(linesOf(file).get(0).startsWith("{\"match\":18446744073709551615,"));
        JsonObject welcome = story("A log that grows, under a key that names the next").get(1);
        new Receipts(file).recordLog(shown(welcome));
        assertEquals(1, linesOf(file).size(), "the log in the file is longer");
        assertEquals(List.of(), heard.take());
    }

    @Test
    void aTornFileIsSaidOnceAndCostsNoMatch() throws IOException {
        List<JsonObject> steps = story("A log that grows, under a key that names the next");
        for (String torn : List.of("{\"match\":3,\"seat\":1,\"non", "{\"arena_receipts\":1,\"keys\":[]}", "null", "[1]", "7", "{\"match\":-3}", "\0")) {
            Path file = folder.resolve("torn" + torn.hashCode());
            new Receipts(file).recordLog(shown(steps.get(1)));
            Files.writeString(file, Files.readString(file) + torn + "\n");
            Receipts receipts = new Receipts(file);
            receipts.recordLog(shown(steps.get(1)));
            receipts.recordMatch(reported(steps.get(2)), SEAT);
            List<String> said = heard.take();
            assertEquals(1, said.size(), said::toString);
            assertTrue(said.get(0).startsWith("warn: receipts cannot be kept in " + file + " ("), said::toString);
            assertTrue(said.get(0).endsWith("); the bot plays on without"), said::toString);
            List<String> lines = linesOf(file);
            assertEquals(torn, lines.get(1), "what cannot be read is left alone");
            assertTrue(lines.get(2).startsWith("{\"match\":1,"), "and what comes is kept");
        }
    }

    @Test
    void aFileThatCannotBeUsedCostsNoMatch() throws IOException {
        Path file = Files.createDirectory(folder.resolve("bot.receipts"));
        Receipts receipts = new Receipts(file);
        List<JsonObject> steps = story("A log that grows, under a key that names the next");
        receipts.recordLog(shown(steps.get(1)));
        steps.subList(2, 5).forEach(step -> receipts.recordMatch(reported(step), SEAT));
        receipts.recordLog(shown(steps.get(5)));
        List<String> said = heard.take();
        assertEquals(1, said.size(), said::toString);
        assertTrue(said.get(0).startsWith("warn: receipts cannot be kept in " + file + " ("), said::toString);
    }

    @Test
    void aFullDiskIsSaidOnce() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "this system has no full disk at hand");
        Receipts receipts = new Receipts(Files.createSymbolicLink(folder.resolve("bot.receipts"), full));
        for (int match = 1; match <= 2; match++) {
            receipts.add("{\"match\":" + match + ",\"head\":{\"size\":1}}");
        }
        List<String> said = heard.take();
        assertEquals(1, said.size(), said::toString);
        assertTrue(said.get(0).contains("No space left on device"), said::toString);
    }
}
