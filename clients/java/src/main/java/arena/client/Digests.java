package arena.client;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests of bytes. */
final class Digests {
    private Digests() {}

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) { // every Java has it
            throw new AssertionError(impossible);
        }
    }
}
