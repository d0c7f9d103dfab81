//! Plays the conversations of clients/conformance with the whole crate on a virtual clock; only gRPC is scripted.
//! clients/conformance/README.md explains the steps.

use std::{
    cell::{Cell, RefCell, RefMut},
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, LazyLock, Mutex, atomic::AtomicBool},
    time::Duration,
};

use base64::prelude::{BASE64_STANDARD, Engine};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde::Deserialize;
use serde_json::{Map, Value};
use tonic::{Code, Status};
use tonic_types::pb;

use crate::answering::{Answering, Delivery};
use crate::bot::{Bot, Choices, Profile, log_match_end, log_notice, one_by_one};
use crate::caller::Caller;
use crate::connection::{Connection, Effect};
use crate::decision::{Decision, MatchReport, MatchStart, Notice, RoundReport, View, Welcome, conduct_of};
use crate::errors::Error;
use crate::options::{DRAIN, DRAIN_TERMINATED, Options, Settings};
use crate::v1::{Hello, PlayRequest, PlayResponse, RegisterBotRequest, RegisterBotResponse};

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(&include_bytes!("../v1/arena.v1.binpb")[..]).unwrap());

/// Converts protobuf's JSON mapping to a message.
pub(crate) fn message<M: Message + Default>(name: &str, json: &Value) -> M {
    let descriptor = POOL.get_message_by_name(&format!("arena.v1.{name}")).unwrap();
    let read = DynamicMessage::deserialize(descriptor, json).unwrap_or_else(|problem| panic!("{problem}: {json}"));
    M::decode(&read.encode_to_vec()[..]).unwrap()
}

pub(crate) fn conformance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance").join(name)
}

pub(crate) fn read<T: for<'a> Deserialize<'a>>(file: &Path) -> T {
    let text = fs::read_to_string(file).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()))
}

/// The bot of a conversation, in the terms of the README.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Spec {
    games: Vec<String>,
    capacity: u32,
    version: String,
    token: Option<String>,
    owner: String,
    invitation: String,
    matches: u64,
    challenges: Value,
    casual: bool,
    on_error: String,
    give_up_after: Option<f64>,
    thinks_ms: u64,
    batch: bool,
    gives: Option<Vec<Value>>,
    ladders: Option<Vec<String>>,
    events: Option<Vec<String>>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            games: vec!["sixth_sense".into()],
            capacity: 8,
            version: "1".into(),
            token: Some("given".into()),
            owner: String::new(),
            invitation: String::new(),
            matches: 0,
            challenges: Value::Null,
            casual: false,
            on_error: String::new(),
            give_up_after: None,
            thinks_ms: 0,
            batch: false,
            gives: None,
            ladders: None,
            events: None,
        }
    }
}

