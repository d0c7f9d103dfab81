//! The interface that a bot author implements.

use std::path::PathBuf;

use log::{Level, info, log, warn};

use crate::decision::{Decision, MatchReport, MatchStart, Notice, NoticeKind, RoundReport, Welcome};
use crate::errors::one_line;

/// A bot's description of itself.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name of the bot: 1 to 40 letters, digits, `.`, `_` or `-`.
    pub name: String,
    /// Owner of the bot; the bot's name if empty. Bots of one owner never meet in a match.
    pub owner: String,
    /// Names of the games that the bot plays.
    pub games: Vec<String>,
    /// The number of matches that the bot plays at once.
    pub capacity: u32,
    /// Files that affect the bot's behaviour, such as weights; the version's digest covers them.
    pub files: Vec<PathBuf>,
    /// Version of the bot, at most 40 printable characters. If empty, a digest of the program's file and `files`.
    /// Each version has its own rating.
    pub version: String,
    /// Features of later versions of the protocol that the bot's own code understands; none is defined yet.
    pub features: Vec<String>,
}

impl Profile {
    /// Returns the profile of a bot that plays 8 matches at once.
    pub fn new(name: impl Into<String>, games: &[&str]) -> Self {
        let games = games.iter().map(ToString::to_string).collect();
        Self {
            name: name.into(),
            owner: String::new(),
            games,
            capacity: 8,
            files: Vec::new(),
            version: String::new(),
            features: Vec::new(),
        }
    }
}

/// Iterator over a bot's choices; `None` for a closed decision without a choice.
pub type Choices<'a> = Box<dyn Iterator<Item = Option<usize>> + 'a>;

/// A player. It is called for decisions in one thread, one call at a time.
pub trait Bot {
    /// Returns the bot's name, games and so on; called once.
    fn profile(&self) -> Profile;

    /// Chooses one of `decision.legal`.
    fn decide(&mut self, decision: &Decision) -> usize;

    /// Chooses for all open decisions at once: one action for each decision, in the same order. Use it
    /// if many decisions together are cheaper than one by one. Finished answers are sent while the
    /// iterator continues. For a [closed](Decision::closed) decision the item may be `None`.
    fn decide_many<'a>(&'a mut self, decisions: &'a [Decision]) -> Choices<'a> {
        one_by_one(self, decisions)
    }

    /// Called at the beginning of each connection, with the server's rules, its limits and the features in use.
    fn on_welcome(&mut self, _welcome: &Welcome) {}

    /// Called at the beginning of a match, with the seat and the names of all bots; called again after a reconnect.
    fn on_match_start(&mut self, _start: &MatchStart) {}

    /// Called at the end of a round; the report shows all cards.
    fn on_round(&mut self, _report: &RoundReport) {}

    /// Called at the end of a match. By default logs place, points and rating.
    fn on_match_end(&mut self, report: &MatchReport) {
        log_match_end(report);
    }

    /// Called for any other notice from the server. By default logs it, as a warning if the bot is at fault.
    fn on_notice(&mut self, notice: &Notice) {
        log_notice(notice);
    }
}

/// Asks a bot about each decision that is still open when its turn comes.
pub(crate) fn one_by_one<'a, B: Bot + ?Sized>(bot: &'a mut B, decisions: &'a [Decision]) -> Choices<'a> {
    Box::new(decisions.iter().map(|decision| (!decision.closed()).then(|| bot.decide(decision))))
}

/// Logs place, points and rating.
pub fn log_match_end(report: &MatchReport) {
    if !report.interrupted.is_empty() {
        warn!("match {} was interrupted: {}", report.match_id, report.interrupted);
        return;
    }
    let rated = report
        .rating
        .map_or(String::new(), |rating| format!(", rating {:.0} ({:+.1})", rating.after, rating.after - rating.before));
    let seat = report.seat as usize;
    match (report.places.get(seat), report.scores.get(seat)) {
        (Some(place), Some(points)) => {
            let of = report.places.len();
            info!("match {}: place {place} of {of} with {points} points{rated}", report.match_id);
        }
        _ => info!("match {} is over{rated}", report.match_id),
    }
}

/// Logs a notice.
pub fn log_notice(notice: &Notice) {
    let kind = NoticeKind::try_from(notice.kind);
    let level = match kind {
        Ok(NoticeKind::Parked) => return, // the run ends with this error, which reports it
        Ok(
            NoticeKind::Illegal
            | NoticeKind::Stale
            | NoticeKind::Unknown
            | NoticeKind::ForcedByTime
            | NoticeKind::ForcedByIllegality
            | NoticeKind::Suspended,
        ) => Level::Warn,
        _ => Level::Info,
    };
    let name = kind.map_or_else(
        |_| format!("notice {}", notice.kind),
        |kind| kind.as_str_name().trim_start_matches("NOTICE_KIND_").to_lowercase().replace('_', " "),
    );
    let place = notice.match_id.map_or("server".to_owned(), |number| format!("match {number}"));
    let which = notice.decision_id.map_or(String::new(), |number| format!(", decision {number}"));
    log!(level, "{place}{which}: {name}: {}", one_line(&notice.text));
}
