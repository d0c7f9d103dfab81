//! A bot's life on a server: it registers once, connects, and connects again when the connection is lost.
//!
//! It is told what happens, with the time, and says by effects what is to be done. It waits for nothing and moves no bytes;
//! chance comes from outside, and the disk has its token only.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use log::{info, warn};
use tonic::Status;

use crate::errors::{Error, Kind};
use crate::options::{Settings, Token};
use crate::session::{Progress, Seat, Session, concerns_bot};
use crate::status::{Failure, play_failure, registration_failure};
use crate::tokens::{NewToken, read_token};
use crate::v1::{LogState, MatchReport, PlayRequest, PlayResponse, RegisterBotRequest, RegisterBotResponse, Welcome};

/// What the server has for a registration, for its welcome and for its goodbye.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(20);
/// The longest wait before the first try to come back.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest between two tries while the server may only be starting again.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The time without a connection after which that is no longer likely.
const LONG_OUTAGE: Duration = Duration::from_secs(120);
/// The longest between two tries after that.
const LONGEST_OUTAGE_WAIT: Duration = Duration::from_secs(30);
/// What the server has to take leave of a bot that stops in the middle of matches.
const LEAVE_TIME: Duration = Duration::from_secs(2);
/// The time after which a connection counts as a good one, and the waits begin anew.
const STEADY: Duration = Duration::from_secs(1);
/// The failures at most that are looked into before there was any connection.
pub(crate) const PROBES: u32 = 3;

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
    /// What a session asked is asked again by the next one.
    Over { session: u64 },
    /// There is no time left, and the bot is to be called no more.
    Hurry,
    /// Check the log of results that a welcome shows, `None` where it shows none.
    CheckLog(Option<LogState>),
    /// Keep what a report says of the log, and what is known from the match's beginning.
    Keep { report: Box<MatchReport>, seat: Option<Seat> },
    /// Look for what is in the way for good; it goes to `looked`.
    Look { attempt: u64, lost: Failure },
    /// The end, once.
    Done(Result<(), Error>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    NoWelcome,
    DrainOver,
    LeaveOver,
    GoodbyeOver,
    Connect,
}

pub(crate) struct Connection {
    settings: Arc<Settings>,
    /// Returns a number from 0 to 1.
    chance: Box<dyn FnMut() -> f64 + Send>,
    probes: u32,
    progress: Progress,
    name: String,
    attempt: u64,
    session: Option<Session>,
    number: u64,
    registering: Option<NewToken>,
    /// Whether there is a stream.
    calling: bool,
    /// Whether the token of this try was known before it.
    known: bool,
    /// Whether there was a welcome on this try, and whether there ever was.
    greeted: bool,
    reached: bool,
    leaving: bool,
    finishing: bool,
    over: bool,
    now: Duration,
    begun: Duration,
    good: Duration,
    seen: Duration,
    alarms: Vec<(Duration, Alarm)>,
    effects: VecDeque<Effect>,
}

/// Returns the longest wait before the next try, so long after the last good connection.
fn longest(outage: Duration) -> Duration {
    let limit = if outage > LONG_OUTAGE { LONGEST_OUTAGE_WAIT } else { LONGEST_WAIT };
    outage.max(FIRST_WAIT).min(limit)
}

impl Connection {
    /// `chance` returns numbers from 0 to 1; so many failures before the first connection are looked into.
    pub fn new(settings: Arc<Settings>, chance: Box<dyn FnMut() -> f64 + Send>, probes: u32) -> Self {
        Self {
            name: settings.name.clone(),
            progress: Progress::new(settings.matches),
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
            alarms: Vec::new(),
            effects: VecDeque::new(),
        }
    }

    /// Returns what is to be done next.
    pub fn effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Returns when `wake` is due.
    pub fn alarm(&self) -> Option<Duration> {
        self.alarms.iter().map(|&(at, _)| at).min()
    }

    /// Connects, and stays until the matches wanted are played, the server has taken leave, or `end`.
    pub fn start(&mut self, now: Duration) {
        (self.now, self.good, self.seen) = (now, now, now);
        self.connect();
    }

    /// Does what is due.
    pub fn wake(&mut self, now: Duration) {
        while self.at(now) {
            let Some(due) = self.alarm().filter(|&due| due <= now) else { return };
            let at = self.alarms.iter().position(|&(at, _)| at == due).expect("one is due");
            match self.alarms.remove(at).1 {
                Alarm::NoWelcome => {
                    let text = format!("no welcome within {} s", ANSWER_TIME.as_secs());
                    self.fail(Failure::Dropped { text, pause: Duration::ZERO });
                }
                Alarm::DrainOver => {
                    self.leave_now();
                    self.effects.push_back(Effect::Hurry);
                }
                Alarm::LeaveOver => self.finish(Ok(())),
                Alarm::GoodbyeOver => self.close(),
                Alarm::Connect => self.connect(),
            }
        }
    }