impl Spec {
    fn profile(&self) -> Profile {
        let games: Vec<_> = self.games.iter().map(String::as_str).collect();
        Profile { capacity: self.capacity, version: self.version.clone(), ..Profile::new("bot", &games) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Conversation {
    title: String,
    #[serde(default)]
    bot: Spec,
    steps: Vec<Map<String, Value>>,
}

/// The connection of a running program.
struct Line {
    connection: RefCell<Connection>,
    /// The number of the try whose stream is open.
    attempt: Cell<u64>,
    /// Messages that will arrive while the bot thinks about its next decision.
    meanwhile: RefCell<Vec<PlayResponse>>,
}

/// Bot that behaves as the conversation describes.
struct Described {
    spec: Spec,
    clock: Arc<Mutex<Duration>>,
    told: Arc<Mutex<Vec<String>>>,
    line: Rc<Line>,
    welcome: Welcome,
}

impl Described {
    fn tell(&self, text: String) {
        self.told.lock().unwrap().push(text);
    }

    fn think(&self, decisions: &[Decision]) {
        for decision in decisions {
            let (soft, bank) = (decision.soft_ms(), decision.bank_ms());
            let other = match &decision.view {
                View::Other(view) => format!(" {} {}", decision.game.name, BASE64_STANDARD.encode(&view.value)),
                _ => String::new(),
            };
            self.tell(format!("decide {}/{} {soft}+{bank}{other}", decision.match_id, decision.decision_id));
        }
        let now = *self.clock.lock().unwrap() + Duration::from_millis(self.spec.thinks_ms);
        *self.clock.lock().unwrap() = now;
        for message in self.line.meanwhile.take() {
            self.line.connection.borrow_mut().hear(now, self.line.attempt.get(), message);
        }
        for decision in decisions.iter().filter(|decision| decision.closed()) {
            self.tell(format!("closed {}/{}", decision.match_id, decision.decision_id));
        }
    }
}

impl Bot for Described {
    fn profile(&self) -> Profile {
        self.spec.profile()
    }

    fn decide(&mut self, decision: &Decision) -> usize {
        self.think(std::slice::from_ref(decision));
        decision.legal[0]
    }

    fn decide_many<'a>(&'a mut self, decisions: &'a [Decision]) -> Choices<'a> {
        if !self.spec.batch && self.spec.gives.is_none() {
            return one_by_one(self, decisions);
        }
        self.think(decisions);
        match self.spec.gives.clone() {
            // a bot in Rust can only return numbers
            Some(given) => {
                Box::new(given.into_iter().map(|each| Some(each.as_u64().map_or(usize::MAX, |each| each as usize))))
            }
            None => Box::new(decisions.iter().map(|decision| Some(decision.legal[0]))),
        }
    }

    fn on_welcome(&mut self, welcome: &Welcome) {
        self.welcome = welcome.clone();
    }

    fn on_match_start(&mut self, start: &MatchStart) {
        let limit = conduct_of(&self.welcome, start).map_or(0, |conduct| conduct.soft_limit_ms);
        let of = if start.ladder.is_empty() { String::new() } else { format!(" {} {limit}", start.ladder) };
        self.tell(format!("start {}{of}", start.match_id));
    }

    fn on_round(&mut self, report: &RoundReport) {
        self.tell(format!("round {}", report.match_id));
    }

    fn on_match_end(&mut self, report: &MatchReport) {
        log_match_end(report);
        self.tell(format!("report {}", report.match_id));
    }

    fn on_notice(&mut self, notice: &Notice) {
        log_notice(notice);
        let which = notice.match_id.map_or("-".into(), |number| number.to_string());
        self.tell(format!("notice {} {which}", notice.kind));
    }
}

/// A stream that the script answers.
struct Call {
    attempt: u64,
    address: String,
    token: String,
    said: Vec<PlayRequest>,
    closed: bool,
}

enum Try {
    Registration(u64, RegisterBotRequest),
    Call(usize),
}

/// One conversation being played.
struct Performance {
    spec: Spec,
    token_file: PathBuf,
    clock: Arc<Mutex<Duration>>,
    told: Arc<Mutex<Vec<String>>>,
    line: Rc<Line>,
    answering: Answering<Described>,
    deliveries: VecDeque<Delivery>,
    calls: Vec<Call>,
    tries: VecDeque<Try>,
    call: Option<usize>,
    registration: Option<(u64, RegisterBotRequest)>,
    tokens: BTreeMap<String, String>,
    nonces: BTreeSet<Vec<u8>>,
    ended: Option<Result<(), Error>>,
    stopped: bool,
}

impl Performance {
    fn new(spec: Spec, token_file: PathBuf) -> Self {
        let clock = Arc::new(Mutex::new(Duration::ZERO));
        let told = Arc::default();
        let (line, answering) = program(&spec, &token_file, &clock, &told);
        let tokens = spec.token.iter().map(|token| (token.clone(), token.clone())).collect();
        let made = Self {
            spec,
            token_file,
            clock,
            told,
            line,
            answering,
            deliveries: VecDeque::new(),
            calls: Vec::new(),
            tries: VecDeque::new(),
            call: None,
            registration: None,
            tokens,
            nonces: BTreeSet::new(),
            ended: None,
            stopped: false,
        };
        made.connection().start(Duration::ZERO);
        made
    }

    fn now(&self) -> Duration {
        *self.clock.lock().unwrap()
    }

    fn connection(&self) -> RefMut<'_, Connection> {
        self.line.connection.borrow_mut()
    }

    fn restart(&mut self) {
        self.connection().end(self.now(), Ok(()));
        self.settle();
        let parts = program(&self.spec, &self.token_file, &self.clock, &self.told);
        (self.line, self.answering) = parts;
        (self.call, self.ended, self.stopped) = (None, None, false);
        self.connection().start(self.now());
    }

    /// Performs the connection's effects, and lets the bot answer everything.
    fn settle(&mut self) {
        loop {
            while let Some(effect) = self.effect() {
                self.perform(effect);
            }
            let Some(delivery) = self.deliveries.pop_front() else { return };
            let connection = &self.line.connection;
            let mut say = |session, request| connection.borrow_mut().say(session, request);
            let answered = self.answering.answer(delivery, &mut say);
            if let Err(failure) = answered {
                self.deliveries.clear();
                self.connection().end(self.now(), Err(failure));
            }
        }
    }

    fn effect(&self) -> Option<Effect> {
        self.connection().effect()
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Register { attempt, request, .. } => self.tries.push_back(Try::Registration(attempt, request)),
            Effect::Play { attempt, address, token } => {
                self.tries.push_back(Try::Call(self.calls.len()));
                self.calls.push(Call { attempt, address, token, said: Vec::new(), closed: false });
            }
            Effect::Write(request) => self.calls.last_mut().unwrap().said.push(request),
            Effect::CloseSend => self.calls.last_mut().unwrap().closed = true,
            Effect::Deliver(delivery) => self.deliveries.push_back(*delivery),
            Effect::Done(why) => self.ended = Some(why),
            Effect::HangUp | Effect::Hurry | Effect::RecordLog(_) | Effect::RecordMatch { .. } => {}
            Effect::Look { .. } => panic!("it looks for obstacles"),
        }
    }

    /// Advances the clock by the given time, or until a condition holds.
    fn pass(&mut self, length: Duration, until: impl Fn(&Self) -> bool) {
        let end = self.now() + length;
        self.settle();
        while !until(self) {
            let next = self.connection().alarm().filter(|&at| at <= end);
            let now = self.now().max(next.unwrap_or(end));
            *self.clock.lock().unwrap() = now;
            if next.is_none() {
                return;
            }
            self.connection().wake(now);
            self.settle();
        }
    }

    fn same_token(&mut self, name: &str, token: &str) {
        for (label, other) in &self.tokens {
            assert!(label == name || token != other, "the token of {name} is that of {label}");
        }
        let known = self.tokens.entry(name.into()).or_insert_with(|| token.into());
        assert_eq!(known, token, "{name} has another token");
    }

    fn call(&mut self) -> &mut Call {
        let at = self.call.expect("a stream is open");
        &mut self.calls[at]
    }

    fn opens(&mut self, wanted: &Value) {
        let Some(Try::Call(at)) = self.tries.pop_front() else { panic!("it opens nothing; ended {:?}", self.ended) };
        self.call = Some(at);
        let address = wanted["address"].as_str().unwrap_or("arena:1");
        assert_eq!(self.calls[at].address, address);
        let token = self.calls[at].token.clone();
        self.line.attempt.set(self.calls[at].attempt);
        self.same_token(text(wanted, "token"), &token);
        let said = std::mem::take(&mut self.calls[at].said);
        let mut hello = said[0].hello.clone().expect("it says hello");
        assert!(hello.client.starts_with("arena-client-rust "), "it is '{}'", hello.client);
        hello.client.clear();
        for entry in &mut hello.events {
            self.take_nonce(&mut entry.nonce);
        }
        assert_eq!(hello, message::<Hello>("Hello", &wanted["hello"]));
        let first = PlayRequest { hello: said[0].hello.clone(), ..PlayRequest::default() };
        assert_eq!(said, [first], "it says more than hello");
    }

    /// Checks the bot's random bytes in a message and removes them.
    fn take_nonce(&mut self, nonce: &mut Vec<u8>) {
        let nonce = std::mem::take(nonce);
        assert_eq!(nonce.len(), 16, "its own chance are 16 bytes");
        assert!(self.nonces.insert(nonce), "its own chance is another each time");
    }

    fn says(&mut self, wanted: &Value) {
        let mut said = std::mem::take(&mut self.call().said);
        for ready in said.iter_mut().flat_map(|each| &mut each.ready) {
            self.take_nonce(&mut ready.nonce);
        }
        let wanted: Vec<PlayRequest> =
            wanted.as_array().unwrap().iter().map(|each| message("PlayRequest", each)).collect();
        assert_eq!(said, wanted);
    }

    fn hear(&mut self, message: PlayResponse) {
        let (now, attempt) = (self.now(), self.call().attempt);
        self.connection().hear(now, attempt, message);
    }

    fn breaks(&mut self, ended: &Status) {
        let (now, attempt) = (self.now(), self.call().attempt);
        self.connection().ended(now, attempt, ended);
        self.call = None;
    }

    fn registered(
        &mut self,
        answer: impl FnOnce(&mut Self, RegisterBotRequest) -> Result<RegisterBotResponse, Status>,
    ) {
        let (attempt, request) = self.registration.take().expect("it has registered");
        let answer = answer(self, request);
        self.connection().registered(self.now(), attempt, answer);
    }

    fn ends(&mut self, wanted: &Value) {
        assert!(self.tries.is_empty(), "it still tries");
        self.call = None;
        let ended = self.ended.as_ref().expect("it has ended");
        let (word, status) = match ended {
            Ok(()) => (Value::Null, 0),
            Err(failure) => (word(&format!("{:?}", failure.kind)).into(), failure.status()),
        };
        assert_eq!((&word, &Value::from(status)), (&wanted["error"], &wanted["status"]), "{ended:?}");
    }

    fn step(&mut self, name: &str, value: &Value) {
        match name {
            "registers" => {
                let Some(Try::Registration(attempt, request)) = self.tries.pop_front() else {
                    panic!("it does not register; ended {:?}", self.ended)
                };
                self.same_token(text(value, "token"), &request.token);
                let wanted = RegisterBotRequest {
                    name: text(value, "name").into(),
                    owner: text(value, "owner").into(),
                    invitation: text(value, "invitation").into(),
                    token: request.token.clone(),
                };
                assert_eq!(request, wanted);
                self.registration = Some((attempt, request));
            }
            "registered" => self.registered(|this, request| {
                let made = text(value, "token");
                let token = if made.is_empty() { request.token } else { made.into() };
                if !made.is_empty() {
                    this.tokens.insert(made.into(), made.into());
                }
                Ok(RegisterBotResponse { name: request.name, token })
            }),
            "refused" => self.registered(|_, _| Err(status(value))),
            "opens" => self.opens(value),
            "server" => self.hear(server_message(value)),
            "while_thinking" => {
                self.line.meanwhile.borrow_mut().extend(value.as_array().unwrap().iter().map(server_message));
            }
            "bytes" => {
                let said: ProtoBytes = serde_json::from_value(value.clone()).unwrap();
                self.hear(PlayResponse::decode(&said.0[..]).unwrap());
            }
            "says" => self.says(value),
            "told" => {
                let told = std::mem::take(&mut *self.told.lock().unwrap());
                assert_eq!(Value::from(told), *value, "what it is told");
            }
            "breaks" => self.breaks(&status(value)),
            "comes_back" => {
                let since = self.now();
                self.pass(Duration::from_secs(24 * 3600), |this| !this.tries.is_empty() || this.ended.is_some());
                assert!(!self.tries.is_empty(), "it does not come back; ended {:?}", self.ended);
                let waited = (self.now() - since + Duration::from_micros(500)).as_millis();
                assert_eq!(waited, u128::from(value["after_ms"].as_u64().unwrap()), "it comes back after so many ms");
            }
            "passes" => self.pass(Duration::from_millis(value["ms"].as_u64().unwrap()), |_| false),
            "closes" => {
                assert!(self.call().closed, "it does not say goodbye");
                self.breaks(&Status::ok(""));
            }
            "stops" if self.stopped => self.connection().leave(self.now()),
            "stops" => {
                self.stopped = true;
                self.connection().drain(self.now(), if value == "SIGTERM" { DRAIN_TERMINATED } else { DRAIN });
            }
            "restarts" => self.restart(),
            "ends" => self.ends(value),
            _ => panic!("there is no step {name}"),
        }
    }
}

/// Starts the bot's program.
fn program(
    spec: &Spec,
    token_file: &Path,
    clock: &Arc<Mutex<Duration>>,
    told: &Arc<Mutex<Vec<String>>>,
) -> (Rc<Line>, Answering<Described>) {
    let challengers: Option<Vec<String>> = serde_json::from_value(spec.challenges.clone()).ok();
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let options = Options {
        token: spec.token.clone(),
        token_file: Some(token_file.into()),
        invitation: some(&spec.invitation),
        owner: some(&spec.owner),
        matches: spec.matches,
        play_on: spec.on_error == "continue",
        give_up_after: spec.give_up_after.map(Duration::from_secs_f64),
        casual: spec.casual,
        challenges: spec.challenges == true,
        challengers: challengers.unwrap_or_default(),
        ladders: spec.ladders.clone(),
        events: spec.events.clone(),
        ..Options::default()
    };
    let settings = Settings::new(spec.profile(), "arena:1", &options).unwrap();
    let connection = Connection::new(settings.into(), Box::new(|| 1.0), 0);
    let (attempt, meanwhile) = (Cell::default(), RefCell::default());
    let line = Rc::new(Line { connection: RefCell::new(connection), attempt, meanwhile });
    let welcome = Welcome::default();
    let bot = Described { spec: spec.clone(), clock: clock.clone(), told: told.clone(), line: line.clone(), welcome };
    let time = clock.clone();
    let now = Arc::new(move || *time.lock().unwrap());
    let caller = Caller::new(bot, options.play_on, now, Arc::new(AtomicBool::new(false)));
    (line, Answering::new(caller))
}

/// Bytes in protobuf's JSON form, as the only field of a message.
struct ProtoBytes(Vec<u8>);

impl<'a> Deserialize<'a> for ProtoBytes {
    fn deserialize<D: serde::Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let text = Value::deserialize(from)?;
        let ready: crate::v1::Ready = message("Ready", &serde_json::json!({"nonce": text}));
        Ok(Self(ready.nonce))
    }
}

