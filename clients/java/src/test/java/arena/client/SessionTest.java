package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.GameCatalog;
import arena.v1.Hello;
import arena.v1.Invitation;
import arena.v1.LogEntry;
import arena.v1.LogHead;
import arena.v1.LogState;
import arena.v1.MatchReport;
import arena.v1.MatchStart;
import arena.v1.PlayResponse;
import arena.v1.Welcome;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A session remembers the bot's random bytes and the commitment from a match's start until its receipt. */
class SessionTest {
    private static final ByteString SALT = ByteString.copyFrom(new byte[32]);
    private static final ByteString COMMITMENT = ByteString.copyFrom(new byte[32]).substring(1).concat(ByteString.copyFromUtf8("x"));

    @TempDir Path folder;
    private Heard heard;
    private Progress progress;
    private Session session;

    @BeforeEach
    void begin() {
        heard = new Heard();
        progress = new Progress(0);
        session = session();
    }

    @AfterEach
    void end() {
        heard.close();
    }

    private Path file() {
        return folder.resolve("bot.receipts");
    }

    private Session session() {
        Bot bot = new ScriptedBot(new JsonObject(), new VirtualClock(), () -> { });
        Profile profile = new Profile(bot, "", new Options().token("given"), Map.of());
        Welcome welcome = Welcome.newBuilder().addGames(GameCatalog.newBuilder().setName("sixth_sense")).build();
        return new Session(welcome, profile, progress, new Receipts(file()));
    }

    /** Accepts an invitation; returns the nonce that the bot sent. */
    private ByteString invited(long number) {
        Invitation invitation = Invitation.newBuilder().setInvitationId(number).build();
        return session.receive(PlayResponse.newBuilder().addInvitations(invitation).build()).getReady(0).getNonce();
    }

    private void starts(long invitation, long match, ByteString commitment) {
        MatchStart start = MatchStart.newBuilder()
                .setInvitationId(invitation).setMatchId(match).setSalt(SALT).setCommitment(commitment).build();
        session.receive(PlayResponse.newBuilder().addStarts(start).build());
    }

    /** Reports a match; returns the receipt, the newest line of the file. */
    private JsonObject reports(long match) throws IOException {
        LogEntry entry = LogEntry.newBuilder().setHead(LogHead.newBuilder().setSize(1)).build();
        MatchReport report = MatchReport.newBuilder().setMatchId(match).setSeat(2).setEntry(entry).build();
        session.receive(PlayResponse.newBuilder().addReports(report).build());
        List<String> lines = Files.readAllLines(file());
        return JsonParser.parseString(lines.get(lines.size() - 1)).getAsJsonObject();
    }

    private static String hex(ByteString content) {
        return HexFormat.of().formatHex(content.toByteArray());
    }

    @Test
    void aReceiptHasWhatTheMatchBeganWith() throws IOException {
        ByteString nonce = invited(1);
        starts(1, 7, COMMITMENT);
        assertEquals(List.of(), heard.take());
        JsonObject receipt = reports(7);
        assertEquals(
                List.of("7", "2", hex(nonce), hex(SALT), hex(COMMITMENT)),
                List.of("match", "seat", "nonce", "salt", "commitment").stream().map(each -> receipt.get(each).getAsString()).toList());
        assertTrue(progress.seats.isEmpty());
    }

    @Test
    void aMatchThatIsToldAgainKeepsItsNonce() throws IOException {
        ByteString nonce = invited(1);
        starts(1, 7, COMMITMENT);
        progress.reconnect();
        session = session();
        starts(1, 7, COMMITMENT);
        assertEquals(hex(nonce), reports(7).get("nonce").getAsString());
    }

    @Test
    void aMatchThatAnEarlierRunBeganHasNoNonce() throws IOException {
        starts(1, 7, COMMITMENT);
        assertEquals("", reports(7).get("nonce").getAsString());
        assertEquals(false, reports(8).has("nonce"), "nothing is known of its beginning");
    }

    @Test
    void aHelloNamesTheLeafOfTheLastReportUnlessItIsOfAnotherLog() {
        assertEquals(List.of(), reportsAfter());
        progress.shown(log(5));
        assertEquals(List.of(5L), reportsAfter());
        MatchReport report = MatchReport.newBuilder().setMatchId(1).setEntry(LogEntry.newBuilder().setNumber(7)).build();
        session.receive(PlayResponse.newBuilder().addReports(report).build());
        progress.shown(log(9));
        assertEquals(List.of(7L), reportsAfter());
        progress.shown(LogState.getDefaultInstance());
        assertEquals(List.of(7L), reportsAfter(), "the server shows no log");
        progress.shown(log(0));
        assertEquals(List.of(0L), reportsAfter(), "a log without leaves is another one");
    }

    private static LogState log(long size) {
        return LogState.newBuilder().setHead(LogHead.newBuilder().setSize(size)).build();
    }

    /** The report number in the session's next hello, if any. */
    private List<Long> reportsAfter() {
        Profile profile = new Profile(
                new ScriptedBot(new JsonObject(), new VirtualClock(), () -> { }), "", new Options().token("given"), Map.of());
        Hello hello = progress.hello(profile).getHello();
        return hello.hasReportsAfter() ? List.of(hello.getReportsAfter()) : List.of();
    }

    @Test
    void eachInvitationHasAChanceOfItsOwn() {
        assertNotEquals(invited(1), invited(2));
    }

    @Test
    void aReportWithoutAnEntryHasNoReceipt() {
        session.receive(PlayResponse.newBuilder().addReports(MatchReport.newBuilder().setMatchId(7)).build());
        assertEquals(false, Files.exists(file()));
        assertEquals(List.of(), heard.take());
    }
}
