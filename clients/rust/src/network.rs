//! Network access to a server by tonic, with one connection per try.

use std::{error::Error as _, fs, time::Duration};

use tokio::{sync::mpsc, task::JoinHandle, time::timeout};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint},
};

use crate::connection::ANSWER_TIME;
use crate::errors::Error;
use crate::options::{Options, Settings};
use crate::probe::obstacle;
use crate::status::Failure;
use crate::v1::{
    PlayRequest, PlayResponse, RegisterBotRequest, RegisterBotResponse, bot_service_client::BotServiceClient,
    play_service_client::PlayServiceClient,
};

/// Events during a try to connect.
#[derive(Debug)]
pub(crate) enum News {
    Registered(u64, Result<RegisterBotResponse, Status>),
    Heard(u64, Box<PlayResponse>),
    Ended(u64, Status),
    /// The description of a permanent obstacle, if one was found.
    Looked(u64, Option<String>, Failure),
}

/// At most one connection to one of a server's nodes. It must be used inside a Tokio runtime.
pub(crate) struct Network {
    settings: Settings,
    news: mpsc::UnboundedSender<News>,
    channel: Option<Channel>,
    say: Option<mpsc::UnboundedSender<PlayRequest>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Network {
    /// Prepares a connection. Returns `BadArgument` if the address or a certificate cannot be used.
    pub fn new(settings: &Settings, news: mpsc::UnboundedSender<News>) -> Result<Self, Error> {
        endpoint(settings)?;
        Ok(Self { settings: settings.clone(), news, channel: None, say: None, tasks: Vec::new() })
    }

    pub fn register(&mut self, attempt: u64, address: &str, request: RegisterBotRequest) {
        let line = self.line(address);
        self.report(async move {
            let asked = async { BotServiceClient::new(line?).register_bot(request).await };
            let answer = timeout(ANSWER_TIME, asked).await;
            let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")));
            News::Registered(attempt, answer.map(tonic::Response::into_inner).map_err(with_cause))
        });
    }

    /// Opens a stream. It queues messages, so that callers never wait for the network.
    pub fn play(&mut self, attempt: u64, address: &str, token: &str) {
        let (say, said) = mpsc::unbounded_channel();
        self.say = Some(say);
        let (line, news) = (self.line(address), self.news.clone());
        let bearer: Result<MetadataValue<Ascii>, _> = format!("Bearer {token}").parse();
        self.report(async move {
            let heard = async {
                let unusable = |_| Status::unauthenticated("the token is not one line of printable characters");
                let mut request = Request::new(UnboundedReceiverStream::new(said));
                request.metadata_mut().insert("authorization", bearer.map_err(unusable)?);
                let mut stream = PlayServiceClient::new(line?).play(request).await?.into_inner();
                while let Some(message) = stream.message().await? {
                    let _ = news.send(News::Heard(attempt, message.into())); // at the end there is no receiver
                }
                Ok(())
            };
            News::Ended(attempt, heard.await.map_or_else(with_cause, |()| Status::ok("")))
        });
    }

    /// Looks for a permanent obstacle after a failed try.
    pub fn look(&mut self, attempt: u64, lost: Failure) {
        let settings = self.settings.clone();
        self.report(async move {
            let text = if let Failure::Dropped { text, .. } = &lost { text.as_str() } else { "" };
            let found = obstacle(&settings, text).await;
            News::Looked(attempt, found, lost)
        });
    }

    /// Reports the outcome of some work, unless the work is aborted.
    fn report(&mut self, work: impl Future<Output = News> + Send + 'static) {
        let news = self.news.clone();
        self.tasks.push(tokio::spawn(async move {
            let _ = news.send(work.await); // at the end there is no receiver
        }));
    }

    pub fn write(&self, request: PlayRequest) {
        if let Some(say) = &self.say {
            let _ = say.send(request); // if it cannot be sent, the stream's status says why
        }
    }

    pub fn close_send(&mut self) {
        self.say = None;
    }

    pub fn hang_up(&mut self) {
        (self.channel, self.say) = (None, None);
        self.tasks.drain(..).for_each(|task| task.abort());
    }

    fn line(&mut self, address: &str) -> Result<Channel, Status> {
        if let Some(channel) = &self.channel {
            return Ok(channel.clone());
        }
        let settings = Settings { address: address.into(), ..self.settings.clone() };
        let made = endpoint(&settings).map_err(|problem| Status::unavailable(problem.to_string()))?;
        Ok(self.channel.insert(made.connect_lazy()).clone())
    }
}

fn endpoint(settings: &Settings) -> Result<Endpoint, Error> {
    let Settings { address, options: Options { tls, tls_roots, .. }, .. } = settings;
    let scheme = if *tls { "https" } else { "http" };
    let unusable = |problem: tonic::transport::Error| {
        Error::bad_argument(format!("the address '{address}' cannot be used: {}", deepest(&problem)))
    };
    let made = Endpoint::from_shared(format!("{scheme}://{address}"))
        .map_err(unusable)?
        .connect_timeout(ANSWER_TIME)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10));
    if !tls {
        return Ok(made);
    }
    let trust = match tls_roots {
        None => ClientTlsConfig::new().with_native_roots(),
        Some(file) => {
            let pem = fs::read(file).map_err(|problem| Error::unusable(file, &problem))?;
            if !pem.windows(CERTIFICATE.len()).any(|piece| piece == CERTIFICATE) {
                return Err(Error::unusable(file, &std::io::Error::other("it has no certificate")));
            }
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem))
        }
    };
    made.tls_config(trust).map_err(unusable)
}

const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// Returns a status whose text includes its cause, which tonic stores separately.
fn with_cause(status: Status) -> Status {
    match status.source() {
        Some(cause) if status.details().is_empty() => {
            let (told, cause) = (status.message(), deepest(cause));
            let text = if told.contains(&cause) { told.to_owned() } else { format!("{told}: {cause}") };
            Status::new(status.code(), text)
        }
        _ => status,
    }
}

fn deepest(mut problem: &(dyn std::error::Error + 'static)) -> String {
    while let Some(cause) = problem.source() {
        problem = cause;
    }
    problem.to_string()
}
