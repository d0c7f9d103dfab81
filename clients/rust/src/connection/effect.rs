//! What a connection says is to be done. It does nothing itself.

use std::time::Duration;

use crate::errors::Error;
use crate::session::Seat;
use crate::status::Failure;
use crate::v1::{LogState, MatchReport, PlayRequest, PlayResponse, RegisterBotRequest};

/// What is to be done. Tries to connect are numbered, and so are sessions, one a stream.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Register within `ANSWER_TIME`; the answer goes to `registered`.
    Register { attempt: u64, request: RegisterBotRequest },
    /// Open a stream; what comes of it goes to `hear` and `ended`.
    Play { attempt: u64, token: String },
    /// Say something on the stream.
    Write(PlayRequest),
    /// Close the bot's side of the stream.
    CloseSend,
    /// Give up stream and connection, if there are any.
    HangUp,
    /// Give a message of the server to the bot; the first of a session has the welcome.
    Deliver { session: u64, message: Box<PlayResponse>, received: Duration },
    /// A session is over; the next one repeats its open decisions.
    Over { session: u64 },
    /// No time is left, and the bot must not be called any more.
    Hurry,
    /// Record the log of results that a welcome shows.
    RecordLog(LogState),
    /// Record a report's entry of the log, and what is known from the match's beginning.
    RecordMatch { report: Box<MatchReport>, seat: Option<Seat> },
    /// Look for a permanent obstacle; it goes to `looked`.
    Look { attempt: u64, lost: Failure },
    /// The end, once.
    Done(Result<(), Error>),
}
