//! Interpretation of a call's end: a permanent refusal, or a reason to try again.

use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::{StatusExt, pb};

use crate::errors::{Error, Kind, one_line};

/// Reason why a try ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    ForGood(Error),
    /// The connection is lost or was never open. Another try may succeed, after the usual wait plus `pause`.
    Dropped {
        text: String,
        pause: Duration,
    },
}

/// The statuses after which another try may succeed. All other statuses with a reason are final.
const COME_BACK: [Code; 3] = [Code::Unavailable, Code::ResourceExhausted, Code::DeadlineExceeded];

/// The statuses that are final even without a reason, in addition to those with their own errors.
const FINAL: [Code; 3] = [Code::InvalidArgument, Code::PermissionDenied, Code::FailedPrecondition];

/// Maximum pause that a server may request, in nanoseconds. A longer pause must be a mistake.
const LONGEST_PAUSE: i128 = 3600 * 1_000_000_000;

fn reason_of(ended: &Status) -> String {
    ended.get_details_error_info().map(|info| info.reason).unwrap_or_default()
}

fn dropped(text: String, ended: &Status) -> Failure {
    Failure::Dropped { text, pause: pause(ended).unwrap_or_default() }
}

/// Reads `RetryInfo` from the bytes, because tonic-types and prost-types panic on some negative delays.
fn pause(ended: &Status) -> Option<Duration> {
    let details = pb::Status::decode(ended.details()).ok()?.details;
    let retry = details.iter().find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = pb::RetryInfo::decode(&retry.value[..]).ok()?.retry_delay?;
    let nanos = i128::from(delay.seconds) * 1_000_000_000 + i128::from(delay.nanos);
    Some(Duration::from_nanos(nanos.clamp(0, LONGEST_PAUSE) as u64))
}

/// Returns the failure for the end of a stream.
pub(crate) fn play_failure(ended: &Status) -> Failure {
    let (reason, text) = (reason_of(ended), one_line(ended.message()));
    if ended.code() == Code::Ok {
        return dropped("the server closed the connection".into(), ended);
    }
    let own = ended.code() == Code::ResourceExhausted && reason.is_empty(); // raised by gRPC in this process
    if COME_BACK.contains(&ended.code()) && !own {
        let why = if reason.is_empty() { format!("{:?}", ended.code()) } else { reason };
        return dropped(format!("{text} ({why})"), ended);
    }
    let (kind, text) = match (ended.code(), reason.as_str()) {
        _ if own => {
            (Kind::ProtocolMismatch, format!("a message from the server is larger than this client accepts: {text}"))
        }
        (_, "TAKEN_OVER") => (Kind::TakenOver, format!("the bot is connected from somewhere else: {text}")),
        (_, "NO_SUCH_GAME") => (Kind::NoGameInCommon, text),
        (_, "NO_CASUAL") => (Kind::Refused, format!("{text}; leave out `casual` (--casual) for rated matches")),
        (Code::Unauthenticated, _) => (Kind::TokenRefused, format!("the server refuses the token: {text}")),
        (Code::Unimplemented, _) => {
            let mismatch = "this is no Arena server, or it speaks another version of the protocol";
            (Kind::ProtocolMismatch, format!("{mismatch}: {text}"))
        }
        (code, "") if !FINAL.contains(&code) => {
            return dropped(format!("{text} ({code:?})"), ended);
        }
        _ => (Kind::Refused, format!("the server refuses the bot: {text}")),
    };
    Failure::ForGood(Error { kind, text, reason })
}

/// Returns the failure for a failed registration.
pub(crate) fn registration_failure(ended: &Status) -> Failure {
    let (reason, text) = (reason_of(ended), one_line(ended.message()));
    let (kind, text) = match ended.code() {
        Code::AlreadyExists => {
            let remedy = "If the bot is yours, give its token or token file; if it was deleted, or is not yours, register under another name";
            (Kind::NameTaken, format!("{text}. {remedy}"))
        }
        Code::InvalidArgument if reason == "TOKEN_NOT_ALLOWED" => (Kind::TokenRefused, text),
        Code::InvalidArgument => (Kind::NameNotAllowed, text),
        Code::PermissionDenied if reason != "OWNER_BANNED" => (Kind::InvitationNeeded, text),
        _ => return play_failure(ended),
    };
    Failure::ForGood(Error { kind, text, reason })
}