/// Returns the server's message in a step.
fn server_message(given: &Value) -> PlayResponse {
    let shared: BTreeMap<String, Value> = read(&conformance("messages.json"));
    let whole = match given {
        Value::String(name) => shared[name].clone(),
        _ => {
            let mut fields = given.as_object().unwrap().clone();
            match fields.remove("like") {
                Some(like) => {
                    let mut whole = shared[like.as_str().unwrap()].as_object().unwrap().clone();
                    whole.extend(fields);
                    whole.into()
                }
                None => fields.into(),
            }
        }
    };
    message("PlayResponse", &whole)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a name such as `BadAnswer` as `BAD_ANSWER`.
fn word(name: &str) -> String {
    let mut made = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !made.is_empty() {
            made.push('_');
        }
        made.push(letter.to_ascii_uppercase());
    }
    made
}

fn status(given: &Value) -> Status {
    let name = text(given, "status");
    let code = (0..=16).map(Code::from).find(|code| word(&format!("{code:?}")) == name);
    let code = code.unwrap_or_else(|| panic!("there is no status {name}"));
    let mut details = Vec::new();
    if let Some(pause) = given.get("pause") {
        let delay = prost_types::Duration {
            seconds: pause.get("seconds").map_or(0, |seconds| seconds.as_str().unwrap().parse().unwrap()),
            nanos: pause["nanos"].as_i64().unwrap_or_default().try_into().unwrap(),
        };
        details.push(detail("RetryInfo", &pb::RetryInfo { retry_delay: Some(delay) }));
    }
    if !text(given, "reason").is_empty() {
        let info = pb::ErrorInfo { reason: text(given, "reason").into(), domain: "arena".into(), ..Default::default() };
        details.push(detail("ErrorInfo", &info));
    }
    let whole = pb::Status { code: code as i32, message: text(given, "text").into(), details };
    Status::with_details(code, text(given, "text"), whole.encode_to_vec().into())
}

