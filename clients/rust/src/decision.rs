//! Games and decisions in the form that bots receive.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use prost_types::Any;

use crate::errors::{Error, Kind};
use crate::open_decisions::OpenDecisions;
use crate::v1;
/// One game: its colours, cards and actions. It is created once per connection and shared by all its decisions.
pub use crate::v1::GameCatalog as Catalog;
use crate::v1::decision::View as WireView;
pub use crate::v1::{
    Action, Card, Conduct, MatchReport, MatchStart, Notice, NoticeKind, NullernView, RoundReport, SixthSenseView,
    Welcome,
};

/// Names, as used in requests, of the games whose views this client can read. A bot may also name other games, and read their
/// views with their catalogues' descriptors.
pub const GAMES: &[&str] = &["sixth_sense", "nullern"];

/// Returns the limits of a match: its ladder's if its start names one, otherwise those of the default ladders.
pub fn conduct_of<'a>(welcome: &'a Welcome, start: &MatchStart) -> Option<&'a Conduct> {
    let own = welcome.ladders.iter().find(|ladder| ladder.name == start.ladder);
    own.map_or(welcome.conduct.as_ref(), |ladder| ladder.conduct.as_ref())
}

/// Returns the time since a fixed moment.
pub(crate) type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// A game as one seat sees it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum View {
    SixthSense(SixthSenseView),
    Nullern(NullernView),
    /// The unchanged view of any other game: a message that the game's catalogue describes.
    Other(Any),
}

impl View {
    pub(crate) fn hand(&self) -> &[u32] {
        match self {
            Self::SixthSense(view) => &view.hand,
            Self::Nullern(view) => &view.hand,
            Self::Other(_) => &[],
        }
    }

    pub(crate) fn round(&self) -> Option<u32> {
        match self {
            Self::SixthSense(view) => Some(view.round),
            Self::Nullern(view) => Some(view.round),
            Self::Other(_) => None,
        }
    }
}

/// A choice that the bot must make, with all that its seat may know, so that a bot needs no memory.
#[derive(Clone)]
pub struct Decision {
    pub match_id: u64,
    /// Number of the decision, unique within the match.
    pub decision_id: u32,
    pub game: Arc<Catalog>,
    /// The game as this seat sees it.
    pub view: View,
    /// The legal actions in rising order, never empty: indices into the game's actions.
    pub legal: Vec<usize>,
    soft_ms: u32,
    bank_ms: u32,
    received: Duration,
    clock: Clock,
    /// The open decisions of its stream; `None` without a stream.
    open: Option<Arc<OpenDecisions>>,
}

impl Decision {
    /// Creates a decision for tests, whose clock stands still; `ProtocolMismatch` if no catalogue describes its view.
    pub fn new(message: v1::Decision, games: &HashMap<String, Arc<Catalog>>) -> Result<Self, Error> {
        Self::at(message, games, Duration::ZERO, Arc::new(|| Duration::ZERO), None)
    }

    pub(crate) fn at(
        message: v1::Decision,
        games: &HashMap<String, Arc<Catalog>>,
        received: Duration,
        clock: Clock,
        open: Option<Arc<OpenDecisions>>,
    ) -> Result<Self, Error> {
        let (game, view) = match message.view {
            Some(WireView::SixthSense(view)) => (games.get("sixth_sense"), View::SixthSense(view)),
            Some(WireView::Nullern(view)) => (games.get("nullern"), View::Nullern(view)),
            None => {
                let other = message.other.unwrap_or_default();
                let name = other.type_url.rsplit('/').next().unwrap_or_default();
                let game = games.values().find(|game| !name.is_empty() && game.view_type == name);
                (game, View::Other(other))
            }
        };
        let Some(game) = game else {
            let text = "the server asks for a decision in a game unknown to this client: update arena-client";
            return Err(Error::new(Kind::ProtocolMismatch, text));
        };
        Ok(Self {
            match_id: message.match_id,
            decision_id: message.decision_id,
            game: game.clone(),
            view,
            legal: message.legal.iter().map(|&action| action as usize).collect(),
            soft_ms: message.soft_ms,
            bank_ms: message.bank_ms,
            received,
            clock,
            open,
        })
    }

    /// Returns the seat's own cards, in the order of the view's hand; empty if the seat may not see them, or if this client cannot
    /// read the view.
    pub fn hand(&self) -> impl ExactSizeIterator<Item = &Card> {
        self.view.hand().iter().map(|&card| &self.game.cards[card as usize])
    }

    /// Returns the legal actions as [`Action`]s, in the order of `legal`.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = &Action> {
        self.legal.iter().map(|&action| &self.game.actions[action])
    }

    /// Returns true if further thinking is useless: the server has decided for the bot, or the match has ended.
    ///
    /// Check it during a long search, in any thread.
    pub fn closed(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.contains(self.match_id, self.decision_id))
    }

    /// Returns the number of milliseconds from now until the bank is used.
    pub fn soft_ms(&self) -> u32 {
        self.soft_ms.saturating_sub(self.passed())
    }

    /// Returns the milliseconds that would be left in the bank, for the rest of the match, if the bot answered now.
    pub fn bank_ms(&self) -> u32 {
        self.bank_ms.saturating_sub(self.passed().saturating_sub(self.soft_ms))
    }

    fn passed(&self) -> u32 {
        let passed = (self.clock)().saturating_sub(self.received);
        u32::try_from((passed + Duration::from_micros(500)).as_millis()).unwrap_or(u32::MAX)
    }
}

impl fmt::Debug for Decision {
    /// Shows the game by its name, and the remaining time.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Decision")
            .field("match_id", &self.match_id)
            .field("decision_id", &self.decision_id)
            .field("game", &self.game.name)
            .field("view", &self.view)
            .field("legal", &self.legal)
            .field("soft_ms", &self.soft_ms())
            .field("bank_ms", &self.bank_ms())
            .field("closed", &self.closed())
            .finish()
    }
}
