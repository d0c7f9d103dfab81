package arena.client;

import arena.v1.LogEntry;
import arena.v1.LogHead;
import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Proofs of a log of results (RFC 9162, 2.1): that a leaf is in it, that a later log only added to an earlier one. */
final class Merkle {
    private static final ByteString LEAF = ByteString.copyFrom(new byte[] {0});
    private static final ByteString NODE = ByteString.copyFrom(new byte[] {1});

    private Merkle() {}

    private static ByteString node(ByteString left, ByteString right) {
        return Digests.sha256(NODE, left, right);
    }

    /** The roots of a tree and of the earlier one that ended where a proof begins. */
    private record Roots(ByteString old, ByteString made) {}

    /** Climbs from a node to the root by a proof; no roots where the proof is too long or too short for the tree. */
    private static Optional<Roots> climb(ByteString begin, long at, long end, List<ByteString> proof) {
        ByteString old = begin;
        ByteString made = begin;
        long place = at;
        long last = end;
        for (ByteString each : proof) {
            if (last == 0) {
                return Optional.empty();
            }
            if ((place & 1) == 1 || place == last) {
                old = node(each, old);
                made = node(each, made);
                while ((place & 1) == 0 && place != 0) {
                    place >>>= 1;
                    last >>>= 1;
                }
            } else {
                made = node(made, each);
            }
            place >>>= 1;
            last >>>= 1;
        }
        return last == 0 ? Optional.of(new Roots(old, made)) : Optional.empty();
    }

    /** Whether a leaf's proof leads to the root of its head. */
    static boolean included(LogEntry entry) {
        LogHead head = entry.getHead();
        if (entry.getNumber() == 0 || Long.compareUnsigned(entry.getNumber(), head.getSize()) > 0) {
            return false;
        }
        ByteString leaf = Digests.sha256(LEAF, entry.getLeaf());
        Optional<Roots> roots = climb(leaf, entry.getNumber() - 1, head.getSize() - 1, entry.getProofList());
        return roots.isPresent() && roots.get().made.equals(head.getRoot());
    }

    /** Whether a proof shows that the first log, which has leaves, begins the second. */
    static boolean consistent(LogHead first, LogHead second, List<ByteString> proof) {
        long size = first.getSize();
        if (size == 0 || Long.compareUnsigned(size, second.getSize()) > 0) {
            return false;
        }
        if (size == second.getSize()) {
            return proof.isEmpty() && first.getRoot().equals(second.getRoot());
        }
        List<ByteString> path = new ArrayList<>(proof);
        if ((size & (size - 1)) == 0) {
            path.add(0, first.getRoot());
        }
        if (path.isEmpty()) {
            return false;
        }
        int whole = Long.numberOfTrailingZeros(size); // so high is the last subtree that both logs have whole
        ByteString begin = path.remove(0);
        Optional<Roots> roots = climb(begin, (size - 1) >>> whole, (second.getSize() - 1) >>> whole, path);
        return roots.isPresent() && roots.get().old.equals(first.getRoot()) && roots.get().made.equals(second.getRoot());
    }
}