    /// Begins no more matches and finishes those that go on; leaves what is left after a while.
    pub fn drain(&mut self, now: Duration, limit: Duration) {
        if !self.at(now) {
            return;
        }
        self.progress.ending = true;
        let left = self.progress.begun();
        if left == 0 {
            return self.finish(Ok(()));
        }
        info!(
            "finishing {} within {:.0} s, and beginning no more; once more, and it leaves at once: house bots play them on, and \
             each counts as a last place",
            matches(left),
            limit.as_secs_f64()
        );
        self.write(PlayRequest { capacity: Some(0), ..PlayRequest::default() });
        self.after(limit, Alarm::DrainOver);
    }

    /// Tells the server that the bot leaves, if it plays or is about to; the server then ends the stream.
    pub fn leave(&mut self, now: Duration) {
        if self.at(now) {
            self.leave_now();
        }
    }

    /// Ends it without a word, for that reason.
    pub fn end(&mut self, now: Duration, why: Result<(), Error>) {
        if self.at(now) {
            self.finish(why);
        }
    }

    /// Has something said on a session's stream, if it is still there.
    pub fn say(&mut self, session: u64, request: PlayRequest) {
        if !self.over && session == self.number && self.greeted {
            self.write(request);
        }
    }

    /// Is told what a registration came to.
    pub fn registered(&mut self, now: Duration, attempt: u64, answer: Result<RegisterBotResponse, Status>) {
        let Some(made) = self.during(now, attempt).then(|| self.registering.take()).flatten() else { return };
        match answer {
            Ok(answer) => match made.keep(&answer.token) {
                Ok(()) => {
                    let kept = made.file().display();
                    info!("registered {} at {}; its token is in {kept}", answer.name, self.settings.address);
                    self.converse(answer.token);
                }
                Err(problem) => self.finish(Err(problem)),
            },
            Err(ended) => {
                let failure = registration_failure(&ended);
                if matches!(failure, Failure::ForGood(_)) {
                    made.discard();
                }
                self.fail(failure);
            }
        }
    }

    /// Is told a message of the server.
    pub fn hear(&mut self, now: Duration, attempt: u64, message: PlayResponse) {
        if !self.during(now, attempt) {
            return;
        }
        self.call_off(Alarm::NoWelcome);
        if self.finishing {
            return; // whatever is said to a goodbye
        }
        let mut session = match self.session.take().map_or_else(|| self.greet(message.welcome.as_ref()), Ok) {
            Ok(session) => session,
            Err(refusal) => return self.finish(Err(refusal)),
        };
        let effects = &mut self.effects;
        let reply = session.receive(&mut self.progress, &message, &mut |report, seat| {
            effects.push_back(Effect::Keep { report: report.clone().into(), seat });
        });
        self.session = Some(session);
        if let Some(reply) = reply {
            self.write(reply);
        }
        if message.welcome.is_some() || concerns_bot(&message) {
            let deliver = Effect::Deliver { session: self.number, message: message.into(), received: now };
            self.effects.push_back(deliver);
        }
        if self.progress.done() {
            self.finishing = true;
            self.effects.push_back(Effect::CloseSend);
            self.after(ANSWER_TIME, Alarm::GoodbyeOver);
        }
    }

    /// Is told the end of a stream.
    pub fn ended(&mut self, now: Duration, attempt: u64, ended: &Status) {
        if !self.during(now, attempt) {
            return;
        }
        self.call_off(Alarm::NoWelcome);
        if self.finishing { self.close() } else { self.fail(play_failure(ended)) }
    }

    /// Is told what is in the way for good, in words, if anything.
    pub fn looked(&mut self, now: Duration, attempt: u64, obstacle: Option<String>, lost: Failure) {
        if !self.during(now, attempt) {
            return;
        }
        match obstacle {
            Some(obstacle) => self.finish(Err(Error::new(Kind::Unreachable, obstacle))),
            None => self.retry(lost),
        }
    }

    /// Takes note of the time; returns whether anything is to be done at all.
    fn at(&mut self, now: Duration) -> bool {
        self.now = now;
        !self.over
    }

    fn during(&mut self, now: Duration, attempt: u64) -> bool {
        self.at(now) && attempt == self.attempt
    }

    fn after(&mut self, wait: Duration, alarm: Alarm) {
        self.alarms.push((self.now + wait, alarm));
    }

    fn call_off(&mut self, alarm: Alarm) {
        self.alarms.retain(|&(_, each)| each != alarm);
    }

    fn write(&mut self, request: PlayRequest) {
        if self.calling {
            self.effects.push_back(Effect::Write(request));
        }
    }

    fn leave_now(&mut self) {
        let left = self.progress.begun();
        if !self.calling || left == 0 {
            return self.finish(Ok(()));
        }
        if self.leaving {
            return;
        }
        self.leaving = true;
        let told = "house bots play them on, and each counts as a last place";
        info!("leaving {} in order: {told}", matches(left));
        self.write(PlayRequest { leave: true, ..PlayRequest::default() });
        self.after(LEAVE_TIME, Alarm::LeaveOver);
    }

