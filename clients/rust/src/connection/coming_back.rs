//! Handling of a failed try: retries, or ends the run.

use std::time::Duration;

use log::warn;

use super::{Connection, Effect, alarms::Alarm};
use crate::errors::{Error, Kind};
use crate::options::{Options, Settings, Token};
use crate::status::Failure;

/// Maximum wait before the first try to reconnect.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Maximum wait between two tries while the server may just be restarting.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Time without a connection after which a restart is no longer likely.
const LONG_OUTAGE: Duration = Duration::from_secs(120);
/// Maximum wait between two tries during a long outage.
const LONGEST_OUTAGE_WAIT: Duration = Duration::from_secs(30);
/// Time without a connection to a node after which other nodes may have interrupted its matches. The bot then connects to
/// another node.
const LEASE: Duration = Duration::from_secs(15);
/// Time after which a connection counts as good, so that the next wait is the shortest again.
const STEADY: Duration = Duration::from_secs(1);

/// Returns the longest wait before the next try, given the time since the last good connection.
fn longest(outage: Duration) -> Duration {
    let limit = if outage > LONG_OUTAGE { LONGEST_OUTAGE_WAIT } else { LONGEST_WAIT };
    outage.max(FIRST_WAIT).min(limit)
}

impl Connection {
    /// Handles a failed try: ends the run, or waits for the next try.
    pub(super) fn fail(&mut self, failure: Failure) {
        if let Failure::ForGood(mut refusal) = failure {
            if let (Token::In(file), Kind::TokenRefused) = (&self.settings.token, refusal.kind)
                && self.known
                && refusal.reason != "TOKEN_REVOKED"
            {
                let remedy = "remove it to register the bot anew, and under another name if it was deleted here";
                refusal.text += &format!(" (from {}; {remedy})", file.display());
            }
            return self.finish(Err(refusal));
        }
        self.hang_up();
        if self.leaving || (self.progress.ending && self.progress.playing.is_empty()) {
            return self.finish(Ok(()));
        }
        if self.reached || self.probes == 0 {
            return self.retry(failure);
        }
        self.probes -= 1;
        self.effects.push_back(Effect::Look { attempt: self.attempt, lost: failure });
    }

    /// Handles the description of a permanent obstacle, if one was found.
    pub fn looked(&mut self, now: Duration, attempt: u64, obstacle: Option<String>, lost: Failure) {
        if !self.during(now, attempt) {
            return;
        }
        match obstacle {
            Some(obstacle) => self.finish(Err(Error::new(Kind::Unreachable, obstacle))),
            None => self.retry(lost),
        }
    }

    fn retry(&mut self, lost: Failure) {
        let Failure::Dropped { text, pause } = lost else { return };
        let now = self.now;
        if self.greeted {
            // the server can be reached, even if the stream ended at once and may do so again
            self.good = self.good.max(now.saturating_sub(LONGEST_WAIT));
            if now - self.begun > STEADY {
                self.good = now;
            }
            self.seen = now;
        }
        let address = &self.addresses.current;
        let wait = longest(now - self.good).mul_f64((self.chance)()) + pause;
        if self.settings.options.give_up_after.is_some_and(|limit| now + wait - self.seen > limit) {
            let told = format!("no connection to {address}: {text}");
            return self.finish(Err(Error::new(Kind::Unreachable, told)));
        }
        warn!("no connection to {address}: {text}; next try in {:.1} s", wait.as_secs_f64());
        if now + wait - self.seen > LEASE {
            self.addresses.next();
        }
        self.after(wait, Alarm::Connect);
    }

    /// Describes why the bot is parked, and how to un-park it.
    pub(super) fn parked(&self, told: &str) -> String {
        let Settings { address, token, options: Options { tls, tls_roots, .. }, .. } = &*self.settings;
        let why = told.split("; mend it").next().unwrap_or(told);
        let (file, end) = match token {
            Token::In(file) => (file.display().to_string(), ""),
            Token::Given(_) => ("FILE".into(), ", with its token in FILE"),
        };
        let trust = match tls_roots {
            Some(roots) => format!(" --tls-roots {}", roots.display()),
            None if *tls => " --tls".into(),
            None => String::new(),
        };
        let name = &self.name;
        format!(
            "{why}. Mend it, then un-park it: arena-bot unpark {name} --server {address} --token-file {file}{trust}{end} (arena-bot comes with the Python SDK)"
        )
    }
}
