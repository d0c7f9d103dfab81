//! Passes a bot's waiting messages to its caller, one at a time.

use std::{collections::HashMap, sync::Arc, time::Duration};

use crate::bot::Bot;
use crate::caller::{Caller, Games, Stop};
use crate::errors::Error;
use crate::open_decisions::OpenDecisions;
use crate::v1::{PlayRequest, PlayResponse};

/// One message from the server.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub session: u64,
    /// The open decisions of that session.
    pub open: Arc<OpenDecisions>,
    pub message: PlayResponse,
    pub received: Duration,
}

pub(crate) struct Answering<B> {
    caller: Caller<B>,
    games: Games,
}

impl<B: Bot> Answering<B> {
    pub fn new(caller: Caller<B>) -> Self {
        Self { caller, games: HashMap::new() }
    }

    /// Calls the bot for one message. Returns an error from the bot, or `ProtocolMismatch`.
    pub fn answer(&mut self, delivery: Delivery, say: &mut dyn FnMut(u64, PlayRequest)) -> Result<(), Error> {
        let Delivery { session, open, message, received } = delivery;
        if let Some(welcome) = &message.welcome {
            self.games = welcome.games.iter().map(|game| (game.name.clone(), Arc::new(game.clone()))).collect();
        }
        let mut say = |request| say(session, request);
        match self.caller.react(message, &self.games, received, &open, &mut say) {
            Ok(()) | Err(Stop::Interrupted) => Ok(()), // after a stop the bot makes no more decisions
            Err(Stop::Failed(failure)) => Err(failure),
        }
    }
}
