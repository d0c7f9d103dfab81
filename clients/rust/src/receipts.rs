//! The receipts file beside a bot's token: JSON lines with a server's statements about its log of
//! results.
//!
//! docs/log.md of the Arena describes the lines. This module verifies nothing; `arena replay verify
//! --receipts` does. A file error never ends a run: the first error is logged, and the bot
//! continues to play.

use std::{error::Error, fs, io, path::PathBuf};

use log::warn;
use serde::Serialize;

use crate::private_file::{append, replace, shorten_to};
use crate::receipt_lines::{Known, PIN_BEGIN, PinLine, ReceiptLine, text};
use crate::session::Seat;
use crate::v1::{LogState, MatchReport};

/// Number of receipts that remain when the file is shortened. This happens when it has twice as many lines.
pub(crate) const KEPT: usize = 1000;

/// The receipts of one bot at one server.
#[derive(Default)]
pub(crate) struct Receipts {
    file: PathBuf,
    /// The newest line with the log's keys, and the keys in it.
    pin: String,
    keys: Vec<String>,
    /// The largest number of entries under any head in the file.
    longest: u64,
    lines: usize,
    read: bool,
    troubled: bool,
}

impl Receipts {
    pub fn new(file: PathBuf) -> Self {
        Self { file, ..Self::default() }
    }

    /// Records the state of the log in a welcome.
    ///
    /// The file is left unchanged if the log is shorter than the largest head in the file, or if
    /// its keys do not begin with the keys in the file. That may be a different log, whose keys
    /// would invalidate all receipts in the file.
    pub fn record_log(&mut self, state: &LogState) {
        self.read_once();
        let Some(head) = &state.head else { return };
        let keys: Vec<_> = state.keys.iter().map(|leaf| text(leaf)).collect();
        let continues = keys.starts_with(&self.keys) && head.size >= self.longest;
        let restores = state.restores.iter().map(|entry| text(&entry.leaf)).collect();
        let line = json(&PinLine { arena_receipts: 1, keys, restores, head: head.into() });
        if continues && line != self.pin {
            self.add(&line);
        }
    }

    /// Records a report's log entry. `begun`: facts known from the match's start, if any.
    pub fn record_match(&mut self, report: &MatchReport, begun: Option<&Seat>) {
        self.read_once();
        let Some(entry) = &report.entry else { return };
        let Some(head) = &entry.head else { return };
        self.add(&json(&ReceiptLine {
            match_id: report.match_id,
            seat: report.seat,
            begin: begun,
            number: entry.number,
            leaf: text(&entry.leaf),
            head: head.into(),
            proof: entry.proof.iter().map(hex::encode).collect(),
        }));
    }

    /// Reads the file at the first call, and removes an unfinished last line, which would spoil the next line.
    fn read_once(&mut self) {
        if std::mem::replace(&mut self.read, true) {
            return;
        }
        match self.load() {
            Err(problem) if !is_missing(&*problem) => self.warn(&*problem),
            _ => {}
        }
    }

    fn load(&mut self) -> Result<(), Box<dyn Error>> {
        let content = fs::read(&self.file)?;
        let whole = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < content.len() {
            warn!("the last line of {} was not finished, and is left out", self.file.display());
            shorten_to(&self.file, whole as u64)?;
        }
        for line in text(&content[..whole]).split('\n').filter(|line| !line.is_empty()) {
            self.lines += 1;
            self.note(line)?;
        }
        Ok(())
    }

    fn note(&mut self, line: &str) -> serde_json::Result<()> {
        let known: Known = serde_json::from_str(line)?;
        self.longest = self.longest.max(known.head.size);
        if let Some(keys) = known.keys {
            (self.pin, self.keys) = (line.to_owned(), keys);
        }
        Ok(())
    }

    fn add(&mut self, line: &str) {
        let written = self.note(line).map_err(Into::into).and_then(|()| self.write(line));
        if let Err(problem) = written {
            self.warn(&problem);
        }
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.lines >= 2 * KEPT {
            self.prune()?;
        }
        append(&self.file, &format!("{line}\n"))?;
        self.lines += 1;
        Ok(())
    }

    /// Shortens the file to the newest receipts and the newest line with keys before them.
    fn prune(&mut self) -> io::Result<()> {
        let content = text(&fs::read(&self.file)?);
        let (pins, lines): (Vec<_>, Vec<_>) =
            content.split_inclusive('\n').partition(|line| line.starts_with(PIN_BEGIN));
        let pin = pins.last().into_iter();
        let kept: Vec<&str> = pin.chain(&lines[lines.len().saturating_sub(KEPT)..]).copied().collect();
        replace(&self.file, &kept.concat())?;
        self.lines = kept.len();
        Ok(())
    }

    fn warn(&mut self, problem: &dyn Error) {
        if !self.troubled {
            self.troubled = true;
            warn!("receipts cannot be kept in {} ({problem}); the bot plays on without", self.file.display());
        }
    }
}

fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("a line has texts and numbers only")
}

fn is_missing(problem: &(dyn Error + 'static)) -> bool {
    problem.downcast_ref::<io::Error>().is_some_and(|problem| problem.kind() == io::ErrorKind::NotFound)
}
