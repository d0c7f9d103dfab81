//! The command line of a program that contains one bot.

use std::{env, path::Path, process::ExitCode, time::Duration};

use log::{LevelFilter, Log, Metadata, Record};

use crate::bot::Bot;
use crate::errors::Error;
use crate::options::Options;
use crate::running::run_as;

const HELP: &str = "\
options:
  --server HOST:PORT     default: ARENA_SERVER in the environment, or localhost:50051
  --name NAME            the bot's name on the server
  --owner WHO            bots of one owner never meet (default: the bot's own, ARENA_OWNER, or its name)
  --game GAME            play this game only; repeatable (default: the bot's own games)
  --ladder NAME          play on this ladder only; repeatable (default: ARENA_LADDERS, or the games' default ladders)
  --event NAME           enter this event; repeatable (default: ARENA_EVENTS)
  --bot-version WHICH    each has a rating of its own (default: a digest of the program)
  --capacity N           how many matches to play at once
  --matches N            stop after N matches; 0 for no end
  --token TOKEN          the bot's token (default: the one in the token file)
  --token-file FILE      where the token is kept (default: ARENA_TOKEN_FILE, or below ~/.arena/tokens)
  --invitation CODE      for a server that registers bots by invitation
  --tls                  connect with TLS
  --tls-roots FILE       connect with TLS and trust the authorities in this PEM file
  --on-error WHAT        raise or continue: what an error in the bot does (default: raise)
  --give-up-after S      end when the server is gone for S seconds (default: never)
  --casual               unrated matches with house bots only, so that a first crash costs nothing
  --challenges           accept challenges: unrated matches whose bots are named
  --challenger BOT       accept challenges with this bot only; repeatable
  --no-receipts          keep nothing of the server's log of results beside the token
  --quiet                show warnings only
  --help                 show this and end

exit status: 0 after Ctrl-C, SIGTERM or enough matches; 1 for an error in the bot; 2 for a wrong command line; 3 where the
server refuses the bot; 4 where no server was reached within --give-up-after seconds
";

/// The content of a command line.
#[derive(Default)]
struct Command {
    server: String,
    name: Option<String>,
    games: Vec<String>,
    version: Option<String>,
    capacity: Option<u32>,
    quiet: bool,
    help: bool,
    options: Options,
}

impl Command {
    /// Reads the words after the program's name; an error is a message for the user.
    fn read(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut words = words.into_iter();
        let mut made = Self::default();
        while let Some(word) = words.next() {
            let (name, mut given) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            if !name.starts_with("--") {
                return Err(format!("'{word}' is no option"));
            }
            if made.switch(name) {
                match given {
                    Some(value) => return Err(format!("{name} takes no value, and not '{value}'")),
                    None => continue,
                }
            }
            made.value(name, &mut || given.take().or_else(|| words.next()).ok_or(format!("{name} needs a value")))?;
        }
        Ok(made)
    }

    /// Handles an option without a value. Returns false for any other option.
    fn switch(&mut self, name: &str) -> bool {
        let taken = match name {
            "--tls" => &mut self.options.tls,
            "--casual" => &mut self.options.casual,
            "--challenges" => &mut self.options.challenges,
            "--no-receipts" => &mut self.options.no_receipts,
            "--quiet" => &mut self.quiet,
            "--help" => &mut self.help,
            _ => return false,
        };
        *taken = true;
        true
    }

    fn value(&mut self, name: &str, given: &mut dyn FnMut() -> Result<String, String>) -> Result<(), String> {
        match name {
            "--server" => self.server = given()?,
            "--name" => self.name = Some(given()?),
            "--owner" => self.options.owner = Some(given()?),
            "--game" => self.games.push(given()?),
            "--ladder" => self.options.ladders.get_or_insert_with(Vec::new).push(given()?),
            "--event" => self.options.events.get_or_insert_with(Vec::new).push(given()?),
            "--bot-version" => self.version = Some(given()?),
            "--capacity" => self.capacity = Some(number(name, &given()?, |&at_once| at_once > 0, "1 or more")?),
            "--matches" => self.options.matches = number(name, &given()?, |_| true, "0 or more")?,
            "--token" => self.options.token = Some(given()?),
            "--token-file" => self.options.token_file = Some(given()?.into()),
            "--invitation" => self.options.invitation = Some(given()?),
            "--tls-roots" => self.options.tls_roots = Some(given()?.into()),
            "--on-error" => {
                let what = given()?;
                if what != "raise" && what != "continue" {
                    return Err(format!("--on-error is '{what}': it takes raise or continue"));
                }
                self.options.play_on = what == "continue";
            }
            "--give-up-after" => {
                let seconds: f64 = number(name, &given()?, |seconds: &f64| *seconds >= 0.0, "seconds from 0")?;
                let limit = Duration::try_from_secs_f64(seconds);
                self.options.give_up_after = Some(limit.map_err(|problem| format!("{name} is {seconds}: {problem}"))?);
            }
            "--challenger" => self.options.challengers.push(given()?),
            _ => return Err(format!("there is no option {name}")),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str, fits: fn(&T) -> bool, takes: &str) -> Result<T, String> {
    text.parse().ok().filter(fits).ok_or_else(|| format!("{name} is '{text}': it takes {takes}"))
}

/// Writes the crate's log to standard error, unless the program has its own logger.
struct Lines;

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &Record<'_>) {
        eprintln!("{} {}", record.level(), record.args());
    }
    fn flush(&self) {}
}

/// Runs a program's only bot with the options on the command line; returns the exit status. `--help` lists all options.
pub fn main<B: Bot + Send + 'static>(bot: B, description: &str) -> ExitCode {
    let mut words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    let program = Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    let command = match Command::read(words) {
        Ok(command) => command,
        Err(problem) => {
            eprintln!("{program}: {problem}; see --help");
            return ExitCode::from(2);
        }
    };
    if command.help {
        println!(
            "usage: {program} [options]\n\n{description}\n\n{HELP}\nexample: {program} --server localhost:50051 --owner me"
        );
        return ExitCode::SUCCESS;
    }
    let mut profile = bot.profile();
    profile.name = command.name.unwrap_or(profile.name);
    profile.version = command.version.unwrap_or(profile.version);
    profile.capacity = command.capacity.unwrap_or(profile.capacity);
    if !command.games.is_empty() {
        profile.games = command.games;
    }
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(if command.quiet { LevelFilter::Warn } else { LevelFilter::Info });
    }
    let name = profile.name.clone();
    told(&name, &run_as(bot, profile, &command.server, &command.options))
}

/// Writes a run's error, if any, to standard error; returns the program's exit status.
pub fn told(name: &str, ended: &Result<(), Error>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{name}: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
