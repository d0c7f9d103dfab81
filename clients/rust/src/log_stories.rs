//! What is kept and said of a log of results: the stories that all clients share, and files that cannot be used.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::corpus::{conformance, message, read};
use crate::listener::{self, listen};
use crate::log_check::{LogChecker, Proof, Prover};
use crate::merkle::hashed;
use crate::receipts::{KEPT, Receipts};
use crate::session::Seat;
use crate::v1::{LogEntry, LogHead, LogState, MatchReport};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    title: String,
    steps: Vec<Step>,
    kept: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default)]
    starts: bool,
    tears: Option<u64>,
    #[serde(default)]
    shows: Value,
    reports: Option<Value>,
    #[serde(default)]
    proofs: Proofs,
    says: Vec<String>,
}

/// The proofs of a step, in base64, by the sizes of both logs; null where it is refused.
#[derive(Default, Deserialize)]
struct Proofs(HashMap<String, Option<Vec<Value>>>);

impl Prover for Proofs {
    async fn consistency(&self, first: u64, second: u64) -> Result<Proof, String> {
        let key = format!("{first} {second}");
        let found = self.0.get(&key).ok_or_else(|| format!("nobody else asks for {key}"))?;
        Ok(found.as_ref().map_or(Proof::Refused, |proof| {
            Proof::Given(message::<LogEntry>("LogEntry", &json!({ "proof": proof })).proof)
        }))
    }
}

async fn check(checker: &LogChecker, state: Option<LogState>, proofs: &Proofs) {
    if let Some(question) = checker.welcomed(state) {
        checker.prove(question, proofs).await.unwrap();
    }
}

/// Returns what was said since the last time, with `FILE` for a file.
fn said(file: &Path) -> Vec<String> {
    listener::said().iter().map(|each| each.replace(file.to_str().unwrap(), "FILE")).collect()
}

fn seat() -> Seat {
    Seat { nonce: vec![0; 16], salt: vec![0; 32], commitment: vec![0; 32] }
}

fn stories() -> Vec<Story> {
    read(&conformance("vectors/receipts.json"))
}

