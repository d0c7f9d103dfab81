//! What a bot keeps of the log of results: the server's key and newest head, and a receipt for each match.
//!
//! A file of JSON lines beside the token, which is added to; docs/log.md of the Arena describes it, `arena replay verify
//! --receipts` reads it. It asks nobody and never ends a run: what cannot be read or written is said once.

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

use log::{error, warn};
use serde::Serialize;
use serde_json::{Value, json};

use crate::merkle::{fields_of, included};
use crate::private_file::{append, replace, shorten_to};
use crate::receipt_lines::{PIN_BEGIN, PinLine, ReceiptLine, text};
use crate::session::Seat;
use crate::v1::{LogHead, LogState, MatchReport};

/// The receipts that a file keeps, the newest; up to twice as many for a while.
pub(crate) const KEPT: usize = 1000;

/// What is known of a server's log.
#[derive(Clone)]
pub(crate) struct Pin {
    /// The leaves that name its keys.
    pub keys: Vec<Vec<u8>>,
    /// The leaves of restorations that were known when it was pinned.
    pub restores: Vec<Vec<u8>>,
    /// The newest head that was shown to begin with the one before.
    pub head: LogHead,
}

/// The receipts of one bot at one server.
#[derive(Default)]
pub(crate) struct Receipts {
    /// Where they are; `None` keeps nothing on the disk.
    file: Option<PathBuf>,
    pub pin: Option<Pin>,
    /// The heads of receipts, the oldest first.
    heads: Vec<LogHead>,
    /// The number of the leaf, and the match, of each receipt.
    matches: Vec<(u64, u64)>,
    lines: usize,
    read: bool,
    troubled: bool,
}

impl Receipts {
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Returns where they are, for people.
    pub fn place(&self) -> String {
        self.file.as_ref().map_or("memory".into(), |file| file.display().to_string())
    }

    /// Reads the file once; what cannot be read is left alone, with a warning.
    pub fn load(&mut self) {
        let Some(file) = self.file.clone().filter(|_| !self.read) else { return };
        self.read = true;
        let content = match fs::read(file) {
            Ok(content) => content,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return,
            Err(problem) => return self.warn(&problem),
        };
        let whole = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < content.len() {
            // It was never finished, and the next would be a part of it.
            warn!("the last line of {} was not finished, and is left out", self.place());
            if let Err(problem) = self.file.as_deref().map_or(Ok(()), |file| shorten_to(file, whole as u64)) {
                return self.warn(&problem);
            }
        }
        for line in text(&content[..whole]).split('\n').filter(|line| !line.is_empty()) {
            self.lines += 1;
            if let Err(problem) = self.remember(line) {
                return self.warn(&problem);
            }
        }
    }

    fn remember(&mut self, text: &str) -> serde_json::Result<()> {
        let contents = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
        if text.starts_with(PIN_BEGIN) {
            let PinLine { keys, restores, head, cut, .. } = serde_json::from_str(text)?;
            if let Some(cut) = cut {
                self.forget(cut);
            }
            self.pin = Some(Pin { keys: contents(keys), restores: contents(restores), head: head.into() });
        } else {
            let line: ReceiptLine = serde_json::from_str(text)?;
            self.heads.push(line.head.into());
            self.matches.push((line.number, line.match_id));
        }
        Ok(())
    }

    /// Returns the longest head that is known, of at most so many leaves.
    pub fn latest(&self, size: u64) -> Option<&LogHead> {
        let known = self.heads.iter().chain(self.pin.iter().map(|pin| &pin.head));
        known.filter(|head| head.size <= size).rev().max_by_key(|head| head.size) // of equals the oldest
    }

    /// Returns the matches whose leaves lie beyond a cut.
    pub fn beyond(&self, cut: u64) -> Vec<u64> {
        self.matches.iter().filter(|&&(number, _)| number > cut).map(|&(_, match_id)| match_id).collect()
    }

