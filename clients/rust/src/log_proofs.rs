//! Which proofs and signatures of a log are taken: those of the server's own vectors, and none that was touched.

use serde::Deserialize;

use crate::corpus::{conformance, read};
use crate::merkle::{Keys, consistent, fields_of, hashed, included};
use crate::v1::{LogEntry, LogHead};

#[derive(Deserialize)]
struct Vectors {
    leaves: Vec<Leaf>,
    heads: Vec<Head>,
    inclusion: Vec<Inclusion>,
    consistency: Vec<Consistency>,
}

#[derive(Deserialize)]
struct Leaf {
    leaf: String,
}

#[derive(Deserialize)]
struct Head {
    size: u64,
    root: String,
    signature: String,
}

#[derive(Deserialize)]
struct Inclusion {
    number: u64,
    size: u64,
    proof: Vec<String>,
}

#[derive(Deserialize)]
struct Consistency {
    first: u64,
    second: u64,
    proof: Vec<String>,
}

fn bytes(digits: &String) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

/// Returns other bytes.
pub(crate) fn changed(content: &[u8]) -> Vec<u8> {
    let mut other = content.to_vec();
    other[0] ^= 1;
    other
}

#[test]
fn proofs_and_signatures_of_the_server_are_taken_and_no_others() {
    let vectors: Vectors = read(&conformance("../../arena/log/vectors.json"));
    let head = |size: u64| {
        let head = vectors.heads.iter().find(|head| head.size == size).unwrap();
        LogHead { size, root: bytes(&head.root), signature: bytes(&head.signature) }
    };
    let rootless = |head: &LogHead| LogHead { root: changed(&head.root), ..head.clone() };
    for each in &vectors.heads {
        let leaves = vectors.leaves[..each.size as usize].iter().map(|leaf| leaf.leaf.clone().into_bytes());
        let named: Vec<_> = leaves.filter(|leaf| fields_of(leaf).unwrap()["kind"] == "key").collect();
        let (keys, head) = (Keys::new(&named).unwrap(), head(each.size));
        let forged = LogHead { signature: changed(&head.signature), ..head.clone() };
        let longer = LogHead { size: head.size + 1, ..head.clone() };
        assert!(keys.signed(&head), "the head of {}", each.size);
        assert!(![forged, longer, rootless(&head)].iter().any(|other| keys.signed(other)), "{}", each.size);
    }
    for each in &vectors.inclusion {
        let leaf = vectors.leaves[each.number as usize - 1].leaf.as_bytes();
        let proof: Vec<_> = each.proof.iter().map(bytes).collect();
        let entry = LogEntry { number: each.number, leaf: leaf.into(), head: Some(head(each.size)), proof };
        let wrong = LogEntry { leaf: changed(leaf), ..entry.clone() };
        let moved = LogEntry { number: each.number + 1, ..entry.clone() };
        let headless = LogEntry { head: None, ..entry.clone() };
        assert!(included(&entry), "leaf {} of {}", each.number, each.size);
        assert!(![wrong, moved, headless].iter().any(included), "leaf {} of {}", each.number, each.size);
    }
    for each in &vectors.consistency {
        let (first, second) = (head(each.first), head(each.second));
        let proof: Vec<_> = each.proof.iter().map(bytes).collect();
        assert!(consistent(&first, &second, &proof), "{} and {}", each.first, each.second);
        assert!(!consistent(&rootless(&first), &second, &proof));
        assert!(!consistent(&first, &rootless(&second), &proof));
        assert!(each.first == each.second || !consistent(&first, &second, &proof[1..]));
    }
    assert!(!vectors.inclusion.is_empty() && !vectors.consistency.is_empty());
}

/// Each of these hashes leads to the root that it names; only its place in the tree is wrong.
#[test]
fn proofs_that_end_on_their_way_or_lead_beyond_the_root_are_not_taken() {
    let (leaf, beside) = (b"{}".to_vec(), vec![7; 32]);
    let own = hashed(&[&[0], &leaf]);
    let (left, right) = (hashed(&[&[1], &own, &beside]), hashed(&[&[1], &beside, &own]));
    let entry = |number, size, root: &Vec<u8>, proof: &[&Vec<u8>]| LogEntry {
        number,
        leaf: leaf.clone(),
        head: Some(LogHead { size, root: root.clone(), signature: Vec::new() }),
        proof: proof.iter().map(|&each| each.clone()).collect(),
    };
    for taken in [entry(1, 1, &own, &[]), entry(1, 2, &left, &[&beside]), entry(2, 2, &right, &[&beside])] {
        assert!(included(&taken), "{taken:?}");
    }
    for other in [
        entry(1, 2, &own, &[]),
        entry(1, 3, &left, &[&beside]),
        entry(1, 1, &right, &[&beside]),
        entry(3, 2, &left, &[&beside]),
        entry(0, 1, &own, &[]),
    ] {
        assert!(!included(&other), "{other:?}");
    }
    let head = |size, root: &Vec<u8>| LogHead { size, root: root.clone(), signature: Vec::new() };
    assert!(consistent(&head(1, &own), &head(2, &left), std::slice::from_ref(&beside)));
    assert!(!consistent(&head(1, &own), &head(3, &left), std::slice::from_ref(&beside)), "it ends below the root");
    assert!(!consistent(&head(2, &own), &head(4, &own), &[]), "it ends below the root");
    assert!(!consistent(&head(0, &own), &head(2, &left), std::slice::from_ref(&beside)), "nothing begins every log");
    assert!(!consistent(&head(3, &own), &head(4, &own), &[]), "it has no proof");
}
