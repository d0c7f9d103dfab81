//! A bot's connection to a server: it registers once, connects, and reconnects when the connection is lost.
//!
//! Its owner reports every event with its time, and performs the effects that the connection requests. The connection
//! never waits, and gets its random numbers from the owner. Its only input and output is the token's file.

mod alarms;
mod coming_back;
mod effect;
mod leaving;
mod registering;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use log::info;
use tonic::Status;

use self::alarms::{Alarm, Alarms};
pub(crate) use self::effect::Effect;
use crate::addresses::Addresses;
use crate::answering::Delivery;
use crate::errors::{Error, Kind};
use crate::options::{Settings, Token};
use crate::session::{Progress, Session, concerns_bot};
use crate::status::{Failure, play_failure};
use crate::tokens::{NewToken, read_token};
use crate::v1::{PlayRequest, PlayResponse, Welcome};

/// Maximum time to wait for the server's answer to a registration, for its welcome and for its goodbye.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(20);
/// Maximum number of failures to diagnose before the first connection.
pub(crate) const PROBES: u32 = 3;

pub(crate) struct Connection {
    settings: Arc<Settings>,
    /// Returns a number from 0 to 1.
    chance: Box<dyn FnMut() -> f64 + Send>,
    probes: u32,
    progress: Progress,
    addresses: Addresses,
    name: String,
    attempt: u64,
    session: Option<Session>,
    number: u64,
    registering: Option<NewToken>,
    /// True if there is a stream.
    calling: bool,
    /// True if the token was known before this try.
    known: bool,
    /// True if the server has sent a welcome on this try.
    greeted: bool,
    /// True if the server has ever sent a welcome.
    reached: bool,
    leaving: bool,
    finishing: bool,
    over: bool,
    now: Duration,
    begun: Duration,
    good: Duration,
    seen: Duration,
    alarms: Alarms,
    effects: VecDeque<Effect>,
}

impl Connection {
    /// `chance` returns numbers from 0 to 1. `probes`: the number of failures to diagnose before the first connection.
    pub fn new(settings: Arc<Settings>, chance: Box<dyn FnMut() -> f64 + Send>, probes: u32) -> Self {
        Self {
            name: settings.profile.name.clone(),
            progress: Progress::new(settings.options.matches),
            addresses: Addresses::new(settings.address.clone()),
            settings,
            chance,
            probes,
            attempt: 0,
            session: None,
            number: 0,
            registering: None,
            calling: false,
            known: false,
            greeted: false,
            reached: false,
            leaving: false,
            finishing: false,
            over: false,
            now: Duration::ZERO,
            begun: Duration::ZERO,
            good: Duration::ZERO,
            seen: Duration::ZERO,
            alarms: Alarms::default(),
            effects: VecDeque::new(),
        }
    }

    /// Returns the next effect to perform.
    pub fn effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Returns the time at which `wake` is due.
    pub fn alarm(&self) -> Option<Duration> {
        self.alarms.next()
    }

    /// Connects and stays connected until the matches are played, the server ends the stream, or `end` is called.
    pub fn start(&mut self, now: Duration) {
        (self.now, self.good, self.seen) = (now, now, now);
        self.connect();
    }

    /// Performs everything that is due.
    pub fn wake(&mut self, now: Duration) {
        while self.at(now) {
            let Some(due) = self.alarms.due(now) else { return };
            match due {
                Alarm::NoWelcome => {
                    let text = format!("no welcome within {} s", ANSWER_TIME.as_secs());
                    self.fail(Failure::Dropped { text, pause: Duration::ZERO });
                }
                Alarm::DrainOver => self.drained(),
                Alarm::LeaveOver => self.finish(Ok(())),
                Alarm::GoodbyeOver => self.close(),
                Alarm::Connect => self.connect(),
            }
        }
    }

    /// Cuts the connection without notice, for the given reason.
    pub fn end(&mut self, now: Duration, why: Result<(), Error>) {
        if self.at(now) {
            self.finish(why);
        }
    }

    /// Sends a message on a session's stream, if the stream still exists.
    pub fn say(&mut self, session: u64, request: PlayRequest) {
        if !self.over && session == self.number && self.greeted {
            self.write(request);
        }
    }

