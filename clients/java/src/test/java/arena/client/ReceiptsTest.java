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
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** What is kept and said of a log of results: the stories that all clients share, and what becomes of the file. */
class ReceiptsTest {
    private static final JsonArray STORIES = Corpus.read("vectors/receipts.json").getAsJsonArray();
    private static final Seat SEAT = new Seat(zeros(16), zeros(32), zeros(32));
    private static final LogChecker.Consistency NOBODY = (first, second) -> {
        throw new Dropped("nobody is there", 0);
    };

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

    private static LogChecker checker(Path file) {
        return new LogChecker(file, Runnable::run);
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

    private static LogChecker.Consistency server(JsonObject step) {
        return (first, second) -> {
            JsonElement proof = step.getAsJsonObject("proofs").get(first + " " + second);
            if (proof == null) {
                throw new AssertionError("nobody else asks for " + first + " " + second);
            }
            return proof.isJsonNull()
                    ? Optional.empty()
                    : Optional.of(texts(proof).stream().map(each -> ByteString.copyFrom(Base64.getDecoder().decode(each))).toList());
        };
    }

    private static MatchReport reported(JsonObject step) {
        return Corpus.message(step.get("reports"), MatchReport.newBuilder());
    }

    @TestFactory
    Stream<DynamicTest> stories() {
        assertTrue(STORIES.size() >= 14, "there are few stories");
        return STORIES.asList().stream().map(JsonElement::getAsJsonObject).map(each ->
                DynamicTest.dynamicTest(each.get("title").getAsString(), () -> play(each)));
    }

    private void play(JsonObject story) throws IOException {
        Path file = folder.resolve(story.get("title").getAsString() + ".receipts");
        LogChecker checker = null;
        for (JsonElement each : story.getAsJsonArray("steps")) {
            JsonObject step = each.getAsJsonObject();
            if (step.has("starts")) {
                checker = checker(file);
            } else if (step.has("tears")) {
                try (FileChannel text = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    text.truncate(text.size() - step.get("tears").getAsLong());
                }
            } else if (step.has("reports")) {
                checker.take(reported(step), SEAT);
            } else {
                checker.welcomed(shown(step), server(step));
            }
            List<String> said = heard.take().stream().map(line -> line.replace(file.toString(), "FILE")).toList();
            assertEquals(texts(step.get("says")), said, step::toString);
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
        LogChecker checker = checker(file);
        JsonObject welcome = story("A log that grows, under a key that names the next").get(1);
        checker.welcomed(shown(welcome), NOBODY);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)), "as it is begun");
        int last = 2 * ReceiptFile.KEPT + 1;
        for (int match = 1; match <= last; match++) {
            checker.take(interrupted(match), null);
        }
        List<String> lines = linesOf(file);
        assertTrue(lines.size() > ReceiptFile.KEPT && lines.size() <= 2 * ReceiptFile.KEPT, () -> lines.size() + " lines");
        assertTrue(lines.get(0).startsWith("{\"arena_receipts\":1,"), lines.get(0));
        assertTrue(lines.get(1).contains("\"leaf\":\"<&'>\""), "a leaf is kept as it is");
        assertFalse(lines.get(1).contains("nonce"), "of a match whose beginning nobody saw");
        assertTrue(lines.get(lines.size() - 1).startsWith("{\"match\":" + last + ","));
        heard.take();
        LogState later = shown(story("A log that grows, under a key that names the next").get(5));
        checker(file).welcomed(later.toBuilder().clearHead().build(), NOBODY);
        assertEquals(1, heard.take().size(), "the pin is known");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)), "as it is shortened");
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        try (Stream<Path> files = Files.list(file.getParent())) {
            assertEquals(List.of(file), files.toList(), "nothing lies beside it");
        }
    }

    @Test
    void numbersHaveNoSign() throws IOException {
        Path file = folder.resolve("bot.receipts");
        checker(file).take(interrupted(-1), null);
        assertTrue(linesOf(file).get(0).startsWith("{\"match\":18446744073709551615,"));
        heard.take();
        Receipts again = new Receipts(new ReceiptFile(file));
        again.load();
        assertEquals(-1, again.latest(-1).getSize());
        assertEquals(List.of(), heard.take());
    }

    @Test
    void aTornFileIsSaidOnceAndCostsNoMatch() throws IOException {
        List<JsonObject> steps = story("A log that grows, under a key that names the next");
        for (String torn : List.of("{\"match\":3,\"seat\":1,\"non", "{\"arena_receipts\":1,\"keys\":[]}", "null", "[1]", "7", "{\"match\":-3}", "\0")) {
            Path file = folder.resolve("torn" + torn.hashCode());
            checker(file).welcomed(shown(steps.get(1)), NOBODY);
            Files.writeString(file, Files.readString(file) + torn + "\n");
            LogChecker checker = checker(file);
            checker.welcomed(shown(steps.get(1)), NOBODY);
            checker.take(reported(steps.get(2)), SEAT);
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
        LogChecker checker = checker(file);
        List<JsonObject> steps = story("A log that grows, under a key that names the next");
        checker.welcomed(shown(steps.get(1)), NOBODY);
        steps.subList(2, 5).forEach(step -> checker.take(reported(step), SEAT));
        checker.welcomed(shown(steps.get(5)), server(steps.get(5)));
        List<String> said = heard.take();
        assertEquals(1, said.size(), said::toString);
        assertTrue(said.get(0).startsWith("warn: receipts cannot be kept in " + file + " ("), said::toString);
    }

    @Test
    void aFullDiskIsSaidOnce() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "this system has no full disk at hand");
        ReceiptFile file = new ReceiptFile(Files.createSymbolicLink(folder.resolve("bot.receipts"), full));
        ReceiptFile.HeadLine head = ReceiptFile.HeadLine.of(LogHead.getDefaultInstance());
        for (int time = 0; time < 2; time++) {
            file.add(new ReceiptFile.PinLine(1, List.of(), List.of(), head, null));
        }
        List<String> said = heard.take();
        assertEquals(1, said.size(), said::toString);
        assertTrue(said.get(0).contains("No space left on device"), said::toString);
    }

    @Test
    void withoutAFileItIsComparedAllTheSame() throws IOException {
        List<JsonObject> steps = story("Entries are gone");
        LogChecker checker = checker(null);
        checker.welcomed(shown(steps.get(1)), NOBODY);
        steps.subList(2, 4).forEach(step -> checker.take(reported(step), SEAT));
        checker.welcomed(shown(steps.get(5)), server(steps.get(5)));
        List<String> said = heard.take();
        assertEquals(1, said.size(), said::toString);
        assertTrue(said.get(0).endsWith("What this bot was told is kept in memory; it plays on"), said::toString);
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(0, files.count());
        }
    }

    @Test
    void whereNobodyAnswersItIsSaidQuietlyAndAskedAgain() {
        List<JsonObject> steps = story("A log that grows, under a key that names the next");
        LogChecker checker = checker(folder.resolve("bot.receipts"));
        checker.welcomed(shown(steps.get(1)), NOBODY);
        JsonObject later = steps.get(steps.size() - 1);
        checker.welcomed(shown(later), NOBODY);
        assertEquals(List.of("info: the server's log of results was not checked: nobody is there"), heard.take());
        List<Long> asked = new ArrayList<>();
        checker.welcomed(shown(later), (first, second) -> {
            asked.add(first);
            return Optional.empty();
        });
        assertEquals(List.of(1L), asked);
        assertTrue(heard.take().get(0).contains("it does not begin with the 1 entries that this bot has seen"));
    }

    @Test
    void reportsAreTakenWhileTheServerIsAsked() throws Exception {
        List<JsonObject> steps = story("A log that grows, under a key that names the next");
        Path file = folder.resolve("bot.receipts");
        LogChecker checker = checker(file);
        checker.welcomed(shown(steps.get(1)), NOBODY);
        checker.welcomed(shown(steps.get(steps.size() - 1)), (first, second) -> {
            Thread other = new Thread(() -> checker.take(reported(steps.get(2)), SEAT));
            other.start();
            try {
                other.join(10_000);
            } catch (InterruptedException never) {
                throw new AssertionError(never);
            }
            assertFalse(other.isAlive(), "it waits for the server");
            return Optional.empty();
        });
        assertEquals(2, linesOf(file).size());
    }

    @Test
    void aLeafThatIsNoObjectIsSaid() {
        ByteString leaf = ByteString.copyFromUtf8("{'number': 1}");
        ByteString root = Digests.sha256(zeros(1), leaf);
        LogHead head = LogHead.newBuilder().setSize(1).setRoot(root).build();
        MatchReport report = MatchReport.newBuilder()
                .setMatchId(5)
                .setEntry(LogEntry.newBuilder().setNumber(1).setLeaf(leaf).setHead(head))
                .build();
        checker(null).take(report, null);
        String said = heard.take().get(0);
        assertTrue(said.startsWith("error: match 5: the server's log of results does not bear out its report: its leaf cannot be read ("), said);
    }
}
