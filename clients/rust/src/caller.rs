//! Makes all calls to a bot's code, one at a time. This module does no input or output.

use std::{
    any::Any,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use log::error;

use crate::bot::Bot;
use crate::decision::{Catalog, Clock, Decision};
use crate::errors::{Error, Kind};
use crate::open_decisions::OpenDecisions;
use crate::v1::{Answer, NoticeKind, PlayRequest, PlayResponse};

/// Maximum time that finished answers wait for further answers before they are sent.
const HOLD: Duration = Duration::from_millis(10);

pub(crate) type Games = HashMap<String, Arc<Catalog>>;
type Say<'a> = &'a mut dyn FnMut(PlayRequest);

/// Reason why a bot is not called any more.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The program must stop.
    Interrupted,
    Failed(Error),
}

pub(crate) struct Caller<B> {
    bot: B,
    /// True to log an error in the bot and play the first legal action; false to end the run.
    play_on: bool,
    clock: Clock,
    /// True if the bot must not be called any more.
    interrupted: Arc<AtomicBool>,
    out: PlayRequest,
    /// The time when the pending message was created, or its last part was sent.
    since: Duration,
}

impl<B: Bot> Caller<B> {
    pub fn new(bot: B, play_on: bool, clock: Clock, interrupted: Arc<AtomicBool>) -> Self {
        Self { bot, play_on, clock, interrupted, out: PlayRequest::default(), since: Duration::ZERO }
    }

    /// Sends the bot's replies to a message: no reply, one, or several if the bot takes long.
    ///
    /// `received`: when the message arrived, by the clock. `open`: the open decisions of the stream. The bot is not
    /// asked about closed decisions, nor about any decision of a stream that has ended.
    pub fn react(
        &mut self,
        mut message: PlayResponse,
        games: &Games,
        received: Duration,
        open: &Arc<OpenDecisions>,
        say: Say<'_>,
    ) -> Result<(), Stop> {
        self.take();
        self.news(&message, open, say)?;
        if !open.lost() {
            let decisions = std::mem::take(&mut message.decisions)
                .into_iter()
                .map(|each| Decision::at(each, games, received, self.clock.clone(), Some(open.clone())))
                .collect::<Result<Vec<_>, _>>()
                .map_err(Stop::Failed)?;
            self.answers(decisions, open, say)?;
        }
        if self.out != PlayRequest::default() {
            say(self.take());
        }
        Ok(())
    }

    fn news(&mut self, message: &PlayResponse, open: &OpenDecisions, say: Say<'_>) -> Result<(), Stop> {
        if let Some(welcome) = &message.welcome {
            self.tell(|bot| bot.on_welcome(welcome))?;
        }
        for start in &message.starts {
            self.tell(|bot| bot.on_match_start(start))?;
        }
        for round in &message.rounds {
            self.tell(|bot| bot.on_round(round))?;
        }
        for report in &message.reports {
            self.tell(|bot| bot.on_match_end(report))?;
        }
        for notice in &message.notices {
            self.tell(|bot| bot.on_notice(notice))?;
            if notice.kind() == NoticeKind::Suspended && open.plays(notice.match_id()) {
                self.out.resumed.extend(notice.match_id); // a bot that receives this notice is back
            }
            part(&mut self.out, &mut self.since, (self.clock)(), say);
        }
        Ok(())
    }

    /// Calls a method of the bot that returns no answer.
    fn tell(&mut self, call: impl FnOnce(&mut B)) -> Result<(), Stop> {
        self.check()?;
        match guarded(|| {
            call(&mut self.bot);
            Ok(())
        }) {
            Err(Stop::Failed(failure)) if self.play_on => {
                error!("the bot failed outside a decision: {failure}");
                Ok(())
            }
            other => other,
        }
    }

    fn check(&self) -> Result<(), Stop> {
        if self.interrupted.load(Ordering::SeqCst) { Err(Stop::Interrupted) } else { Ok(()) }
    }