#[tokio::test]
async fn receipts_are_kept_and_what_is_wrong_is_said() {
    let stories = stories();
    assert!(stories.len() >= 14, "there are {} stories", stories.len());
    for story in stories {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bots/bot.receipts");
        let mut checker = LogChecker::new(None);
        listen();
        for (at, step) in story.steps.iter().enumerate() {
            if step.starts {
                checker = LogChecker::new(Some(file.clone()));
            } else if let Some(size) = step.tears {
                let text = fs::File::options().write(true).open(&file).unwrap();
                text.set_len(text.metadata().unwrap().len() - size).unwrap();
            } else if let Some(report) = &step.reports {
                checker.take(&message("MatchReport", report), Some(&seat()));
            } else {
                let state = (!step.shows.is_null()).then(|| message("LogState", &step.shows));
                check(&checker, state, &step.proofs).await;
            }
            assert_eq!(said(&file), step.says, "{}: step {}", story.title, at + 1);
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

/// From a story: a log of one entry is shown, three matches are reported, and a log of all four is shown.
struct Grown {
    shown: LogState,
    reports: Vec<MatchReport>,
    longer: LogState,
}

fn grown() -> Grown {
    let steps = story("A log that grows, under a key that names the next").steps;
    let shows: Vec<LogState> =
        steps.iter().filter(|step| !step.shows.is_null()).map(|step| message("LogState", &step.shows)).collect();
    let reports = steps.iter().filter_map(|step| step.reports.as_ref());
    Grown {
        shown: shows[0].clone(),
        reports: reports.map(|report| message("MatchReport", report)).collect(),
        longer: shows[1].clone(),
    }
}

#[tokio::test]
async fn a_match_that_ends_while_the_log_of_a_welcome_is_checked_is_no_part_of_it() {
    let Grown { shown, reports, longer } = grown();
    let checker = LogChecker::new(None);
    listen();
    check(&checker, Some(shown), &Proofs::default()).await;
    checker.take(&reports[0], None);
    let head = reports[1].entry.as_ref().unwrap().head.clone();
    let question = checker.welcomed(Some(LogState { head, ..longer })).unwrap();
    checker.take(&reports[2], None);
    let asked = checker.prove(question, &Proofs::default()).await;
    assert_eq!(asked.unwrap_err(), "nobody else asks for 2 3");
    assert_eq!(said(Path::new("FILE")), [""; 0]);
}

#[tokio::test]
async fn other_keys_are_not_taken_for_those_that_are_known_although_the_log_is_the_same() {
    let Grown { shown, .. } = grown();
    let head = shown.head.as_ref().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.receipts");
    let line = json!({
        "arena_receipts": 1, "keys": ["{\"key\":\"00\",\"signature\":\"\"}"], "restores": [],
        "head": {"size": head.size, "root": hex::encode(&head.root), "signature": ""},
    });
    fs::write(&file, format!("{line}\n")).unwrap();
    let checker = LogChecker::new(Some(file.clone()));
    listen();
    check(&checker, Some(shown), &Proofs::default()).await;
    let told = said(&file);
    assert!(told.len() == 1 && told[0].contains("its key is not the one that this bot knows"), "it says {told:?}");
}

fn story(title: &str) -> Story {
    stories().into_iter().find(|story| story.title == title).unwrap_or_else(|| panic!("there is no story '{title}'"))
}

#[tokio::test]
async fn a_restoration_that_is_not_in_the_log_excuses_nothing() {
    let mut steps = story("The log was restored from a backup").steps;
    let before = steps.iter().position(|step| !step.says.is_empty()).unwrap();
    let step = steps.remove(before);
    let state: LogState = message("LogState", &step.shows);
    let untouched = &state.restores[0];
    let proofless = LogEntry { proof: Vec::new(), ..untouched.clone() };
    let leaf: Vec<u8> = r#"{"kind":"restore","size":0,"at":0}"#.into();
    let alone = LogHead { size: 1, root: hashed(&[&[0], &leaf]), signature: Vec::new() };
    let elsewhere = LogEntry { number: 1, leaf, head: Some(alone), proof: Vec::new() };
    for (restored, told) in [
        (untouched.clone(), "warn: the server was restored from a backup on "),
        (proofless, "error: THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: it does not begin with the "),
        (elsewhere, "error: THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: it does not begin with the "),
    ] {
        let checker = LogChecker::new(None);
        listen();
        for step in &steps[..before] {
            if let Some(report) = &step.reports {
                checker.take(&message("MatchReport", report), None);
            } else if !step.starts {
                check(&checker, Some(message("LogState", &step.shows)), &step.proofs).await;
            }
        }
        check(&checker, Some(LogState { restores: vec![restored], ..state.clone() }), &step.proofs).await;
        let said = listener::said();
        assert!(said.len() == 1 && said[0].starts_with(told), "it says {said:?}");
    }
}

#[test]
fn of_a_match_that_was_interrupted_only_its_number_is_compared() {
    for (title, told) in [("A report's points are not its leaf's", 0), ("A report's match is not its leaf's", 1)] {
        let report: MatchReport = message("MatchReport", story(title).steps[1].reports.as_ref().unwrap());
        listen();
        LogChecker::new(None).take(&MatchReport { interrupted: "by a test".into(), ..report }, None);
        assert_eq!(listener::said().len(), told, "{title}");
    }
}

#[test]
fn what_lies_beyond_a_cut_is_told_once() {
    let Grown { shown, reports, .. } = grown();
    let mut receipts = Receipts::new(None);
    reports.iter().for_each(|report| receipts.take(report, None));
    assert_eq!(receipts.beyond(2), [2, 3]);
    receipts.pin_to(&shown, Some(2));
    assert!(receipts.beyond(2).is_empty());
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_said_once_and_the_log_is_checked_all_the_same() {
    let Grown { shown, reports, longer } = grown();
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
        let checker = LogChecker::new(Some(file.clone()));
        listen();
        check(&checker, Some(shown.clone()), &Proofs::default()).await;
        for report in &reports {
            checker.take(report, None);
        }
        check(&checker, Some(longer.clone()), &Proofs::default()).await;
        let told = said(&file);
        assert!(told.len() == 1 && told[0].starts_with("warn: receipts cannot be kept in FILE ("), "it says {told:?}");
        assert!(told[0].contains(why) && told[0].ends_with("); the bot plays on without"), "it says {told:?}");
        check(&checker, None, &Proofs::default()).await;
        let told = said(&file);
        assert!(told.len() == 1 && told[0].starts_with("error: THE SERVER'S LOG OF RESULTS"), "it says {told:?}");
    }
}

#[test]
fn the_file_keeps_the_newest_and_leaves_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.receipts");
    let checker = LogChecker::new(Some(file.clone()));
    listen();
    let Grown { shown, .. } = grown();
    assert!(checker.welcomed(Some(shown.clone())).is_none());
    for number in 1..=2 * KEPT as u64 + 1 {
        let head = LogHead { size: number, ..LogHead::default() };
        let entry = LogEntry { number, leaf: "<&>\u{fc}".into(), head: Some(head), proof: Vec::new() };
        let report =
            MatchReport { match_id: number, interrupted: "x".into(), entry: Some(entry), ..MatchReport::default() };
        checker.take(&report, None);
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
