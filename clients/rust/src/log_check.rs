//! The question at each welcome: was the server's log of results only added to since the bot last saw it?
//!
//! It says what is wrong once, and the bot plays on. It moves no bytes: whom it asks for proofs it is given.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use log::{error, warn};
use prost_types::Timestamp;
use serde_json::Value;

use crate::merkle::{Keys, consistent, fields_of, included};
use crate::receipts::Receipts;
use crate::session::Seat;
use crate::v1::{LogEntry, LogHead, LogState, MatchReport};

/// What a server answers who asks for the proof that a log begins another.
pub(crate) enum Proof {
    Given(Vec<Vec<u8>>),
    Refused,
}

/// Proves that a log of so many leaves begins one of so many.
pub(crate) trait Prover {
    /// Asks for the proof; an error where nobody answers.
    fn consistency(&self, first: u64, second: u64) -> impl Future<Output = Result<Proof, String>> + Send;
}

/// A log that a welcome shows, and what was known of it then: what a bot hears later is no part of that log.
pub(crate) struct Question {
    state: LogState,
    head: LogHead,
    /// The longest head that was known.
    seen: LogHead,
    /// The leaves of restorations that were known.
    restores: Vec<Vec<u8>>,
}

/// Compares a server's log with what a bot kept of it.
pub(crate) struct LogChecker {
    /// Free while the server is asked.
    known: Mutex<Known>,
}

struct Known {
    receipts: Receipts,
    alarmed: bool,
}

impl LogChecker {
    /// `file`: where receipts are; `None` keeps nothing on the disk.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { known: Mutex::new(Known { receipts: Receipts::new(file), alarmed: false }) }
    }

    /// Keeps what a report says of the log.
    pub fn take(&self, report: &MatchReport, seat: Option<&Seat>) {
        self.known().receipts.take(report, seat);
    }

    /// Compares the log that a welcome shows, `None` where it shows none, with what was kept; returns what is left to prove.
    pub fn welcomed(&self, state: Option<LogState>) -> Option<Question> {
        let mut known = self.known();
        known.receipts.load();
        let Some((state, head)) = state.and_then(|state| state.head.clone().map(|head| (state, head))) else {
            if known.receipts.pin.is_some() {
                known.alarm("the server had a log of results and shows none now");
            }
            return None;
        };
        match Keys::new(&state.keys) {
            Err(problem) => return known.alarm(&format!("it shows {problem}")),
            Ok(keys) if !keys.signed(&head) => return known.alarm("its head is not signed by its key"),
            Ok(_) => {}
        }
        let Some(pin) = &known.receipts.pin else {
            known.receipts.pin_to(&state, None);
            return None;
        };
        if same(&pin.head, &head) && pin.keys == state.keys {
            return None;
        }
        if !state.keys.starts_with(&pin.keys) {
            return known.alarm("its key is not the one that this bot knows, and that one did not name it");
        }
        let seen = known.receipts.latest(u64::MAX).unwrap_or(&pin.head).clone();
        let restores = pin.restores.clone();
        Some(Question { state, head, seen, restores })
    }

    /// Asks for the proofs that are left, and knows the log as it is now unless there are none; an error where nobody answers.
    pub async fn prove(&self, question: Question, prover: &impl Prover) -> Result<(), String> {
        let Question { state, head, seen, restores } = question;
        if seen.size <= head.size && begins(&seen, &head, prover).await? {
            self.known().receipts.pin_to(&state, None);
            return Ok(());
        }
        let Some(cut) = new_cut(&state, &head, &restores, seen.size) else {
            let told = format!("it does not begin with the {} entries that this bot has seen", seen.size);
            self.known().alarm(&told);
            return Ok(());
        };
        if let Some(earlier) = self.latest(cut.size)
            && !begins(&earlier, &head, prover).await?
        {
            let told = "it was restored from a backup, and does not begin with the";
            self.known().alarm(&format!("{told} {} entries before that", earlier.size));
            return Ok(());
        }
        self.known().cut(&state, &cut);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn latest(&self, size: u64) -> Option<LogHead> {
        self.known().receipts.latest(size).cloned()
    }
}

impl Known {
    /// Says which results a restoration lost, and knows the log without them.
    fn cut(&mut self, state: &LogState, cut: &Cut) {
        let beyond = self.receipts.beyond(cut.size);
        let which = match beyond[..] {
            [] => String::new(),
            [only] => format!(" (match {only})"),
            [first, .., last] => format!(" (matches {first} to {last})"),
        };
        warn!(
            "the server was restored from a backup on {} UTC, and its log goes on from entry {}: {} of this bot's receipts are \
             of results after that{which}, which it does not know any more; they are kept in {}, and the bot plays on",
            minute(cut.at),
            cut.size,
            beyond.len(),
            self.receipts.place()
        );
        self.receipts.pin_to(state, Some(cut.size));
    }

    /// Says what is wrong, once; nothing is left to prove then.
    fn alarm(&mut self, problem: &str) -> Option<Question> {
        if !self.alarmed {
            self.alarmed = true;
            error!(
                "THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: {problem}. Results may have been changed. What this bot was \
                 told is kept in {}; it plays on",
                self.receipts.place()
            );
        }
        None
    }
}

fn same(one: &LogHead, other: &LogHead) -> bool {
    one.size == other.size && one.root == other.root
}

/// Returns whether one log begins another.
async fn begins(first: &LogHead, second: &LogHead, prover: &impl Prover) -> Result<bool, String> {
    if first.size == second.size {
        return Ok(first.root == second.root);
    }
    Ok(match prover.consistency(first.size, second.size).await? {
        Proof::Given(proof) => consistent(first, second, &proof),
        Proof::Refused => false,
    })
}

/// Where a restoration cut a log, and when, in microseconds since 1970.
struct Cut {
    size: u64,
    at: i64,
}

/// Returns where a restoration that was not known cut the log lowest, below so many entries.
fn new_cut(state: &LogState, head: &LogHead, known: &[Vec<u8>], seen: u64) -> Option<Cut> {
    let cut = |entry: &LogEntry| {
        let under = entry.head.as_ref().is_some_and(|shown| same(shown, head));
        if !under || known.contains(&entry.leaf) || !included(entry) {
            return None;
        }
        let leaf = fields_of(&entry.leaf).ok()?;
        let cut = Cut { size: leaf.get("size")?.as_u64()?, at: leaf.get("at")?.as_i64()? };
        let restored = leaf.get("kind").and_then(Value::as_str) == Some("restore");
        (restored && Some(entry.number) == cut.size.checked_add(1) && cut.size < seen).then_some(cut)
    };
    state.restores.iter().filter_map(cut).min_by_key(|cut| cut.size)
}

/// Returns a time by the minute, as `2026-09-21 14:13`.
fn minute(micros: i64) -> String {
    let at = Timestamp { seconds: micros.div_euclid(1_000_000), nanos: 0 }.to_string();
    let (date, time) = at.split_once('T').unwrap_or((&at, ""));
    format!("{date} {}", time.get(..5).unwrap_or(time))
}
