//! Captures the log lines of a test's thread.

use std::{cell::RefCell, sync::Once};

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    /// Lines logged in the thread of a test.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Listener;

impl Log for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &Record<'_>) {
        let told = format!("{}: {}", record.level().as_str().to_lowercase(), record.args());
        SAID.with_borrow_mut(|said| said.push(told));
    }
    fn flush(&self) {}
}

/// Starts to capture the log.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Listener).unwrap();
        log::set_max_level(LevelFilter::Trace);
    });
    SAID.take();
}

/// Returns the lines logged since the last call.
pub(crate) fn said() -> Vec<String> {
    SAID.take()
}
