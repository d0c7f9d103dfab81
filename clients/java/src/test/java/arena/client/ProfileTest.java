package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The profile of a bot with its options and environment, and the values that are refused. */
class ProfileTest {
    @TempDir Path folder;

    /** A bot with a profile chosen by the test. */
    private static class Plain extends Bot {
        private final int capacity;
        private final String version;
        private final List<Path> files;

        Plain(int capacity, String version, Path... files) {
            super("My Bot");
            this.capacity = capacity;
            this.version = version;
            this.files = List.of(files);
        }

        @Override
        public int capacity() {
            return capacity;
        }

        @Override
        public String version() {
            return version;
        }

        @Override
        public List<Path> files() {
            return files;
        }
    }

    private static Profile profile(Bot bot, String address, Options options, Map<String, String> environment) {
        return new Profile(bot, address, options, environment);
    }

    private static Profile profile(Options options, Map<String, String> environment) {
        return profile(new Plain(8, "1"), "", options, environment);
    }

    private static void refused(String text, Executable something) {
        ArenaException wrong = assertThrows(ArenaException.class, something, text);
        assertEquals(ArenaException.Kind.BAD_ARGUMENT, wrong.kind());
        assertEquals(2, wrong.status());
        assertTrue(wrong.getMessage().contains(text), wrong::getMessage);
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        Bot plain = new Plain(8, "1");
        Options none = new Options();
        Map<String, String> nothing = Map.of();
        refused("the address 'arena' is not of the form HOST:PORT; ", () -> profile(plain, "arena", none, nothing));
        refused("another: arena:50051", () -> profile(plain, "arena", none, nothing));
        refused("another: HOST:50051", () -> profile(plain, "http://arena:80", none, nothing));
        refused("the address 'arena:70000' is not", () -> profile(plain, "arena:70000", none, nothing));
        refused("the address 'arena:0' is not", () -> profile(plain, "arena:0", none, nothing));
        refused("the address 'nowhere' is not", () -> profile(plain, "", none, Map.of("ARENA_SERVER", "nowhere")));
        refused("matches is -1: it takes 1 or more", () -> new Options().matches(-1));
        refused("the capacity is 0: it takes 1 or more", () -> new Options().capacity(0));
        refused("the bot's capacity is -2: it takes 1 or more", () -> profile(new Plain(-2, "1"), "", none, nothing));
        refused("giveUpAfter is PT-1S: it takes no negative time", () -> new Options().giveUpAfter(Duration.ofSeconds(-1)));
        refused("the token is not one line of printable characters", () -> profile(new Options().token("two\nlines"), nothing));
        refused("the token is not one line of printable characters", () -> profile(none, Map.of("ARENA_TOKEN", "two\nlines")));
        refused("at most 40 printable characters", () -> profile(new Plain(8, "x".repeat(41)), "", none, nothing));
        refused("at most 40 printable characters", () -> profile(new Plain(8, "a\tb"), "", none, nothing));
        refused(
                "the file /nowhere cannot be used: there is no such file",
                () -> profile(new Plain(8, "", Path.of("/nowhere")), "", none, nothing));
        refused("the file /nowhere cannot be used", () -> new Network(profile(new Options().tlsRoots(Path.of("/nowhere")), nothing), "localhost:1"));
    }

    @Test
    void theVersionIsADigestOfProgramAndFiles() throws IOException {
        Path file = folder.resolve("weights");
        Bot bot = new Plain(8, "", file);
        Files.writeString(file, "one");
        String one = profile(bot, "", new Options(), Map.of()).version;
        Files.writeString(file, "two");
        String two = profile(bot, "", new Options(), Map.of()).version;
        Files.writeString(file, "one");
        assertTrue(one.matches("[0-9a-f]{12}"), one);
        assertNotEquals(one, two);
        assertEquals(one, profile(bot, "", new Options(), Map.of()).version);
        assertEquals("mine", profile(bot, "", new Options().version("mine"), Map.of()).version);
    }

    @Test
    void receiptsLieBesideTheTokenFile() {
        Path here = Path.of("here");
        Path home = Path.of(System.getProperty("user.home"), ".arena", "tokens", "localhost_50051-my_bot.token.receipts");
        assertEquals(home, profile(new Options(), Map.of()).receipts);
        assertEquals(Path.of("here.receipts"), profile(new Options().tokenFile(here), Map.of()).receipts);
        assertEquals(Path.of("there.receipts"), profile(new Options(), Map.of("ARENA_TOKEN_FILE", "there")).receipts);
        assertEquals(Path.of("here.receipts"), profile(new Options().tokenFile(here).token("t"), Map.of()).receipts);
        assertNull(profile(new Options().token("t"), Map.of("ARENA_TOKEN_FILE", "there")).receipts, "it needs no file");
        Profile startedFor = profile(new Options().tokenFile(here), Map.of("ARENA_TOKEN", "t"));
        assertNull(startedFor.receipts, "it is another bot's token");
        Profile without = profile(new Options().tokenFile(here).noReceipts(), Map.of());
        assertNull(without.receipts);
    }

    @Test
    void whoeverStartedItKnowsTheServer() {
        Profile started = profile(
                new Plain(8, "1"), "mine:1", new Options().token("mine").tls(), Map.of("ARENA_TOKEN", "theirs", "ARENA_SERVER", "theirs:2"));
        assertEquals(List.of("theirs:2", "theirs", false), List.of(started.address, started.token, started.tls));
        assertEquals("mine:1", profile(new Plain(8, "1"), "mine:1", new Options(), Map.of("ARENA_SERVER", "theirs:2")).address);
    }
}
