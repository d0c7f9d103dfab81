//! Options of a run from its author, the command line and the environment.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use ring::digest::{Context, SHA256, digest};

use crate::bot::Profile;
use crate::decision::GAMES;
use crate::errors::Error;
use crate::tokens::default_token_file;

/// Options of a run; each may be omitted: `Options { matches: 10, ..Options::default() }`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The token.
    pub token: Option<String>,
    /// The token file; by default `ARENA_TOKEN_FILE`, or one for each bot in `~/.arena/tokens`.
    pub token_file: Option<PathBuf>,
    /// The invitation to a server that registers bots by invitation only.
    pub invitation: Option<String>,
    /// Overrides the profile's owner; by default `ARENA_OWNER`.
    pub owner: Option<String>,
    /// Connects with TLS and trusts the system's certificate authorities.
    pub tls: bool,
    /// Connects with TLS and trusts the certificate authorities in this PEM file.
    pub tls_roots: Option<PathBuf>,
    /// Stop after this number of matches with a result; 0 for no limit.
    pub matches: u64,
    /// Log an error in the bot and play the first legal action, instead of ending the run.
    pub play_on: bool,
    /// The time without any connection after which the run ends; by default it never ends.
    pub give_up_after: Option<Duration>,
    /// Turn off receipts of the server's log of results, which are stored beside the token.
    pub no_receipts: bool,
    /// Play unrated matches against house bots only.
    pub casual: bool,
    /// Accept challenges from all bots.
    pub challenges: bool,
    /// Accept challenges from these bots only.
    pub challengers: Vec<String>,
    /// Names of the ladders to play on. Defaults to `ARENA_LADDERS`. If that is unset, or if the list is
    /// empty, the default ladders of the bot's games.
    pub ladders: Option<Vec<String>>,
    /// Names of the events to enter. Defaults to `ARENA_EVENTS`.
    pub events: Option<Vec<String>>,
}

/// The default address of a server.
pub const DEFAULT_ADDRESS: &str = "localhost:50051";

/// Time for finishing matches after Ctrl-C, unless `ARENA_DRAIN` says otherwise.
pub(crate) const DRAIN: Duration = Duration::from_secs(30);
/// Maximum time to finish matches after SIGTERM; SIGKILL usually follows after 10 s.
pub(crate) const DRAIN_TERMINATED: Duration = Duration::from_secs(8);
const LONGEST_VERSION: usize = 40;

/// Data that a connection needs from a bot, the options and the environment.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The bot's profile, with the owner, games and version that apply.
    pub profile: Profile,
    /// The author's options, some of them replaced by the environment.
    pub options: Options,
    pub address: String,
    /// The token or the file that contains it.
    pub token: Token,
    /// Lower-case names of the bots whose challenges the bot accepts; `None` for all bots.
    pub challengers: Option<BTreeSet<String>>,
    pub ladders: Vec<String>,
    pub events: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Token {
    Given(String),
    In(PathBuf),
}