    /// Handles a message from the server.
    pub fn hear(&mut self, now: Duration, attempt: u64, message: PlayResponse) {
        if !self.during(now, attempt) {
            return;
        }
        self.alarms.call_off(Alarm::NoWelcome);
        if self.finishing {
            return; // the status after a goodbye does not matter
        }
        let mut session = match self.session.take().map_or_else(|| self.greet(message.welcome.as_ref()), Ok) {
            Ok(session) => session,
            Err(refusal) => return self.finish(Err(refusal)),
        };
        let effects = &mut self.effects;
        let reply = session.receive(&mut self.progress, &message, &mut |report, seat| {
            effects.push_back(Effect::RecordMatch { report: report.clone().into(), seat });
        });
        let open = session.open.clone();
        self.session = Some(session);
        if let Some(reply) = reply {
            self.write(reply);
        }
        if message.welcome.is_some() || concerns_bot(&message) {
            let delivery = Delivery { session: self.number, open, message, received: now };
            self.effects.push_back(Effect::Deliver(delivery.into()));
        }
        if self.progress.done() {
            self.finishing = true;
            self.effects.push_back(Effect::CloseSend);
            self.after(ANSWER_TIME, Alarm::GoodbyeOver);
        }
    }

    /// Called at the end of a stream.
    pub fn ended(&mut self, now: Duration, attempt: u64, ended: &Status) {
        if !self.during(now, attempt) {
            return;
        }
        self.alarms.call_off(Alarm::NoWelcome);
        if self.finishing { self.close() } else { self.fail(play_failure(ended)) }
    }

    /// Stores the time; returns true if the connection is still open.
    fn at(&mut self, now: Duration) -> bool {
        self.now = now;
        !self.over
    }

    fn during(&mut self, now: Duration, attempt: u64) -> bool {
        self.at(now) && attempt == self.attempt
    }

    fn after(&mut self, wait: Duration, alarm: Alarm) {
        self.alarms.set(self.now + wait, alarm);
    }

    fn write(&mut self, request: PlayRequest) {
        if self.calling {
            self.effects.push_back(Effect::Write(request));
        }
    }

    fn finish(&mut self, why: Result<(), Error>) {
        self.hang_up();
        self.over = true;
        self.alarms.clear();
        self.effects.push_back(Effect::Done(why));
    }

    /// Ends the stream and connection of the current try, if any.
    fn hang_up(&mut self) {
        self.attempt += 1;
        if let Some(session) = self.session.take() {
            session.open.lose();
        }
        self.effects.push_back(Effect::HangUp);
        self.alarms.call_off(Alarm::NoWelcome);
        self.alarms.call_off(Alarm::GoodbyeOver);
        self.registering = None;
        (self.calling, self.finishing) = (false, false);
    }

    fn connect(&mut self) {
        (self.begun, self.greeted) = (self.now, false);
        let settings = self.settings.clone();
        let known = match &settings.token {
            Token::Given(token) => Ok(Some(token.clone())),
            Token::In(file) => read_token(file),
        };
        self.known = matches!(known, Ok(Some(_)));
        match (known, &settings.token) {
            (Ok(Some(token)), _) => self.converse(token),
            (Ok(None), Token::In(file)) => match NewToken::offer(file) {
                Ok(made) => self.register(made),
                Err(problem) => self.finish(Err(problem)),
            },
            (Ok(None), Token::Given(_)) => unreachable!("it was given"),
            (Err(problem), _) => self.finish(Err(problem)),
        }
    }

    /// Plays on one stream until all matches are played or the stream ends.
    fn converse(&mut self, token: String) {
        self.after(ANSWER_TIME, Alarm::NoWelcome);
        self.effects.push_back(Effect::Play { attempt: self.attempt, address: self.addresses.current.clone(), token });
        self.calling = true;
        self.write(self.progress.hello(&self.settings));
    }

    fn greet(&mut self, welcome: Option<&Welcome>) -> Result<Session, Error> {
        let none = Welcome::default();
        let welcome = welcome.unwrap_or(&none);
        let build = if welcome.build.is_empty() { String::new() } else { format!(", {}", welcome.build) };
        info!("{} is connected to {} (Arena {}{build})", welcome.bot, self.addresses.current, welcome.server);
        self.name.clone_from(&welcome.bot);
        self.addresses.list(&welcome.nodes);
        self.progress.welcomed(welcome);
        let session = Session::new(welcome, &self.settings, &self.progress)?;
        (self.greeted, self.reached) = (true, true);
        self.number += 1;
        self.effects.extend(welcome.log.clone().map(Effect::RecordLog));
        Ok(session)
    }

    /// Closes everything after a goodbye.
    fn close(&mut self) {
        let why = self.progress.parked.as_ref().map(|told| Error::new(Kind::Parked, self.parked(told)));
        self.finish(why.map_or(Ok(()), Err));
    }
}
