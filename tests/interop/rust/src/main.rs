//! A bot and a spectator on tonic: plays one match, looks it up, and provokes as many statuses as
//! possible.
//!
//! client ADDRESS NAME PROTOS [ROOTS]; prints its observations as one JSON object.

use std::{collections::HashMap, env, error::Error, fs, io::Read, time::Duration};

use arena::{
    Answer, GetReplayRequest, Hello, ListBotsRequest, ListMatchesRequest, MatchReport, PlayRequest, Ready, RegisterBotRequest,
    bot_service_client::BotServiceClient, match_service_client::MatchServiceClient, play_service_client::PlayServiceClient,
};
use flate2::read::GzDecoder;
use futures::{StreamExt, TryStreamExt, channel::mpsc, future::join_all};
use serde_json::{Value, json};
use tonic::{
    Code, IntoRequest, Request, Status,
    client::Grpc,
    codec::CompressionEncoding,
    metadata::MetadataValue,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

mod arena {
    tonic::include_proto!("arena.v1");
}

const PATIENCE: Duration = Duration::from_secs(60);

fn asked<T>(message: T, token: &str) -> Request<T> {
    let mut request = message.into_request();
    request.set_timeout(PATIENCE);
    if !token.is_empty() {
        let bearer: MetadataValue<_> = format!("Bearer {token}").parse().expect("a token is printable");
        request.metadata_mut().insert("authorization", bearer);
    }
    request
}

fn refusal(status: Option<Status>) -> Value {
    let names = HashMap::from([
        (Code::Unauthenticated, "UNAUTHENTICATED"),
        (Code::ResourceExhausted, "RESOURCE_EXHAUSTED"),
        (Code::InvalidArgument, "INVALID_ARGUMENT"),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
        (Code::Cancelled, "CANCELLED"),
        (Code::NotFound, "NOT_FOUND"),
        (Code::Unimplemented, "UNIMPLEMENTED"),
    ]);
    status.map_or(Value::Null, |status| json!([names.get(&status.code()).unwrap_or(&"OTHER"), status.message()]))
}

/// Plays until it has the report of one match.
async fn play(channel: Channel, token: &str) -> Result<(MatchReport, usize), Box<dyn Error>> {
    let (say, said) = mpsc::unbounded();
    let hello = Hello { games: vec!["nullern".into()], capacity: 1, client: "tonic".into(), ..Default::default() };
    let mut heard = PlayServiceClient::new(channel).play(asked(said, token)).await?.into_inner();
    say.unbounded_send(PlayRequest { hello: Some(hello), ..Default::default() })?; // the server's headers came before
    let mut answered = 0;
    while let Some(message) = heard.message().await? {
        if let Some(report) = message.reports.first() {
            drop(say);
            while heard.message().await?.is_some() {}
            return Ok((report.clone(), answered));
        }
        let ready: Vec<_> = message
            .invitations
            .iter()
            .map(|each| Ready { invitation_id: each.invitation_id, nonce: vec![7; 16] })
            .collect();
        let answers: Vec<_> = message
            .decisions
            .iter()
            .map(|due| Answer { match_id: due.match_id, decision_id: due.decision_id, action: due.legal[0] })
            .collect();
        answered += answers.len();
        let reply = PlayRequest { ready, answers, heartbeat: message.heartbeat, ..Default::default() };
        if reply != PlayRequest::default() {
            say.unbounded_send(reply)?;
        }
    }
    Err("the stream ended before the match did".into())
}

async fn knock(channel: Channel, token: &str) -> Value {
    let silent = futures::stream::pending::<PlayRequest>();
    refusal(match PlayServiceClient::new(channel).play(asked(silent, token)).await {
        Ok(answer) => answer.into_inner().message().await.err(),
        Err(status) => Some(status),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().collect();
    let (address, name) = (&arguments[1], &arguments[2]);
    let endpoint = match arguments.get(4) {
        None => Endpoint::try_from(format!("http://{address}"))?,
        Some(roots) => {
            let trust = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(fs::read(roots)?));
            Endpoint::try_from(format!("https://{address}"))?.tls_config(trust.domain_name("localhost"))?
        }
    };
    let channel = endpoint.connect().await?;
    let mut bots = BotServiceClient::new(channel.clone());
    let mut zipping = bots.clone().send_compressed(CompressionEncoding::Gzip).accept_compressed(CompressionEncoding::Gzip);
    let mut matches = MatchServiceClient::new(channel.clone());
    let mut health = HealthClient::new(channel.clone());
    let named = |name: String| asked(RegisterBotRequest { name, ..Default::default() }, "");
    let check = |service: &str| asked(HealthCheckRequest { service: service.into() }, "");

    let token = bots.register_bot(named(name.clone())).await?.into_inner().token;
    let (report, answered) = play(channel.clone(), &token).await?;
    let own = ListMatchesRequest { bot: Some(name.clone()), ..Default::default() };
    let listed: Vec<_> = matches
        .list_matches(asked(own, ""))
        .await?
        .into_inner()
        .matches
        .iter()
        .map(|each| json!([each.match_id, each.seats.iter().map(|seat| seat.score).collect::<Vec<_>>()]))
        .collect();
    let pieces = matches.get_replay(asked(GetReplayRequest { match_id: report.match_id }, "")).await?.into_inner();
    let packed = pieces.map(|piece| piece.map(|found| found.chunk)).try_concat().await?;
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text)?;
    let known = zipping.list_bots(asked(ListBotsRequest::default(), "")).await?.into_inner().bots;
    let at_once = join_all((0..30).map(|_| {
        let (mut another, request) = (health.clone(), check(""));
        async move { another.check(request).await }
    }))
    .await;

    let mut hasty = Request::new(HealthCheckRequest::default());
    hasty.set_timeout(Duration::from_millis(200));
    let too_late = match health.watch(hasty).await {
        Err(status) => Some(status),
        Ok(answer) => {
            let mut states = answer.into_inner();
            loop {
                if let Err(status) = states.message().await {
                    break Some(status);
                }
            }
        }
    };
    let mut raw = Grpc::new(channel.clone());
    raw.ready().await?;
    let codec = tonic_prost::ProstCodec::<ListBotsRequest, arena::ListBotsResponse>::default();
    let path = "/arena.v1.PlayService/Cheat".parse()?;
    let unknown = raw.unary(asked(ListBotsRequest::default(), ""), path, codec).await.err();
    let large = "x".repeat(2 << 20);
    let saw = json!({
        "match": report.match_id,
        "answered": answered,
        "interrupted": report.interrupted,
        "scores": report.scores,
        "listed": listed,
        "replay": text.lines().count(),
        "health": health.check(check("arena.v1.PlayService")).await?.into_inner().status,
        "at_once": at_once.iter().filter(|each| each.is_ok()).count(),
        "zipped": known.iter().any(|bot| bot.name == *name),
        "zipped_refusal": refusal(zipping.register_bot(named(name.clone() + &"x".repeat(3000))).await.err()),
        "wrong_token": knock(channel.clone(), "wrong").await,
        "no_token": knock(channel.clone(), "").await,
        "too_big": refusal(bots.register_bot(named(large.clone())).await.err()),
        "too_big_zipped": refusal(zipping.register_bot(named(large)).await.err()),
        "too_late": refusal(too_late),
        "odd_text": refusal(health.check(check("100 % café\n")).await.err()),
        "unknown": refusal(unknown),
        "afterwards": health.check(check("")).await?.into_inner().status,
    });
    println!("{saw}");
    Ok(())
}
