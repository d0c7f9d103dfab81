//! Alarms and their times. This module reads no clock.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    NoWelcome,
    DrainOver,
    LeaveOver,
    GoodbyeOver,
    Connect,
}

/// The alarms of one connection.
#[derive(Default)]
pub(crate) struct Alarms(Vec<(Duration, Alarm)>);

impl Alarms {
    pub fn set(&mut self, at: Duration, alarm: Alarm) {
        self.0.push((at, alarm));
    }

    pub fn call_off(&mut self, alarm: Alarm) {
        self.0.retain(|&(_, each)| each != alarm);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the time at which the next alarm is due.
    pub fn next(&self) -> Option<Duration> {
        self.0.iter().map(|&(at, _)| at).min()
    }

    /// Removes and returns the next alarm that is due.
    pub fn due(&mut self, now: Duration) -> Option<Alarm> {
        let next = self.next().filter(|&next| next <= now)?;
        let at = self.0.iter().position(|&(at, _)| at == next)?;
        Some(self.0.remove(at).1)
    }
}
