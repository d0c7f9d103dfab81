//! Passes a bot's waiting messages to its caller, one at a time.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::bot::Bot;
use crate::caller::{Caller, Games, Stop};
use crate::errors::Error;
use crate::v1::{PlayRequest, PlayResponse};

/// One message of the server.
pub(crate) struct Delivery {
    pub session: u64,
    pub message: PlayResponse,
    pub received: Duration,
}

pub(crate) struct Answering<B> {
    caller: Caller<B>,
    games: Games,
    /// The newest session that is over; the next one repeats its open decisions.
    lost: Arc<AtomicU64>,
}

impl<B: Bot> Answering<B> {
    pub fn new(caller: Caller<B>, lost: Arc<AtomicU64>) -> Self {
        Self { caller, games: HashMap::new(), lost }
    }

    /// Calls the bot for one message; the error is the bot's, or `ProtocolMismatch`.
    pub fn answer(&mut self, delivery: Delivery, say: &mut dyn FnMut(u64, PlayRequest)) -> Result<(), Error> {
        let Delivery { session, message, received } = delivery;
        let asked = session > self.lost.load(Ordering::SeqCst);
        if let Some(welcome) = &message.welcome {
            self.games = welcome.games.iter().map(|game| (game.name.clone(), Arc::new(game.into()))).collect();
        }
        let mut say = |request| say(session, request);
        match self.caller.react(message, &self.games, received, asked, &mut say) {
            Ok(()) | Err(Stop::Interrupted) => Ok(()), // after a stop the bot makes no more decisions
            Err(Stop::Failed(failure)) => Err(failure),
        }
    }
}
