//! Permanent errors. After any other error, such as a lost network, the client retries.

use std::{fmt, io, path::Path};

/// Kind of a permanent error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An argument is invalid, for example a file that cannot be read.
    BadArgument,
    /// The bot's code returned an invalid answer.
    BadAnswer,
    /// The bot's code panicked.
    BotFailed,
    /// The server does not know the token.
    TokenRefused,
    /// Another bot on this server already has this name.
    NameTaken,
    /// The server does not accept the name of the bot or of its owner.
    NameNotAllowed,
    /// The server registers new bots only by invitation, or does not accept this invitation.
    InvitationNeeded,
    /// The server plays none of the bot's games.
    NoGameInCommon,
    /// The other side is not an Arena server, or is newer than this client.
    ProtocolMismatch,
    /// The same bot connected from somewhere else; only the newest connection continues.
    TakenOver,
    /// The server ended the connection for a permanent reason.
    Refused,
    /// The bot gets no seats until it is un-parked.
    Parked,
    /// There was no connection for too long, or no connection is possible at this address.
    Unreachable,
}

/// Error that ends a run, because the bot cannot continue. Its text gives the cause and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    pub kind: Kind,
    pub text: String,
    /// The server's machine-readable reason, such as `OWNER_BANNED`; empty without one.
    pub reason: String,
}

impl Error {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), reason: String::new() }
    }

    pub(crate) fn bad_argument(text: impl Into<String>) -> Self {
        Self::new(Kind::BadArgument, text)
    }

    pub(crate) fn unusable(file: &Path, problem: &io::Error) -> Self {
        Self::bad_argument(format!("the file {} cannot be used: {problem}", file.display()))
    }

    /// Returns the program's exit status: 1 error in the bot, 2 wrong command line, 3 refusal, 4 no server reached.
    pub fn status(&self) -> u8 {
        match self.kind {
            Kind::BadAnswer | Kind::BotFailed => 1,
            Kind::BadArgument => 2,
            Kind::Unreachable => 4,
            _ => 3,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// Returns a text in one line.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    if words.is_empty() { "no reason given".into() } else { words.join(" ") }
}
