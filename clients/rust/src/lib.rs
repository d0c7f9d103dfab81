//! Write a bot for the Arena: [`main`] gives a [`Bot`] its command line, [`run`] and [`play`] run it in a program of your own.

mod answering;
mod bot;
mod caller;
mod connection;
#[cfg(test)]
mod corpus;
mod decision;
mod errors;
mod options;
mod session;
mod status;
mod tokens;
pub mod v1;

pub use bot::{Bot, Choices, Profile, log_match_end, log_notice};
pub use decision::{
    Action, Card, Catalog, Decision, GAMES, MatchReport, MatchStart, Notice, NoticeKind, NullernView, RoundReport,
    SixthSenseView, View,
};
pub use errors::{Error, Kind};
pub use options::{DEFAULT_ADDRESS, Options};
