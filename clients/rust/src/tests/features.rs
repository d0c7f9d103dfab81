//! Features of later versions of the protocol, both those that a bot declares and those in use.

use std::{
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use crate::answering::{Answering, Delivery};
use crate::bot::{Bot, Profile};
use crate::caller::Caller;
use crate::decision::{Decision, Welcome};
use crate::options::{Options, Settings};
use crate::session::Progress;
use crate::v1::PlayResponse;

struct Curious {
    shown: Arc<Mutex<Vec<String>>>,
}

impl Bot for Curious {
    fn profile(&self) -> Profile {
        Profile { version: "1".into(), features: vec!["made-up".into()], ..Profile::new("curious", &["nullern"]) }
    }
    fn decide(&mut self, decision: &Decision) -> usize {
        decision.legal[0]
    }
    fn on_welcome(&mut self, welcome: &Welcome) {
        self.shown.lock().unwrap().extend_from_slice(&welcome.features);
    }
}

#[test]
fn a_bot_names_its_features_and_is_shown_those_that_hold() {
    let shown = Arc::default();
    let bot = Curious { shown: Arc::clone(&shown) };
    let options = Options { token: Some("given".into()), ..Options::default() };
    let settings = Settings::new(bot.profile(), "", &options).unwrap();
    assert_eq!(Progress::new(0).hello(&settings).hello.unwrap().features, ["made-up"]);
    let caller = Caller::new(bot, false, Arc::new(|| Duration::ZERO), Arc::new(AtomicBool::new(false)));
    let welcome = Welcome { features: vec!["made-up".into()], ..Welcome::default() };
    let message = PlayResponse { welcome: Some(welcome), ..PlayResponse::default() };
    let delivery = Delivery { session: 1, open: Arc::default(), message, received: Duration::ZERO };
    Answering::new(caller).answer(delivery, &mut |_, reply| panic!("it says {reply:?}")).unwrap();
    assert_eq!(*shown.lock().unwrap(), ["made-up"]);
}
