package arena.client;

import arena.v1.Node;
import java.util.List;

/** The addresses of a server's nodes. A bot connects to one of them. */
final class Addresses {
    /** The address to connect to. */
    String current;

    private List<String> nodes = List.of();
    private int turn;

    Addresses(String current) {
        this.current = current;
    }

    /** Stores the addresses that a welcome lists. Those without a host are on the current host. */
    void list(List<Node> listed) {
        String host = current.substring(0, Math.max(0, current.lastIndexOf(':')));
        nodes = listed.stream()
                .map(Node::getAddress)
                .filter(address -> !address.isEmpty())
                .map(address -> address.startsWith(":") ? host + address : address)
                .toList();
        turn = 0;
    }

    /** Chooses another node: the first on the list, then with each call the next. Does nothing if there is no other. */
    void next() {
        for (int left = nodes.size(); left > 0; left--) {
            String address = nodes.get(turn++ % nodes.size());
            if (!address.equals(current)) {
                current = address;
                return;
            }
        }
    }
}
