//! Ending a bot's run: at once, or when its matches are finished.

use std::time::Duration;

use log::info;

use super::{Connection, Effect, alarms::Alarm};
use crate::v1::PlayRequest;

/// Maximum time to wait for the server to end the stream of a bot that leaves in the middle of matches.
const LEAVE_TIME: Duration = Duration::from_secs(2);

impl Connection {
    /// Starts no more matches and finishes the current ones; after `limit`, leaves the rest.
    pub fn drain(&mut self, now: Duration, limit: Duration) {
        if !self.at(now) {
            return;
        }
        self.progress.ending = true;
        let left = self.progress.begun();
        if left == 0 {
            return self.finish(Ok(()));
        }
        info!(
            "finishing {} within {:.0} s, and beginning no more; once more, and it leaves at once: house bots play them on, and \
             each counts as a last place",
            matches(left),
            limit.as_secs_f64()
        );
        self.write(PlayRequest { capacity: Some(0), ..PlayRequest::default() });
        self.after(limit, Alarm::DrainOver);
    }

    /// Sends `leave` if the bot is playing or about to play; the server then ends the stream.
    pub fn leave(&mut self, now: Duration) {
        if self.at(now) {
            self.leave_now();
        }
    }

    /// Called when the time for finishing matches has passed.
    pub(super) fn drained(&mut self) {
        self.leave_now();
        self.effects.push_back(Effect::Hurry);
    }

    fn leave_now(&mut self) {
        let left = self.progress.begun();
        if !self.calling || left == 0 {
            return self.finish(Ok(()));
        }
        if self.leaving {
            return;
        }
        self.leaving = true;
        let told = "house bots play them on, and each counts as a last place";
        info!("leaving {} in order: {told}", matches(left));
        self.write(PlayRequest { leave: true, ..PlayRequest::default() });
        self.after(LEAVE_TIME, Alarm::LeaveOver);
    }
}

fn matches(count: usize) -> String {
    if count == 1 { "1 match".into() } else { format!("{count} matches") }
}
