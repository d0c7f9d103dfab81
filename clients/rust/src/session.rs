//! The part of a stream's conversation that does not involve the bot: it receives and returns
//! messages, without waiting, input or output.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use log::info;
use ring::rand::{SecureRandom, SystemRandom};
use serde::Serialize;

use crate::errors::{Error, Kind};
use crate::open_decisions::OpenDecisions;
use crate::options::Settings;
use crate::v1::{
    EventEntry, Hello, Invitation, MatchKind, MatchReport, MatchStart, NoticeKind, PlayRequest, PlayResponse, Ready,
    Welcome,
};

/// Facts about a match that a bot knows from its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Seat {
    /// The bot's random bytes for the deal; empty if an earlier run of the program sent them.
    #[serde(with = "hex")]
    pub nonce: Vec<u8>,
    #[serde(with = "hex")]
    pub salt: Vec<u8>,
    #[serde(with = "hex")]
    pub commitment: Vec<u8>,
}

/// State that outlives a stream: the number of matches to play, and the matches in progress.
#[derive(Default)]
pub(crate) struct Progress {
    /// The number of matches to play; 0 for no limit.
    wanted: u64,
    finished: u64,
    /// The matches that have begun.
    pub playing: BTreeSet<u64>,
    /// The bot's random bytes for the deal, for each accepted invitation whose match has not begun.
    accepted: BTreeMap<u64, Vec<u8>>,
    /// The known facts of the matches that have begun.
    seats: BTreeMap<u64, Seat>,
    /// The leaf number of the last received report, at first the log's size; for the next hello.
    reports_after: Option<u64>,
    /// True if no more matches may begin, regardless of `wanted`.
    pub ending: bool,
    /// The server's reason for parking the bot.
    pub parked: Option<String>,
}

impl Progress {
    pub fn new(wanted: u64) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Returns the number of matches that are running or about to begin.
    pub fn begun(&self) -> usize {
        self.playing.len() + self.accepted.len()
    }

    fn more(&self) -> bool {
        !self.ending && (self.wanted == 0 || self.finished + (self.begun() as u64) < self.wanted)
    }

    /// Returns the number of simultaneous matches that are possible with a capacity.
    fn room(&self, capacity: u32) -> u32 {
        if self.ending {
            0
        } else if self.wanted == 0 {
            capacity
        } else {
            u32::try_from(self.wanted.saturating_sub(self.finished)).unwrap_or(u32::MAX).min(capacity)
        }
    }

    /// Returns true if the bot has no more matches to play.
    pub fn done(&self) -> bool {
        !self.more() && self.begun() == 0
    }

    /// Handles the welcome of a new connection. Forgets the state that the server sends again:
    /// invitations and running matches. When a run is ending, its running matches are not
    /// forgotten: each gets its report or begins again.
    pub fn welcomed(&mut self, welcome: &Welcome) {
        if let Some(head) = welcome.log.as_ref().and_then(|log| log.head.as_ref()) {
            self.reports_after = Some(self.reports_after.map_or(head.size, |number| number.min(head.size)));
        }
        if !self.ending {
            self.playing.clear();
        }
        self.accepted.clear();
    }

    /// Returns the first message of a stream.
    pub fn hello(&self, settings: &Settings) -> PlayRequest {
        let hello = Hello {
            games: settings.profile.games.clone(),
            capacity: self.room(settings.profile.capacity),
            client: concat!("arena-client-rust ", env!("CARGO_PKG_VERSION")).into(),
            version: settings.profile.version.clone(),
            casual: settings.options.casual,
            challenges: settings.options.challenges,
            features: settings.profile.features.clone(),
            ladders: settings.ladders.clone(),
            events: settings
                .events
                .iter()
                .map(|event| EventEntry { event: event.clone(), nonce: own_chance() })
                .collect(),
            reports_after: self.reports_after,
            ..Hello::default()
        };
        PlayRequest { hello: Some(hello), ..PlayRequest::default() }
    }
}

/// One stream, beginning with the welcome.
pub(crate) struct Session {
    pub open: Arc<OpenDecisions>,
    capacity: u32,
    /// Lower-case names of the bots whose challenges the bot accepts; `None` for all bots.
    challengers: Option<BTreeSet<String>>,
    /// The capacity last sent to the server; `None` if it must be sent again.
    room: Option<u32>,
}

