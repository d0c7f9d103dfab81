package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.LogEntry;
import arena.v1.LogHead;
import arena.v1.LogState;
import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which leaves excuse a log that was cut: a server with a key of its own shows four entries first, then two. */
class RestorationTest {
    private static final String RESTORE = "{\"log\":1,\"number\":2,\"kind\":\"restore\",\"at\":1790000000000000,\"size\":1,\"root\":\"\"}";
    private static final String ALARM = "it does not begin with the 4 entries that this bot has seen";

    private KeyPair pair;
    private ByteString key;
    private Heard heard;
    private LogChecker checker;

    @BeforeEach
    void seeFour() throws GeneralSecurityException {
        pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] encoded = pair.getPublic().getEncoded();
        String digits = HexFormat.of().formatHex(encoded, encoded.length - 32, encoded.length);
        key = ByteString.copyFromUtf8("{\"log\":1,\"number\":1,\"kind\":\"key\",\"at\":1,\"key\":\"" + digits + "\",\"signature\":\"\"}");
        heard = new Heard();
        checker = new LogChecker(null, Runnable::run);
        checker.welcomed(LogState.newBuilder().addKeys(key).setHead(head(4, ByteString.copyFromUtf8("as it was"))).build(), this::refuse);
    }

    @AfterEach
    void end() {
        heard.close();
    }

    private Optional<List<ByteString>> refuse(long first, long second) {
        return Optional.empty();
    }

    private LogHead head(int size, ByteString root) throws GeneralSecurityException {
        byte[] encoded = pair.getPublic().getEncoded();
        String log = HexFormat.of().formatHex(Digests.sha256(ByteString.copyFrom(encoded, encoded.length - 32, 32)).toByteArray());
        String text = "arena-log/" + log + "\n" + size + "\n" + Base64.getEncoder().encodeToString(root.toByteArray()) + "\n";
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(pair.getPrivate());
        signature.update(text.getBytes(StandardCharsets.UTF_8));
        return LogHead.newBuilder().setSize(size).setRoot(root).setSignature(ByteString.copyFrom(signature.sign())).build();
    }

    /** Shows the log of the key and a leaf, which it calls a restoration; returns what the bot says. */
    private String shown(String text) throws GeneralSecurityException {
        return shown(entry(text));
    }

    private LogEntry entry(String text) throws GeneralSecurityException {
        ByteString leaf = ByteString.copyFromUtf8(text);
        ByteString before = Digests.sha256(ByteString.copyFrom(new byte[] {0}), key);
        ByteString own = Digests.sha256(ByteString.copyFrom(new byte[] {0}), leaf);
        LogHead head = head(2, Digests.sha256(ByteString.copyFrom(new byte[] {1}), before, own));
        return LogEntry.newBuilder().setNumber(2).setLeaf(leaf).setHead(head).addProof(before).build();
    }

    private String shown(LogEntry entry) {
        checker.welcomed(LogState.newBuilder().addKeys(key).setHead(entry.getHead()).addRestores(entry).build(), this::refuse);
        List<String> said = heard.take();
        assertEquals(1, said.size(), said::toString);
        return said.get(0);
    }

    @Test
    void aRestorationExcusesWhatItCut() throws GeneralSecurityException {
        String said = shown(RESTORE);
        assertTrue(
                said.startsWith("warn: the server was restored from a backup on 2026-09-21 14:13 UTC, and its log goes on from entry 1: "
                        + "0 of this bot's receipts are of results after that, which"),
                said);
    }

    @Test
    void aLeafThatIsElsewhereThanItSaysExcusesNothing() throws GeneralSecurityException {
        assertTrue(shown(RESTORE.replace("\"size\":1", "\"size\":0")).contains(ALARM));
    }

    @Test
    void aLeafThatIsNotInTheLogExcusesNothing() throws GeneralSecurityException {
        assertTrue(shown(entry(RESTORE).toBuilder().setProof(0, key).build()).contains(ALARM));
    }

    @Test
    void aLeafUnderAnotherHeadExcusesNothing() throws GeneralSecurityException {
        LogEntry entry = entry(RESTORE);
        LogHead other = head(2, ByteString.copyFromUtf8("another"));
        checker.welcomed(LogState.newBuilder().addKeys(key).setHead(other).addRestores(entry).build(), this::refuse);
        assertTrue(heard.take().get(0).contains(ALARM));
    }

    @Test
    void anotherLeafExcusesNothing() throws GeneralSecurityException {
        assertTrue(shown(RESTORE.replace("restore", "rated")).contains(ALARM));
    }

    @Test
    void aLeafThatCannotBeReadExcusesNothing() throws GeneralSecurityException {
        assertTrue(shown("{\"kind\":\"restore\",\"size\":1.5}").contains(ALARM));
    }
}