impl Settings {
    /// Collects the data that a connection needs; `BadArgument` for invalid data.
    pub fn new(mut profile: Profile, address: &str, options: &Options) -> Result<Self, Error> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let given = Some(address.to_owned()).filter(|address| !address.is_empty());
        let mut address = given.or_else(|| variable("ARENA_SERVER")).unwrap_or_else(|| DEFAULT_ADDRESS.into());
        let mut options = options.clone();
        options.tls |= options.tls_roots.is_some();
        if profile.capacity < 1 {
            return Err(Error::bad_argument("the bot's capacity is 0: it takes 1 or more"));
        }
        if options.token.as_ref().is_some_and(|token| !in_one_line(token)) {
            let told = "the token is not one line of printable characters";
            return Err(Error::bad_argument(format!(
                "{told}: give it as the server did, or none for the one in the token file"
            )));
        }
        if let Some(token) = variable("ARENA_TOKEN") {
            // set by the program that started this one, not by the author
            address = variable("ARENA_SERVER").unwrap_or(address);
            options.token = Some(token);
            (options.tls, options.tls_roots) = (false, None);
        }
        check_address(&address)?;
        if profile.version.is_empty() {
            profile.version = digest_of(&profile.files)?;
        }
        let version = &profile.version;
        if version.chars().count() > LONGEST_VERSION || version.chars().any(char::is_control) {
            let told =
                format!("the bot's version is {version:?}: it takes at most {LONGEST_VERSION} printable characters");
            return Err(Error::bad_argument(told));
        }
        let owners = [options.owner.clone(), Some(profile.owner), variable("ARENA_OWNER")];
        profile.owner = owners.into_iter().flatten().find(|owner| !owner.is_empty()).unwrap_or_default();
        if profile.games.is_empty() {
            profile.games.push(GAMES[0].into());
        }
        let token = match &options.token {
            Some(token) => Token::Given(token.clone()),
            None => {
                Token::In(match options.token_file.clone().or_else(|| variable("ARENA_TOKEN_FILE").map(Into::into)) {
                    Some(file) => file,
                    None => default_token_file(&address, &profile.name)?,
                })
            }
        };
        // if ARENA_TOKEN is set, a program started the bot: only the environment counts
        let chosen = |given: &Option<Vec<String>>, name: &str| {
            given.clone().filter(|_| variable("ARENA_TOKEN").is_none()).unwrap_or_else(|| {
                let listed = variable(name).unwrap_or_default();
                listed.split(',').map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect()
            })
        };
        let challengers: BTreeSet<_> = options.challengers.iter().map(|name| name.to_lowercase()).collect();
        options.challenges |= !challengers.is_empty();
        let challengers = (!challengers.is_empty()).then_some(challengers);
        let (ladders, events) = (chosen(&options.ladders, "ARENA_LADDERS"), chosen(&options.events, "ARENA_EVENTS"));
        Ok(Self { profile, options, address, token, challengers, ladders, events })
    }
}

/// Returns the time for finishing matches after Ctrl-C.
pub(crate) fn drain_limit() -> Result<Duration, Error> {
    let text = env::var("ARENA_DRAIN").unwrap_or_default();
    if text.is_empty() {
        return Ok(DRAIN);
    }
    let most = DRAIN.as_secs();
    match text.trim().parse::<f64>() {
        Ok(seconds) if (0.0..=DRAIN.as_secs_f64()).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(Error::bad_argument(format!("ARENA_DRAIN is '{text}': it takes seconds from 0 to {most}"))),
    }
}

fn in_one_line(token: &str) -> bool {
    !token.is_empty() && token.trim() == token && token.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn check_address(address: &str) -> Result<(), Error> {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let odd = |letter: char| letter.is_whitespace() || "[]/".contains(letter);
    let named = match bare {
        Some(bare) => !bare.is_empty() && !bare.contains(odd),
        None => !host.is_empty() && !host.contains(odd) && !host.contains(':'),
    };
    if named && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0) {
        return Ok(());
    }
    let host = if address.is_empty() || address.contains([':', '/']) { "HOST" } else { address };
    let told = "a server listens on port 50051 unless its operator chose another";
    Err(Error::bad_argument(format!("the address '{address}' is not of the form HOST:PORT; {told}: {host}:50051")))
}

/// Returns a digest of twelve hexadecimal digits of the program's file and the given files.
fn digest_of(files: &[PathBuf]) -> Result<String, Error> {
    let program = env::current_exe().map_err(|problem| {
        Error::bad_argument(format!("the program's own file cannot be found ({problem}): state the bot's version"))
    })?;
    let mut made = Context::new(&SHA256);
    for file in std::iter::once(&program).chain(files) {
        made.update(digest(&SHA256, &read(file)?).as_ref());
    }
    Ok(hex::encode(made.finish())[..12].into())
}

pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(|problem| Error::unusable(file, &problem))
}