impl Session {
    /// Returns the session after a welcome. Fails with `NoGameInCommon`, or with `ProtocolMismatch`
    /// if the server does not confirm the bot's ladders and events.
    pub fn new(welcome: &Welcome, settings: &Settings, progress: &Progress) -> Result<Self, Error> {
        let confirmed = |name: &String| welcome.ladders.iter().any(|ladder| ladder.name == *name);
        if let Some(name) = settings.ladders.iter().find(|name| !confirmed(name)) {
            let text = format!("the server does not confirm the ladder {name}: it is older than ladders; name none");
            return Err(Error::new(Kind::ProtocolMismatch, text));
        }
        if let Some(name) = settings.events.iter().find(|name| !welcome.events.contains(name)) {
            let text = format!("the server does not confirm the event {name}: it is older than events; name none");
            return Err(Error::new(Kind::ProtocolMismatch, text));
        }
        if !welcome.games.iter().any(|game| settings.profile.games.contains(&game.name)) {
            let text = format!("the server plays none of the bot's games ({})", settings.profile.games.join(", "));
            return Err(Error::new(Kind::NoGameInCommon, text));
        }
        let room = Some(progress.room(settings.profile.capacity));
        let open = Arc::default();
        Ok(Self { open, capacity: settings.profile.capacity, challengers: settings.challengers.clone(), room })
    }

    /// Applies a message; returns an immediate reply, if any.
    ///
    /// `keep` receives each report that has an entry in the log of results, and the facts from the match's start.
    pub fn receive(
        &mut self,
        progress: &mut Progress,
        message: &PlayResponse,
        keep: &mut dyn FnMut(&MatchReport, Option<Seat>),
    ) -> Option<PlayRequest> {
        let mut reply = PlayRequest { heartbeat: message.heartbeat, ..PlayRequest::default() };
        self.open.receive(message);
        progress.playing.extend(message.decisions.iter().map(|decision| decision.match_id));
        for invitation in &message.invitations {
            self.invited(progress, invitation, &mut reply);
        }
        for start in &message.starts {
            started(progress, start);
        }
        for report in &message.reports {
            let seat = over(progress, report);
            if report.entry.is_some() {
                keep(report, seat);
            }
        }
        for notice in &message.notices {
            match notice.kind() {
                NoticeKind::Withdrawn | NoticeKind::Taken => {
                    progress.accepted.remove(&notice.invitation_id()); // this invitation leads to no match
                }
                NoticeKind::Parked => {
                    progress.parked = Some(notice.text.clone());
                    progress.ending = true;
                }
                _ => {}
            }
        }
        let room = progress.room(self.capacity);
        if self.room.is_none_or(|known| room > known) {
            self.room = Some(room);
            reply.capacity = Some(room);
        }
        (reply != PlayRequest::default()).then_some(reply)
    }

    fn invited(&mut self, progress: &mut Progress, invitation: &Invitation, reply: &mut PlayRequest) {
        let number = invitation.invitation_id;
        if invitation.kind() == MatchKind::Challenge && !self.takes(invitation) {
            reply.declined.push(number);
        } else if progress.accepted.contains_key(&number) || progress.more() {
            let nonce = own_chance();
            progress.accepted.insert(number, nonce.clone());
            reply.ready.push(Ready { invitation_id: number, nonce });
        } else {
            reply.declined.push(number);
            self.room = None;
        }
    }

    /// Decides whether to accept a challenge, and logs it.
    fn takes(&self, invitation: &Invitation) -> bool {
        let taken = self
            .challengers
            .as_ref()
            .is_none_or(|named| invitation.bots.iter().any(|bot| named.contains(&bot.to_lowercase())));
        let answer = if taken { "accepted" } else { "declined" };
        info!("a challenge of {}: {answer}", invitation.bots.join(", "));
        taken
    }
}

fn started(progress: &mut Progress, start: &MatchStart) {
    let nonce = progress.accepted.remove(&start.invitation_id).unwrap_or_default();
    progress.playing.insert(start.match_id);
    if progress.seats.get(&start.match_id).is_none_or(|before| before.commitment != start.commitment) {
        let seat = Seat { nonce, salt: start.salt.clone(), commitment: start.commitment.clone() };
        progress.seats.insert(start.match_id, seat);
    }
}

/// Records the end of a match; returns the facts known from its start, if any.
fn over(progress: &mut Progress, report: &MatchReport) -> Option<Seat> {
    progress.playing.remove(&report.match_id);
    if let Some(entry) = &report.entry {
        progress.reports_after = Some(entry.number);
    }
    if report.interrupted.is_empty() {
        progress.finished += 1;
    }
    progress.seats.remove(&report.match_id)
}

/// Returns the bot's random bytes for a deal or for an event's draw.
fn own_chance() -> Vec<u8> {
    let mut nonce = vec![0; 16];
    SystemRandom::new().fill(&mut nonce).expect("the operating system has chance");
    nonce
}

/// Returns true if any part of a message is for the bot itself.
pub(crate) fn concerns_bot(message: &PlayResponse) -> bool {
    !(message.decisions.is_empty()
        && message.starts.is_empty()
        && message.rounds.is_empty()
        && message.reports.is_empty()
        && message.notices.is_empty())
}
