//! The lines of a file of receipts, as docs/log.md of the Arena describes them. This module writes and reads them, and verifies
//! nothing.

use serde::{Deserialize, Serialize};

use crate::session::Seat;
use crate::v1::LogHead;

/// The beginning of a line that is not a receipt.
pub(crate) const PIN_BEGIN: &str = "{\"arena_receipts\"";

/// A head of the log.
#[derive(Serialize)]
pub(crate) struct HeadLine {
    pub size: u64,
    #[serde(with = "hex")]
    pub root: Vec<u8>,
    #[serde(with = "hex")]
    pub signature: Vec<u8>,
}

/// The state of the log in a welcome.
#[derive(Serialize)]
pub(crate) struct PinLine {
    pub arena_receipts: u32,
    pub keys: Vec<String>,
    pub restores: Vec<String>,
    pub head: HeadLine,
}

/// The receipt of a match.
#[derive(Serialize)]
pub(crate) struct ReceiptLine<'a> {
    #[serde(rename = "match")]
    pub match_id: u64,
    pub seat: u32,
    #[serde(flatten)]
    pub begin: Option<&'a Seat>,
    pub number: u64,
    pub leaf: String,
    pub head: HeadLine,
    pub proof: Vec<String>,
}

impl From<&LogHead> for HeadLine {
    fn from(head: &LogHead) -> Self {
        Self { size: head.size, root: head.root.clone(), signature: head.signature.clone() }
    }
}

/// The fields of a line that are still needed after writing.
#[derive(Deserialize)]
pub(crate) struct Known {
    pub keys: Option<Vec<String>>,
    pub head: KnownHead,
}

#[derive(Deserialize)]
pub(crate) struct KnownHead {
    pub size: u64,
}

/// Returns a leaf as text.
pub(crate) fn text(leaf: &[u8]) -> String {
    String::from_utf8_lossy(leaf).into_owned()
}
