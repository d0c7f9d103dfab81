package arena.client;

import arena.v1.LogHead;
import com.google.gson.JsonParseException;
import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/** The public keys of a log of results, one after the other; each signs the next. */
final class LogKeys {
    private static final int KEY_SIZE = 32;
    /** What X.509 puts before the bytes of an Ed25519 key (RFC 8410). */
    private static final ByteString X509 = ByteString.copyFrom(HexFormat.of().parseHex("302a300506032b6570032100"));

    private record Named(String key, String signature) {}

    private String log = "";
    private ByteString newest = ByteString.EMPTY;

    /** Reads the leaves that name them; IllegalArgumentException where one is none, or is not signed by the one before. */
    LogKeys(List<ByteString> leaves) {
        if (leaves.isEmpty()) {
            throw new IllegalArgumentException("a log without a key");
        }
        leaves.forEach(this::add);
    }

    private void add(ByteString leaf) {
        Named named;
        ByteString key;
        ByteString signature;
        try {
            named = StrictJson.read(leaf.toStringUtf8(), Named.class);
            key = bytes(named.key);
            signature = bytes(named.signature);
        } catch (JsonParseException | IllegalArgumentException none) {
            throw new IllegalArgumentException("a leaf that names no key", none);
        }
        if (log.isEmpty()) {
            log = HexFormat.of().formatHex(Digests.sha256(key).toByteArray());
        } else if (!signed(signature, "arena-log/" + log + "\nkey\n" + named.key + "\n")) {
            throw new IllegalArgumentException("a key that the one before it did not sign");
        }
        newest = key;
    }

    private static ByteString bytes(String digits) {
        if (digits == null) {
            throw new IllegalArgumentException("there are no digits");
        }
        return ByteString.copyFrom(HexFormat.of().parseHex(digits));
    }

    /** Whether a head is signed by the newest key. */
    boolean signed(LogHead head) {
        String root = Base64.getEncoder().encodeToString(head.getRoot().toByteArray());
        return signed(head.getSignature(), "arena-log/" + log + "\n" + Long.toUnsignedString(head.getSize()) + "\n" + root + "\n");
    }

    private boolean signed(ByteString signature, String text) {
        if (newest.size() != KEY_SIZE) {
            return false;
        }
        try {
            Signature check = Signature.getInstance("Ed25519");
            check.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(X509.concat(newest).toByteArray())));
            check.update(text.getBytes(StandardCharsets.UTF_8));
            return check.verify(signature.toByteArray());
        } catch (GeneralSecurityException none) { // neither is a key or a signature whatever has its size
            return false;
        }
    }
}