    /// Keeps keys, restorations and head of a server; `cut`: the leaves that a restoration left of what was known.
    pub fn pin_to(&mut self, state: &LogState, cut: Option<u64>) {
        let Some(head) = &state.head else { return };
        if let Some(cut) = cut {
            self.forget(cut);
        }
        let restores: Vec<_> = state.restores.iter().map(|entry| entry.leaf.clone()).collect();
        let texts = |leaves: &[Vec<u8>]| leaves.iter().map(|leaf| text(leaf)).collect();
        let line =
            PinLine { arena_receipts: 1, keys: texts(&state.keys), restores: texts(&restores), head: head.into(), cut };
        self.pin = Some(Pin { keys: state.keys.clone(), restores, head: head.clone() });
        self.add(&line);
    }

    /// Counts no more with what lies beyond a cut; the file keeps it.
    fn forget(&mut self, cut: u64) {
        self.heads.retain(|head| head.size <= cut);
        self.matches.retain(|&(number, _)| number <= cut);
    }

    /// Checks what a report says of the log, and keeps it; `seat`: what is known from the match's beginning, if it is.
    pub fn take(&mut self, report: &MatchReport, seat: Option<&Seat>) {
        let Some(entry) = &report.entry else { return };
        self.load();
        if let Some(problem) = problem_of(report) {
            let told = "the server's log of results does not bear out its report";
            error!("match {}: {told}: {problem}", report.match_id);
        }
        let Some(head) = &entry.head else { return };
        self.heads.push(head.clone());
        self.matches.push((entry.number, report.match_id));
        self.add(&ReceiptLine {
            match_id: report.match_id,
            seat: report.seat,
            begin: seat.map(Into::into),
            number: entry.number,
            leaf: text(&entry.leaf),
            head: head.into(),
            proof: entry.proof.iter().map(hex::encode).collect(),
        });
    }

    fn add(&mut self, line: &impl Serialize) {
        self.heads.drain(..self.heads.len().saturating_sub(KEPT));
        self.matches.drain(..self.matches.len().saturating_sub(KEPT));
        let Some(file) = self.file.clone() else { return };
        if let Err(problem) = self.write(&file, line) {
            self.warn(&*problem);
        }
    }

    fn write(&mut self, file: &Path, line: &impl Serialize) -> Result<(), Box<dyn Error>> {
        if self.lines >= 2 * KEPT {
            self.shorten(file)?;
        }
        append(file, &format!("{}\n", serde_json::to_string(line)?))?;
        self.lines += 1;
        Ok(())
    }

    /// Keeps the newest receipts, and the newest pin before them.
    fn shorten(&mut self, file: &Path) -> io::Result<()> {
        let content = text(&fs::read(file)?);
        let (pins, lines): (Vec<_>, Vec<_>) =
            content.split_inclusive('\n').partition(|line| line.starts_with(PIN_BEGIN));
        let pin = pins.last().into_iter();
        let kept: Vec<&str> = pin.chain(&lines[lines.len().saturating_sub(KEPT)..]).copied().collect();
        replace(file, &kept.concat())?;
        self.lines = kept.len();
        Ok(())
    }

    fn warn(&mut self, problem: &dyn Error) {
        if !self.troubled {
            self.troubled = true;
            warn!("receipts cannot be kept in {} ({problem}); the bot plays on without", self.place());
        }
    }
}

/// Returns what is wrong with the entry of a report, in words, if anything.
fn problem_of(report: &MatchReport) -> Option<String> {
    let entry = report.entry.as_ref()?;
    if !included(entry) {
        return Some("its proof does not lead from leaf to head".into());
    }
    let leaf = match fields_of(&entry.leaf) {
        Ok(leaf) => leaf,
        Err(problem) => return Some(format!("its leaf cannot be read ({problem})")),
    };
    let told = [
        ("number", json!(entry.number)),
        ("match", json!(report.match_id)),
        ("places", json!(report.places)),
        ("points", json!(report.scores)),
    ];
    let counts = if report.interrupted.is_empty() { told.len() } else { 2 };
    let spaced = |value: &Value| value.to_string().replace(',', ", ");
    told[..counts].iter().find_map(|(name, value)| {
        let says = leaf.get(*name).unwrap_or(&Value::Null);
        let (says, said) = (says != value).then(|| (spaced(says), spaced(value)))?;
        Some(format!("its leaf says {says} for \"{name}\", the report {said}"))
    })
}
