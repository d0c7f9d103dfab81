//! Write a bot for the Arena: [`main`] gives a [`Bot`] its command line, [`run`] and [`play`] run it inside your own program.

#[cfg(test)]
extern crate self as arena_client;

mod addresses;
mod answering;
mod bot;
mod caller;
mod command;
mod connection;
mod decision;
mod errors;
mod network;
pub mod nullern;
mod open_decisions;
mod options;
mod private_file;
mod probe;
mod receipt_lines;
mod receipts;
mod running;
mod session;
mod signals;
pub mod sixth_sense;
mod status;
#[cfg(test)]
mod tests;
mod tokens;
pub mod v1;

pub use bot::{Bot, Choices, Profile, log_match_end, log_notice};
pub use command::{main, told};
pub use decision::{
    Action, Card, Catalog, Conduct, Decision, GAMES, MatchReport, MatchStart, Notice, NoticeKind, NullernView,
    RoundReport, SixthSenseView, View, Welcome, conduct_of,
};
pub use errors::{Error, Kind};
pub use options::{DEFAULT_ADDRESS, Options};
pub use prost_types::Any;
pub use running::{play, run};