    fn answers(&mut self, mut decisions: Vec<Decision>, open: &OpenDecisions, say: Say<'_>) -> Result<(), Stop> {
        loop {
            decisions.retain(|decision| !decision.closed());
            if decisions.is_empty() {
                return Ok(());
            }
            let mut done = 0;
            match guarded(|| self.ask(&decisions, open, &mut done, say)) {
                Err(Stop::Failed(mut failure)) => {
                    let place = describe(&decisions[done.min(decisions.len() - 1)], decisions.len());
                    if !self.play_on {
                        failure.text += &format!("\n{place}");
                        return Err(Stop::Failed(failure));
                    }
                    error!("the bot failed; its first legal action is played instead: {failure}\n{place}");
                    if let Some(decision) = decisions.get(done) {
                        answer(&mut self.out, decision, decision.legal[0], open);
                        done += 1;
                        part(&mut self.out, &mut self.since, (self.clock)(), say);
                    }
                }
                other => other?,
            }
            decisions.drain(..done);
        }
    }

    /// Asks the bot for all decisions; `done` counts the answered ones.
    fn ask(
        &mut self,
        decisions: &[Decision],
        open: &OpenDecisions,
        done: &mut usize,
        say: Say<'_>,
    ) -> Result<(), Stop> {
        self.check()?;
        let wrong = |text| Err(Stop::Failed(Error::new(Kind::BadAnswer, text)));
        let of = decisions.len();
        for choice in self.bot.decide_many(decisions) {
            let Some(decision) = decisions.get(*done) else {
                return wrong(format!("decide_many gave more than {of} answers to {of} decisions"));
            };
            let (at, legal) = (*done + 1, &decision.legal);
            match choice {
                Some(choice) if legal.contains(&choice) => answer(&mut self.out, decision, choice, open),
                Some(choice) => {
                    return wrong(format!(
                        "answer {at} of {of} is {choice}, which is not legal here; decision.legal is {legal:?}"
                    ));
                }
                None if decision.closed() => {}
                None => return wrong(format!("answer {at} of {of} is None, but the decision is open")),
            }
            *done += 1;
            part(&mut self.out, &mut self.since, (self.clock)(), say);
            if *done < of && self.interrupted.load(Ordering::SeqCst) {
                return Err(Stop::Interrupted);
            }
        }
        if *done < of {
            return wrong(format!("decide_many gave {done} answers to {of} decisions"));
        }
        Ok(())
    }

    fn take(&mut self) -> PlayRequest {
        self.since = (self.clock)();
        std::mem::take(&mut self.out)
    }
}

/// Sends the reply if it has waited long enough.
fn part(out: &mut PlayRequest, since: &mut Duration, now: Duration, say: Say<'_>) {
    if *out != PlayRequest::default() && now - *since > HOLD {
        *since = now;
        say(std::mem::take(out));
    }
}

/// Adds an answer, unless its match has ended. A late answer is added, too: its notice says how late it was.
fn answer(out: &mut PlayRequest, decision: &Decision, action: usize, open: &OpenDecisions) {
    if !open.plays(decision.match_id) {
        return;
    }
    let action = action as u32; // legal, so it fits
    out.answers.push(Answer { match_id: decision.match_id, decision_id: decision.decision_id, action });
}

/// Turns a panic into an error.
fn guarded(call: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|cause| {
        let text = format!("the bot panicked: {}", words(&*cause));
        Err(Stop::Failed(Error::new(Kind::BotFailed, text)))
    })
}

fn words(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

/// Describes a decision and the bot's view.
fn describe(decision: &Decision, of: usize) -> String {
    let Decision { match_id, decision_id, game, view, legal, .. } = decision;
    let batch = if of > 1 { format!(", the first unanswered of {of}") } else { String::new() };
    let (game, round) = (&game.name, view.round().map_or(String::new(), |round| format!(", round {}", round + 1)));
    format!("in match {match_id} of {game}{round}, decision {decision_id}{batch}; legal: {legal:?}; view: {view:?}")
}
