//! The addresses of a server's nodes. A bot connects to one of them.

use crate::v1::Node;

pub(crate) struct Addresses {
    /// The address to connect to.
    pub current: String,
    nodes: Vec<String>,
    turn: usize,
}

impl Addresses {
    pub fn new(current: String) -> Self {
        Self { current, nodes: Vec::new(), turn: 0 }
    }

    /// Stores the addresses that a welcome lists. Addresses without a host are on the current host.
    pub fn list(&mut self, listed: &[Node]) {
        let host = self.current.rsplit_once(':').map_or("", |(host, _)| host);
        let resolve = |node: &Node| {
            if node.address.starts_with(':') { format!("{host}{}", node.address) } else { node.address.clone() }
        };
        self.nodes = listed.iter().filter(|node| !node.address.is_empty()).map(resolve).collect();
        self.turn = 0;
    }

    /// Switches to another node: the first on the list, then with each call the next. Does nothing if there is none.
    pub fn next(&mut self) {
        for _ in 0..self.nodes.len() {
            let address = &self.nodes[self.turn % self.nodes.len()];
            self.turn += 1;
            if *address != self.current {
                self.current.clone_from(address);
                return;
            }
        }
    }
}
