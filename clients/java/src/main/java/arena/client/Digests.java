package arena.client;

import com.google.protobuf.ByteString;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256, of one thing after the other. */
final class Digests {
    private Digests() {}

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) { // every Java has it
            throw new AssertionError(impossible);
        }
    }

    static ByteString sha256(ByteString... parts) {
        MessageDigest made = sha256();
        for (ByteString part : parts) {
            made.update(part.asReadOnlyByteBuffer());
        }
        return ByteString.copyFrom(made.digest());
    }
}
