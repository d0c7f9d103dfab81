//! The file of receipts: the stories that all clients share, pruning, and files that cannot be used.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::corpus::{conformance, message, read};
use super::listener::{self, listen};
use crate::receipts::{KEPT, Receipts};
use crate::session::Seat;
use crate::v1::{LogEntry, LogHead, LogState, MatchReport};

#[derive(Deserialize)]
struct Story {
    title: String,
    /// True if the story also applies to a client without verification.
    without_checks: bool,
    steps: Vec<Step>,
    kept: Vec<String>,
}

#[derive(Deserialize)]
struct Step {
    #[serde(default)]
    starts: bool,
    tears: Option<u64>,
    #[serde(default)]
    shows: Value,
    reports: Option<Value>,
    says: Vec<String>,
}

/// Returns the lines logged since the last call, with `FILE` in place of the file's path.
fn said(file: &Path) -> Vec<String> {
    listener::said().iter().map(|each| each.replace(file.to_str().unwrap(), "FILE")).collect()
}

fn seat() -> Seat {
    Seat { nonce: vec![0; 16], salt: vec![0; 32], commitment: vec![0; 32] }
}

fn stories() -> Vec<Story> {
    let all: Vec<Story> = read(&conformance("vectors/receipts.json"));
    all.into_iter().filter(|story| story.without_checks).collect()
}

#[test]
fn receipts_are_those_of_the_other_clients() {
    let stories = stories();
    assert!(stories.len() > 10, "there are {} stories", stories.len());
    for story in stories {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bots/bot.receipts");
        let mut receipts = Receipts::default();
        listen();
        for (at, step) in story.steps.iter().enumerate() {
            if step.starts {
                receipts = Receipts::new(file.clone());
            } else if let Some(size) = step.tears {
                let text = fs::File::options().write(true).open(&file).unwrap();
                text.set_len(text.metadata().unwrap().len() - size).unwrap();
            } else if let Some(report) = &step.reports {
                receipts.record_match(&message("MatchReport", report), Some(&seat()));
            } else if !step.shows.is_null() {
                receipts.record_log(&message("LogState", &step.shows));
            }
            // The story's warnings only: its errors come from checks that this client does not make.
            let says: Vec<_> = step.says.iter().filter(|text| text.starts_with("warn: ")).cloned().collect();
            assert_eq!(said(&file), says, "{}: step {}", story.title, at + 1);
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(text.lines().collect::<Vec<_>>(), story.kept, "{}", story.title);
        #[cfg(unix)]
        if let Ok(about) = fs::metadata(&file) {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(about.permissions().mode() & 0o777, 0o600, "the file is for its owner only");
        }
    }
}

/// Returns a story's log of one entry, and the reported matches.
fn grown() -> (LogState, Vec<MatchReport>) {
    let steps = stories().swap_remove(0).steps;
    let shown = steps.iter().find(|step| !step.shows.is_null()).unwrap();
    let reports = steps.iter().filter_map(|step| step.reports.as_ref());
    (message("LogState", &shown.shows), reports.map(|report| message("MatchReport", report)).collect())
}

#[test]
fn a_file_that_cannot_be_used_is_said_once_and_costs_no_match() {
    let (shown, reports) = grown();
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let kept = stories().swap_remove(0).kept;
    written("file", "");
    let cases: [(PathBuf, &str); 4] = [
        (folder.path().join("file/bot.receipts"), "Not a directory"),
        (folder.path().into(), "Is a directory"),
        (written("torn", &format!("{}\n{}\n", kept[0], &kept[1][..kept[1].len() / 2])), "EOF while parsing"),
        (written("zeros", "\u{0}\u{0}\n"), "expected value"),
    ];
    for (file, why) in cases {
        let mut receipts = Receipts::new(file.clone());
        listen();
        receipts.record_log(&shown);
        for report in &reports {
            receipts.record_match(report, None);
        }
        let told = said(&file);
        assert!(told.len() == 1 && told[0].starts_with("warn: receipts cannot be kept in FILE ("), "it says {told:?}");
        assert!(told[0].contains(why) && told[0].ends_with("); the bot plays on without"), "it says {told:?}");
    }
}

#[test]
fn the_file_keeps_the_newest_and_leaves_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.receipts");
    let mut receipts = Receipts::new(file.clone());
    let (shown, _) = grown();
    receipts.record_log(&shown);
    for number in 1..=2 * KEPT as u64 + 1 {
        let head = LogHead { size: number, ..LogHead::default() };
        let entry = LogEntry { number, leaf: "<&>\u{fc}".into(), head: Some(head), proof: Vec::new() };
        let report =
            MatchReport { match_id: number, interrupted: "x".into(), entry: Some(entry), ..MatchReport::default() };
        receipts.record_match(&report, None);
    }
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!((KEPT..=KEPT + 3).contains(&lines.len()), "it keeps {} lines", lines.len());
    assert_eq!(lines[0]["head"]["size"], shown.head.unwrap().size, "the pin comes first");
    let newest = lines.last().unwrap();
    assert_eq!((&newest["match"], &newest["leaf"]), (&json!(2 * KEPT + 1), &json!("<&>\u{fc}")));
    assert!(text.contains("\"leaf\":\"<&>\u{fc}\""));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else lies there: {left:?}");
}
