//! The open decisions of one stream, which the connection writes and the bot's thread reads.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard},
};

use crate::v1::PlayResponse;

/// Maximum number of ended matches to remember; their messages may still be waiting for the bot.
const MOST_ENDED: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct OpenDecisions(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Pairs of match and decision.
    open: BTreeSet<(u64, u32)>,
    /// The latest matches that ended.
    ended: VecDeque<u64>,
    /// True if the stream has ended. The next stream repeats its open decisions.
    lost: bool,
}

impl OpenDecisions {
    /// Applies a message from the server.
    pub fn receive(&self, message: &PlayResponse) {
        let mut state = self.state();
        for closed in &message.closed {
            state.open.remove(&(closed.match_id, closed.decision_id));
        }
        for report in &message.reports {
            state.open.retain(|&(match_id, _)| match_id != report.match_id);
            if state.ended.len() == MOST_ENDED {
                state.ended.pop_front();
            }
            state.ended.push_back(report.match_id);
        }
        state.open.extend(message.decisions.iter().map(|decision| (decision.match_id, decision.decision_id)));
    }

    /// Records that the stream has ended.
    pub fn lose(&self) {
        self.state().lost = true;
    }

    pub fn lost(&self) -> bool {
        self.state().lost
    }

    pub fn contains(&self, match_id: u64, decision_id: u32) -> bool {
        self.state().open.contains(&(match_id, decision_id))
    }

    /// Returns true if a match is still running on this stream, as far as the client knows.
    pub fn plays(&self, match_id: u64) -> bool {
        let state = self.state();
        !state.lost && !state.ended.contains(&match_id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no thread panics while it holds this lock")
    }
}
