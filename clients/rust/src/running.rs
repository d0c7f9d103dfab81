//! Connects a bot, runs its code in a separate thread, and ends properly.

use std::{
    future::{Future, pending},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc as threads,
    },
    thread,
    time::{Duration, Instant},
};

use log::info;
use tokio::{sync::mpsc, time::sleep_until};

use crate::answering::{Answering, Delivery};
use crate::bot::{Bot, Profile};
use crate::caller::Caller;
use crate::connection::{Connection, Effect, PROBES};
use crate::errors::Error;
use crate::network::{Network, News};
use crate::options::{Options, Settings, Token, drain_limit};
use crate::private_file::beside;
use crate::receipts::Receipts;
use crate::signals::Signals;
use crate::v1::PlayRequest;

/// Connects a bot to the server at `host:port` and plays until Ctrl-C or until enough matches are finished.
///
/// An empty address stands for `ARENA_SERVER`, or `localhost:50051`. At Ctrl-C the bot starts no
/// more matches and finishes the current ones, for 30 s at most (or the time in `ARENA_DRAIN`), and
/// after SIGTERM for 8 s. Then, or at the second signal, it leaves the remaining matches.
///
/// After a lost connection the bot reconnects. Permanent errors are returned. So is an error in the bot,
/// unless `Options::play_on` is set. `run` starts its own Tokio runtime; inside an existing runtime, call
/// [`play`].
pub fn run<B: Bot + Send + 'static>(bot: B, address: &str, options: &Options) -> Result<(), Error> {
    let profile = bot.profile();
    run_as(bot, profile, address, options)
}

/// Like [`run`], with a profile that may differ from the bot's own.
pub(crate) fn run_as<B: Bot + Send + 'static>(
    bot: B,
    profile: Profile,
    address: &str,
    options: &Options,
) -> Result<(), Error> {
    let limit = drain_limit()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|problem| Error::bad_argument(format!("the system allows no network: {problem}")))?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new()?;
        Run::new(bot, profile, address, options)?.until_over(async || signals.next(limit).await).await
    });
    runtime.shutdown_background(); // a name look-up may still be waiting
    ended
}

/// Like [`run`], but without signal handling: when `stop` is done, the bot leaves its matches, and
/// house bots take its seats.
pub async fn play<B: Bot + Send + 'static>(
    bot: B,
    address: &str,
    options: &Options,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let mut stop = Box::pin(stop);
    let mut stopped = false;
    let profile = bot.profile();
    let run = Run::new(bot, profile, address, options)?;
    run.until_over(async || {
        if stopped {
            pending::<()>().await;
        }
        stop.as_mut().await;
        stopped = true;
        Duration::ZERO
    })
    .await
}

/// Messages from the bot's thread.
enum Answer {
    Say(u64, Box<PlayRequest>),
    /// The bot's thread makes no more calls.
    Over(Result<(), Error>),
}

struct Run {
    connection: Connection,
    network: Network,
    news: mpsc::UnboundedReceiver<News>,
    answers: mpsc::UnboundedReceiver<Answer>,
    /// Sender to the bot's thread; `None` once nothing more will be sent.
    deliveries: Option<threads::Sender<Delivery>>,
    /// True if the bot must not be called any more. The run then does not wait for a bot that is still computing.
    interrupted: Arc<AtomicBool>,
    receipts: Option<Receipts>,
    began: Instant,
    /// Result of the connection once it has ended.
    ended: Option<Result<(), Error>>,
}

