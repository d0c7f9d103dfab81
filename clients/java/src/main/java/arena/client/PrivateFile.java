package arena.client;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Writes files and folders that only their owner can read, if the system supports that. */
final class PrivateFile {
    private static final Set<OpenOption> APPENDING = Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND);

    private PrivateFile() {}

    /** Appends to a file, which is created if it does not exist. */
    static void append(Path file, byte[] content) throws IOException {
        folderOf(file);
        try (SeekableByteChannel out = Files.newByteChannel(file, APPENDING, only(file, "rw-------"))) {
            long before = out.size();
            try {
                Channels.newOutputStream(out).write(content);
            } catch (IOException wrong) {
                try {
                    shorten(file, before); // because half a line would corrupt the next one
                } catch (IOException stays) {
                    wrong.addSuppressed(stays);
                }
                throw wrong;
            }
        }
    }

    /** Removes an unfinished last line, which would corrupt the next line; returns whether there was one. */
    static boolean cutUnfinishedLine(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        int whole = content.length;
        while (whole > 0 && content[whole - 1] != '\n') {
            whole--;
        }
        if (whole < content.length) {
            shorten(file, whole);
        }
        return whole < content.length;
    }

    private static void shorten(Path file, long size) throws IOException {
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
            out.truncate(size);
        }
    }

    /** Creates or replaces a file, completely or not at all. */
    static void replace(Path file, byte[] content) throws IOException {
        Path whole = Files.createTempFile(folderOf(file), ".new-", ""); // for its owner only
        try {
            try (FileChannel out = FileChannel.open(whole, StandardOpenOption.WRITE)) {
                Channels.newOutputStream(out).write(content);
                out.force(true);
            }
            Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(whole);
        }
    }

    private static Path folderOf(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (!Files.isDirectory(folder)) { // Java 17 fails on a folder that is a link
            Files.createDirectories(folder, only(folder, "rwx------"));
        }
        return folder;
    }

    private static FileAttribute<?>[] only(Path path, String permissions) {
        boolean known = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        return known
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))}
                : new FileAttribute<?>[0];
    }
}
