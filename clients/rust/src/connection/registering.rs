//! Registration of a bot, with a token that the bot creates and stores once the server has answered.

use std::time::Duration;

use log::info;
use tonic::Status;

use super::{Connection, Effect};
use crate::status::{Failure, registration_failure};
use crate::tokens::NewToken;
use crate::v1::{RegisterBotRequest, RegisterBotResponse};

impl Connection {
    pub(super) fn register(&mut self, made: NewToken) {
        let request = RegisterBotRequest {
            name: self.settings.profile.name.clone(),
            owner: self.settings.profile.owner.clone(),
            invitation: self.settings.options.invitation.clone().unwrap_or_default(),
            token: made.token.clone(),
        };
        self.registering = Some(made);
        self.effects.push_back(Effect::Register { attempt: self.attempt, address: self.addresses.current.clone(), request });
    }

    /// Handles the answer to a registration.
    pub fn registered(&mut self, now: Duration, attempt: u64, answer: Result<RegisterBotResponse, Status>) {
        let Some(made) = self.during(now, attempt).then(|| self.registering.take()).flatten() else { return };
        match answer {
            Ok(answer) => match made.keep(&answer.token) {
                Ok(()) => {
                    let kept = made.file.display();
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
}
