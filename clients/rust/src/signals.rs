//! The signals with which a user stops a program.

use std::time::Duration;

use crate::errors::Error;
#[cfg(unix)]
use crate::options::DRAIN_TERMINATED;

/// Receiver of SIGINT and SIGTERM.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    pub fn new() -> Result<Self, Error> {
        use tokio::signal::unix::{SignalKind, signal};
        let heard =
            |kind| signal(kind).map_err(|problem| Error::bad_argument(format!("signals cannot be handled: {problem}")));
        Ok(Self { interrupt: heard(SignalKind::interrupt())?, terminate: heard(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    pub fn new() -> Result<Self, Error> {
        Ok(Self {})
    }

    /// Waits for the next signal; returns the time for finishing matches after it.
    #[cfg(unix)]
    pub async fn next(&mut self, limit: Duration) -> Duration {
        tokio::select! {
            _ = self.interrupt.recv() => limit,
            _ = self.terminate.recv() => limit.min(DRAIN_TERMINATED),
        }
    }

    #[cfg(not(unix))]
    pub async fn next(&mut self, limit: Duration) -> Duration {
        match tokio::signal::ctrl_c().await {
            Ok(()) => limit,
            Err(_) => std::future::pending().await,
        }
    }
}
