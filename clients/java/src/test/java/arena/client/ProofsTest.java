package arena.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.LogEntry;
import arena.v1.LogHead;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which proofs and signatures are taken: the vectors of the server's log, as they are and with a bit turned. */
class ProofsTest {
    private static final JsonObject LOG = Corpus.read("../../arena/log/vectors.json").getAsJsonObject();
    private static final List<ByteString> LEAVES =
            objects("leaves").stream().map(each -> ByteString.copyFromUtf8(each.get("leaf").getAsString())).toList();
    private static final TreeMap<Integer, LogHead> HEADS = new TreeMap<>();

    static {
        for (JsonObject each : objects("heads")) {
            int size = each.get("size").getAsInt();
            HEADS.put(size, LogHead.newBuilder().setSize(size).setRoot(hex(each.get("root"))).setSignature(hex(each.get("signature"))).build());
        }
    }

    private static List<JsonObject> objects(String name) {
        return LOG.getAsJsonArray(name).asList().stream().map(JsonElement::getAsJsonObject).toList();
    }

    private static ByteString hex(JsonElement digits) {
        return ByteString.copyFrom(HexFormat.of().parseHex(digits.getAsString()));
    }

    private static List<ByteString> proof(JsonObject given) {
        return given.getAsJsonArray("proof").asList().stream().map(ProofsTest::hex).toList();
    }

    private static ByteString changed(ByteString content) {
        byte[] other = content.toByteArray();
        other[0] ^= 1;
        return ByteString.copyFrom(other);
    }

    private static LogHead rooted(LogHead head, ByteString root) {
        return head.toBuilder().setRoot(root).build();
    }

    private static List<ByteString> keysWithin(int size) {
        return LEAVES.subList(0, size).stream().filter(leaf -> leaf.toStringUtf8().contains("\"kind\":\"key\"")).toList();
    }

    @Test
    void headsAreSignedByTheNewestKey() {
        HEADS.forEach((size, head) -> {
            LogKeys keys = new LogKeys(keysWithin(size));
            assertTrue(keys.signed(head), () -> "the head of " + size);
            assertFalse(keys.signed(rooted(head, changed(head.getRoot()))), () -> "another root of " + size);
            assertFalse(keys.signed(head.toBuilder().setSize(size + 1).build()), () -> "another size than " + size);
            assertFalse(keys.signed(head.toBuilder().setSignature(changed(head.getSignature())).build()), () -> "a forged head of " + size);
            assertFalse(keys.signed(head.toBuilder().clearSignature().build()), () -> "no signature of " + size);
        });
        assertTrue(HEADS.keySet().stream().anyMatch(size -> keysWithin(size).size() == 2), "no key names another");
    }

    @Test
    void aSignatureHasOneForm() {
        BigInteger order = BigInteger.ONE.shiftLeft(252).add(new BigInteger("27742317777372353535851937790883648493"));
        LogHead head = HEADS.firstEntry().getValue();
        byte[] signature = head.getSignature().toByteArray();
        byte[] factor = new byte[32];
        for (int at = 0; at < 32; at++) {
            factor[at] = signature[63 - at];
        }
        byte[] more = new BigInteger(1, factor).add(order).toByteArray();
        for (int at = 0; at < 32; at++) {
            signature[63 - at] = at < 32 - more.length ? 0 : more[at - 32 + more.length];
        }
        assertFalse(new LogKeys(keysWithin(HEADS.firstKey())).signed(head.toBuilder().setSignature(ByteString.copyFrom(signature)).build()));
    }