fn detail(name: &str, content: &impl Message) -> prost_types::Any {
    prost_types::Any { type_url: format!("type.googleapis.com/google.rpc.{name}"), value: content.encode_to_vec() }
}

fn perform(script: &Conversation) {
    let folder = tempfile::tempdir().unwrap();
    let mut playing = Performance::new(script.bot.clone(), folder.path().join("bot/token"));
    playing.settle();
    for (at, step) in script.steps.iter().enumerate() {
        for (name, value) in step {
            println!("{}: step {}: {name}", script.title, at + 1);
            playing.step(name, value);
            playing.settle();
            let next = script.steps.get(at + 1);
            let listened = name == "says" || next.is_some_and(|next| next.contains_key("says"));
            let said = playing.call.map(|call| &playing.calls[call].said);
            assert!(listened || said.is_none_or(Vec::is_empty), "it says something else: {said:?}");
        }
    }
    playing.connection().end(playing.now(), Ok(()));
    playing.settle();
    assert!(playing.line.meanwhile.borrow().is_empty(), "it has not thought since");
    assert!(playing.tries.is_empty(), "it tries something at last");
}

#[test]
fn conversations() {
    let mut played = 0;
    for file in fs::read_dir(conformance("conversations")).unwrap() {
        for script in read::<Vec<Conversation>>(&file.unwrap().path()) {
            perform(&script);
            played += 1;
        }
    }
    assert!(played > 100, "there are {played} conversations");
}