    fn finish(&mut self, why: Result<(), Error>) {
        self.hang_up();
        self.over = true;
        self.alarms.clear();
        self.effects.push_back(Effect::Done(why));
    }

    /// Ends what there is of a try.
    fn hang_up(&mut self) {
        self.attempt += 1;
        if self.greeted {
            self.effects.push_back(Effect::Over { session: self.number });
        }
        self.effects.push_back(Effect::HangUp);
        self.call_off(Alarm::NoWelcome);
        self.call_off(Alarm::GoodbyeOver);
        (self.session, self.registering) = (None, None);
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

    fn register(&mut self, made: NewToken) {
        let request = RegisterBotRequest {
            name: self.settings.name.clone(),
            owner: self.settings.owner.clone(),
            invitation: self.settings.invitation.clone(),
            token: made.token.clone(),
        };
        self.registering = Some(made);
        self.effects.push_back(Effect::Register { attempt: self.attempt, request });
    }

    /// Plays on one stream, until nothing is left to play or it ends.
    fn converse(&mut self, token: String) {
        self.after(ANSWER_TIME, Alarm::NoWelcome);
        self.effects.push_back(Effect::Play { attempt: self.attempt, token });
        self.calling = true;
        self.write(self.progress.hello(&self.settings));
    }

    fn greet(&mut self, welcome: Option<&Welcome>) -> Result<Session, Error> {
        let none = Welcome::default();
        let welcome = welcome.unwrap_or(&none);
        info!("{} is connected to {} (Arena {})", welcome.bot, self.settings.address, welcome.server);
        self.name.clone_from(&welcome.bot);
        self.progress.reconnect();
        let session = Session::new(welcome, &self.settings, &self.progress)?;
        (self.greeted, self.reached) = (true, true);
        self.number += 1;
        self.effects.push_back(Effect::CheckLog(welcome.log.clone()));
        Ok(session)
    }

    /// Ends all after a goodbye.
    fn close(&mut self) {
        let why = self.progress.parked.as_ref().map(|told| Error::new(Kind::Parked, self.parked(told)));
        self.finish(why.map_or(Ok(()), Err));
    }

    /// Ends a try: for good, or until the next one.
    fn fail(&mut self, failure: Failure) {
        if let Failure::ForGood(mut refusal) = failure {
            if let (Token::In(file), Kind::TokenRefused) = (&self.settings.token, refusal.kind)
                && self.known
                && refusal.reason != "TOKEN_REVOKED"
            {
                let remedy = "remove it to register the bot anew, and under another name if it was deleted here";
                refusal.text += &format!(" (from {}; {remedy})", file.display());
            }
            return self.finish(Err(refusal));
        }
        self.hang_up();
        if self.leaving || (self.progress.ending && self.progress.playing.is_empty()) {
            return self.finish(Ok(()));
        }
        if self.reached || self.probes == 0 {
            return self.retry(failure);
        }
        self.probes -= 1;
        self.effects.push_back(Effect::Look { attempt: self.attempt, lost: failure });
    }

    fn retry(&mut self, lost: Failure) {
        let Failure::Dropped { text, pause } = lost else { return };
        let (now, address) = (self.now, &self.settings.address);
        if self.greeted {
            // one that ended at once may end so again; but the server is there
            self.good = self.good.max(now.saturating_sub(LONGEST_WAIT));
            if now - self.begun > STEADY {
                self.good = now;
            }
            self.seen = now;
        }
        let wait = longest(now - self.good).mul_f64((self.chance)()) + pause;
        if self.settings.give_up_after.is_some_and(|limit| now + wait - self.seen > limit) {
            let told = format!("no connection to {address}: {text}");
            return self.finish(Err(Error::new(Kind::Unreachable, told)));
        }
        warn!("no connection to {address}: {text}; next try in {:.1} s", wait.as_secs_f64());
        self.after(wait, Alarm::Connect);
    }

    /// Returns why the bot is parked, and how it is un-parked.
    fn parked(&self, told: &str) -> String {
        let Settings { address, token, tls, tls_roots, .. } = &*self.settings;
        let why = told.split("; mend it").next().unwrap_or(told);
        let (file, end) = match token {
            Token::In(file) => (file.display().to_string(), ""),
            Token::Given(_) => ("FILE".into(), ", with its token in FILE"),
        };
        let trust = match tls_roots {
            Some(roots) => format!(" --tls-roots {}", roots.display()),
            None if *tls => " --tls".into(),
            None => String::new(),
        };
        let name = &self.name;
        format!(
            "{why}. Mend it, then un-park it: arena bots unpark {name} --server {address} --token-file {file}{trust}{end}"
        )
    }
}

fn matches(count: usize) -> String {
    if count == 1 { "1 match".into() } else { format!("{count} matches") }
}