impl Run {
    fn new<B: Bot + Send + 'static>(bot: B, profile: Profile, address: &str, options: &Options) -> Result<Self, Error> {
        let settings = Arc::new(Settings::new(profile, address, options)?);
        let (told, news) = mpsc::unbounded_channel();
        let network = Network::new(&settings, told)?;
        let began = Instant::now();
        let interrupted = Arc::new(AtomicBool::new(false));
        let caller = Caller::new(bot, options.play_on, Arc::new(move || began.elapsed()), interrupted.clone());
        let mut answering = Answering::new(caller);
        let (deliveries, delivered) = threads::channel::<Delivery>();
        let (say, answers) = mpsc::unbounded_channel();
        thread::spawn(move || {
            let answered = delivered.into_iter().try_for_each(|delivery| {
                answering.answer(delivery, &mut |session, request| {
                    let _ = say.send(Answer::Say(session, request.into())); // after the end there is no receiver
                })
            });
            let _ = say.send(Answer::Over(answered));
        });
        let receipts = match &settings.token {
            Token::In(file) if !options.no_receipts => Some(Receipts::new(beside(file, ".receipts"))),
            _ => None,
        };
        let connection = Connection::new(settings, Box::new(fastrand::f64), PROBES);
        Ok(Self {
            connection,
            network,
            news,
            answers,
            deliveries: Some(deliveries),
            interrupted,
            receipts,
            began,
            ended: None,
        })
    }

    /// Plays until the end. `stopped` waits for the next request to stop, and returns the time for finishing matches.
    async fn until_over(mut self, mut stopped: impl AsyncFnMut() -> Duration) -> Result<(), Error> {
        let mut stopping = false;
        self.connection.start(self.now());
        loop {
            self.perform();
            if let Some(ended) = self.ended.take_if(|_| self.interrupted.load(Ordering::SeqCst)) {
                return parting(stopping, ended);
            }
            let alarm = self.connection.alarm().map(|at| (self.began + at).into());
            tokio::select! {
                biased;
                within = stopped() => {
                    if stopping || within.is_zero() {
                        self.interrupted.store(true, Ordering::SeqCst);
                        self.connection.leave(self.now());
                    } else {
                        self.connection.drain(self.now(), within);
                    }
                    stopping = true;
                }
                Some(answer) = self.answers.recv() => match answer {
                    Answer::Say(session, request) => self.connection.say(session, *request),
                    Answer::Over(Err(failure)) => {
                        self.connection.end(self.now(), Ok(()));
                        self.perform();
                        return Err(failure);
                    }
                    Answer::Over(Ok(())) => return parting(stopping, self.ended.unwrap_or(Ok(()))),
                },
                Some(news) = self.news.recv() => {
                    let now = self.now();
                    match news {
                        News::Registered(attempt, answer) => self.connection.registered(now, attempt, answer),
                        News::Heard(attempt, message) => self.connection.hear(now, attempt, *message),
                        News::Ended(attempt, status) => self.connection.ended(now, attempt, &status),
                        News::Looked(attempt, obstacle, lost) => self.connection.looked(now, attempt, obstacle, lost),
                    }
                }
                () = async { match alarm { Some(at) => sleep_until(at).await, None => pending().await } } => {
                    self.connection.wake(self.now());
                }
            }
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Performs the connection's effects.
    fn perform(&mut self) {
        while let Some(effect) = self.connection.effect() {
            match effect {
                Effect::Register { attempt, address, request } => self.network.register(attempt, &address, request),
                Effect::Play { attempt, address, token } => self.network.play(attempt, &address, &token),
                Effect::Write(request) => self.network.write(request),
                Effect::CloseSend => self.network.close_send(),
                Effect::HangUp => self.network.hang_up(),
                Effect::Deliver(delivery) => {
                    if let Some(bot) = &self.deliveries {
                        let _ = bot.send(*delivery); // an ended bot reports why
                    }
                }
                Effect::Hurry => self.interrupted.store(true, Ordering::SeqCst),
                Effect::RecordLog(shown) => {
                    if let Some(receipts) = &mut self.receipts {
                        receipts.record_log(&shown);
                    }
                }
                Effect::RecordMatch { report, seat } => {
                    if let Some(receipts) = &mut self.receipts {
                        receipts.record_match(&report, seat.as_ref());
                    }
                }
                Effect::Look { attempt, lost } => self.network.look(attempt, lost),
                Effect::Done(why) => {
                    self.ended = Some(why);
                    self.deliveries = None;
                }
            }
        }
    }
}

fn parting(stopping: bool, ended: Result<(), Error>) -> Result<(), Error> {
    if stopping && ended.is_ok() {
        info!("stopped");
    }
    ended
}
