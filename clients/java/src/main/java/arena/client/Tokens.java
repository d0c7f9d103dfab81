package arena.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Locale;

/**
 * A token for a bot that is about to register. Until the server answers, the token is in a file beside its final file,
 * so that a full disk or a lost answer does no harm. The next try sends the same token.
 */
record Tokens(Path file, Path draft, String token) {
    /** The file for one bot on one server, in the user's home. As on the server, a name's case does not matter. */
    static Path defaultFile(String address, String name) {
        return Path.of(System.getProperty("user.home"), ".arena", "tokens", safe(address) + "-" + safe(name) + ".token");
    }

    private static String safe(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9._-]", "_");
    }

    /** The token in the file; empty if the file is missing or empty. */
    static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (NoSuchFileException none) {
            return "";
        } catch (IOException wrong) {
            throw ArenaException.unusable(file, wrong);
        }
    }

    /** Uses the token that an earlier try left beside the file, or creates a new token. */
    static Tokens offer(Path file) {
        Path draft = file.resolveSibling(file.getFileName() + ".new");
        String before = read(draft);
        if (!before.isEmpty()) {
            return new Tokens(file, draft, before);
        }
        byte[] chance = new byte[32];
        new SecureRandom().nextBytes(chance);
        String token = "arena_" + Base64.getUrlEncoder().withoutPadding().encodeToString(chance);
        Tokens made = new Tokens(file, draft, token);
        made.write(token);
        return made;
    }

    /** Stores the token from the server's answer in the final file, atomically. */
    void keep(String answered) {
        if (!answered.equals(token)) { // an older server, which creates tokens itself
            write(answered);
        }
        try {
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException wrong) {
            throw ArenaException.unusable(file, wrong);
        }
    }

    /** Deletes the token that the server refused. */
    void drop() {
        try {
            Files.deleteIfExists(draft);
        } catch (IOException wrong) {
            News.warn("the file %s cannot be removed: %s", draft, wrong);
        }
    }

    private void write(String text) {
        try {
            PrivateFile.replace(draft, (text + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException wrong) {
            throw ArenaException.unusable(file, wrong);
        }
    }
}