    @Test
    void whatNamesNoKeyIsRefused() {
        List<ByteString> named = keysWithin(LEAVES.size());
        String unsigned = named.get(1).toStringUtf8().replaceFirst("\"signature\":\"..", "\"signature\":\"00");
        Map<List<ByteString>, String> wrong = Map.of(
                List.of(), "a log without a key",
                List.of(ByteString.copyFromUtf8("{}")), "a leaf that names no key",
                List.of(ByteString.copyFromUtf8("")), "a leaf that names no key",
                List.of(ByteString.copyFromUtf8("no JSON")), "a leaf that names no key",
                List.of(ByteString.copyFromUtf8("{\"key\":\"zz\",\"signature\":\"\"}")), "a leaf that names no key",
                List.of(named.get(0), ByteString.copyFromUtf8(unsigned)), "a key that the one before it did not sign",
                List.of(named.get(1), named.get(0)), "a key that the one before it did not sign");
        wrong.forEach((leaves, why) ->
                assertEquals(why, assertThrows(IllegalArgumentException.class, () -> new LogKeys(leaves)).getMessage()));
        LogKeys small = new LogKeys(List.of(ByteString.copyFromUtf8("{\"key\":\"00\",\"signature\":\"\"}")));
        assertFalse(small.signed(HEADS.firstEntry().getValue()), "a key of one byte signs nothing");
    }

    @Test
    void leavesAreIncluded() {
        List<JsonObject> given = objects("inclusion");
        assertFalse(given.isEmpty());
        for (JsonObject each : given) {
            int number = each.get("number").getAsInt();
            LogEntry entry = LogEntry.newBuilder()
                    .setNumber(number)
                    .setLeaf(LEAVES.get(number - 1))
                    .setHead(HEADS.get(each.get("size").getAsInt()))
                    .addAllProof(proof(each))
                    .build();
            assertTrue(Merkle.included(entry), each::toString);
            assertFalse(Merkle.included(entry.toBuilder().setLeaf(changed(entry.getLeaf())).build()), each::toString);
            assertFalse(Merkle.included(entry.toBuilder().setNumber(number + 1).build()), each::toString);
            assertFalse(Merkle.included(entry.toBuilder().clearNumber().build()), each::toString);
            assertFalse(Merkle.included(entry.toBuilder().clearHead().build()), each::toString);
            assertFalse(Merkle.included(entry.toBuilder().addProof(entry.getHead().getRoot()).build()), each::toString);
            LogHead other = rooted(entry.getHead(), changed(entry.getHead().getRoot()));
            assertFalse(Merkle.included(entry.toBuilder().setHead(other).build()), each::toString);
        }
    }

    /** A root that a proof reaches too early is that of a smaller tree. */
    @Test
    void aProofThatIsTooShortForTheSizeProvesNothing() {
        ByteString root = Digests.sha256(ByteString.copyFrom(new byte[1]), LEAVES.get(0));
        LogHead one = LogHead.newBuilder().setSize(1).setRoot(root).build();
        LogHead two = one.toBuilder().setSize(2).build();
        LogEntry entry = LogEntry.newBuilder().setNumber(1).setLeaf(LEAVES.get(0)).setHead(one).build();
        assertTrue(Merkle.included(entry));
        assertFalse(Merkle.included(entry.toBuilder().setHead(two).build()));
        assertTrue(Merkle.consistent(one, one, List.of()));
        assertFalse(Merkle.consistent(one, two, List.of()));
    }

    @Test
    void earlierLogsBeginLaterOnes() {
        List<JsonObject> given = objects("consistency");
        assertFalse(given.isEmpty());
        for (JsonObject each : given) {
            LogHead first = HEADS.get(each.get("first").getAsInt());
            LogHead second = HEADS.get(each.get("second").getAsInt());
            List<ByteString> proof = proof(each);
            assertTrue(Merkle.consistent(first, second, proof), each::toString);
            assertFalse(Merkle.consistent(rooted(first, changed(first.getRoot())), second, proof), each::toString);
            assertFalse(Merkle.consistent(first, rooted(second, changed(second.getRoot())), proof), each::toString);
            List<ByteString> longer = new ArrayList<>(proof);
            longer.add(first.getRoot());
            assertFalse(Merkle.consistent(first, second, longer), each::toString);
            assertFalse(Merkle.consistent(LogHead.getDefaultInstance(), second, proof), each::toString);
            if (!proof.isEmpty()) {
                assertFalse(Merkle.consistent(second, first, proof), each::toString);
                assertFalse(Merkle.consistent(first, second, proof.subList(1, proof.size())), each::toString);
            }
        }
    }
}
