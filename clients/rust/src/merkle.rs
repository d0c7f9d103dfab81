//! Proofs of a log of results (RFC 9162, 2.1): that a leaf is in it, that a later log only added to an earlier one, who signed it.

use base64::{Engine, prelude::BASE64_STANDARD};
use ring::{
    digest::{Context, SHA256},
    signature::{ED25519, UnparsedPublicKey},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::v1::{LogEntry, LogHead};

/// Returns SHA-256 of parts, one after the other.
pub(crate) fn hashed(parts: &[&[u8]]) -> Vec<u8> {
    let mut made = Context::new(&SHA256);
    parts.iter().for_each(|part| made.update(part));
    made.finish().as_ref().into()
}

fn node(left: &[u8], right: &[u8]) -> Vec<u8> {
    hashed(&[&[1], left, right])
}

/// Where a hash is in a tree: its place among those of its height, and the last of these.
struct Climb {
    place: u64,
    last: u64,
}

impl Climb {
    fn step(&mut self) {
        self.place >>= 1;
        self.last >>= 1;
    }

    /// Says whether the next hash of a proof lies left of this one, and goes to the node above both; `None` at the root.
    fn next_is_left(&mut self) -> Option<bool> {
        if self.last == 0 {
            return None;
        }
        let left = self.place & 1 == 1 || self.place == self.last;
        if left {
            while self.place & 1 == 0 && self.place > 0 {
                self.step();
            }
        }
        self.step();
        Some(left)
    }
}

/// Returns whether a leaf's proof leads to the root of its head.
pub(crate) fn included(entry: &LogEntry) -> bool {
    let Some(head) = entry.head.as_ref().filter(|head| (1..=head.size).contains(&entry.number)) else { return false };
    let mut climb = Climb { place: entry.number - 1, last: head.size - 1 };
    let mut made = hashed(&[&[0], &entry.leaf]);
    for each in &entry.proof {
        let Some(left) = climb.next_is_left() else { return false };
        made = if left { node(each, &made) } else { node(&made, each) };
    }
    climb.last == 0 && made == head.root
}

/// Returns whether a proof shows that the first log, which has leaves, begins the second.
pub(crate) fn consistent(first: &LogHead, second: &LogHead, proof: &[Vec<u8>]) -> bool {
    if first.size < 1 || first.size > second.size {
        return false;
    }
    if first.size == second.size {
        return proof.is_empty() && first.root == second.root;
    }
    let whole = first.size.is_power_of_two().then_some(&first.root);
    let mut proof = whole.into_iter().chain(proof);
    let Some(begin) = proof.next() else { return false };
    let mut climb = Climb { place: first.size - 1, last: second.size - 1 };
    while climb.place & 1 == 1 {
        climb.step();
    }
    let (mut old, mut made) = (begin.clone(), begin.clone());
    for each in proof {
        match climb.next_is_left() {
            None => return false,
            Some(true) => (old, made) = (node(each, &old), node(each, &made)),
            Some(false) => made = node(&made, each),
        }
    }
    climb.last == 0 && old == first.root && made == second.root
}

/// Returns what a leaf says, by name.
pub(crate) fn fields_of(leaf: &[u8]) -> serde_json::Result<Map<String, Value>> {
    serde_json::from_slice(leaf)
}

/// The public keys of a log, one after the other; each signs the next.
pub(crate) struct Keys {
    log: String,
    newest: Vec<u8>,
}

#[derive(Deserialize)]
struct Named {
    key: String,
    signature: String,
}

impl Keys {
    /// Reads the leaves that name them; the error says what is wrong with one.
    pub fn new(leaves: &[Vec<u8>]) -> Result<Self, &'static str> {
        let mut keys: Option<Self> = None;
        for leaf in leaves {
            let (digits, key, signature) = named(leaf).ok_or("a leaf that names no key")?;
            let log = match keys {
                None => hex::encode(hashed(&[&key])),
                Some(before) if signed_by(&before.newest, &signature, &before.naming(&digits)) => before.log,
                Some(_) => return Err("a key that the one before it did not sign"),
            };
            keys = Some(Self { log, newest: key });
        }
        keys.ok_or("a log without a key")
    }

    /// Returns whether a head is signed by the newest key.
    pub fn signed(&self, head: &LogHead) -> bool {
        let root = BASE64_STANDARD.encode(&head.root);
        signed_by(&self.newest, &head.signature, &format!("arena-log/{}\n{}\n{root}\n", self.log, head.size))
    }

    fn naming(&self, digits: &str) -> String {
        format!("arena-log/{}\nkey\n{digits}\n", self.log)
    }
}

/// Returns the key that a leaf names, as digits and as bytes, and its signature.
fn named(leaf: &[u8]) -> Option<(String, Vec<u8>, Vec<u8>)> {
    let Named { key, signature } = serde_json::from_slice(leaf).ok()?;
    let (bytes, signature) = (hex::decode(&key).ok()?, hex::decode(signature).ok()?);
    Some((key, bytes, signature))
}

fn signed_by(key: &[u8], signature: &[u8], text: &str) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), signature).is_ok()
}
