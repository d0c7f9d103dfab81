//! Effects that a connection requests; this module performs none of them.

use crate::answering::Delivery;
use crate::errors::Error;
use crate::session::Seat;
use crate::status::Failure;
use crate::v1::{LogState, MatchReport, PlayRequest, RegisterBotRequest};

/// An effect to perform. Attempts to connect are numbered. So are sessions: each stream has one.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Register at an address within `ANSWER_TIME` and pass the answer to `registered`.
    Register { attempt: u64, address: String, request: RegisterBotRequest },
    /// Open a stream to an address. Pass its messages to `hear`, and its end to `ended`.
    Play { attempt: u64, address: String, token: String },
    /// Send a message on the stream.
    Write(PlayRequest),
    /// Close the bot's side of the stream.
    CloseSend,
    /// Drop stream and connection, if any.
    HangUp,
    /// Pass a message from the server to the bot. A session's first message contains the welcome.
    Deliver(Box<Delivery>),
    /// Stop calling the bot, because no time is left.
    Hurry,
    /// Record the state of the log of results that a welcome contains.
    RecordLog(LogState),
    /// Record a report's log entry, with the facts from the match's start.
    RecordMatch { report: Box<MatchReport>, seat: Option<Seat> },
    /// Look for a permanent obstacle and report it to `looked`.
    Look { attempt: u64, lost: Failure },
    /// The connection has ended. Sent once.
    Done(Result<(), Error>),
}
