//! Reads a view of Nullern: the strengths of cards, the trick on the table, the seats that want tricks, the unseen cards. It
//! computes everything from one decision and stores nothing.

use crate::decision::{Catalog, NullernView};

/// The highest strength of a card that is not a trump.
pub const PLAIN: u32 = 20;

/// The points that a missed bid costs at the end of the game.
pub const HUPFER: i32 = 5;

/// Everything that a seat knows when it chooses, except its own hand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Table {
    /// The strength of each card: its value, plus 20 for a trump. The strongest card takes the trick.
    pub strengths: Vec<u32>,
    /// The strengths of the cards on the table; the first of equally strong cards takes the trick.
    pub trick: Vec<u32>,
    /// The seats that play to this trick after the viewing seat.
    pub to_come: Vec<usize>,
    /// The strengths of the unseen cards: those in the other hands and in the stock.
    pub unseen: Vec<u32>,
}

/// Reads the table from a view.
pub fn read(game: &Catalog, view: &NullernView) -> Table {
    let seats = view.seats as usize;
    let trump = game.cards[view.turned as usize].colour;
    let strengths: Vec<_> =
        game.cards.iter().map(|card| card.values[0] + if card.colour == trump { PLAIN } else { 0 }).collect();
    let laid = &view.plays[view.takers.len() * seats..];
    let trick: Vec<_> = laid.iter().map(|&card| strengths[card as usize]).collect();
    let to_come = (1..seats.saturating_sub(trick.len())).map(|step| (view.seat as usize + step) % seats).collect();
    let seen = |card: u32| card == view.turned || view.hand.contains(&card) || view.plays.contains(&card);
    let unseen = (0..).zip(&strengths).filter(|&(card, _)| !seen(card)).map(|(_, &strength)| strength).collect();
    Table { strengths, trick, to_come, unseen }
}

/// Returns the seat that is winning the trick; `None` if the table is empty.
pub fn taker(game: &Catalog, view: &NullernView) -> Option<usize> {
    let trick = read(game, view).trick;
    let highest = trick.iter().max()?;
    let place = trick.iter().position(|strength| strength == highest)?;
    Some((view.leaders[view.takers.len()] as usize + place) % view.seats as usize)
}

/// Returns the number of tricks that a seat's bid still needs; negative if the seat has too many or has not bid.
pub fn wanted(view: &NullernView, seat: usize) -> i32 {
    let bid = view.bids.get(&(seat as u32)).map_or(-1, |&bid| bid as i32);
    bid - view.taken[seat] as i32
}

/// Returns true if a seat wants a trick: for its bid or, if the bid is lost, for the trick's point.
pub fn eager(view: &NullernView, seat: usize) -> bool {
    wanted(view, seat) != 0
}

/// Returns the points of a round with this bid and these tricks, with the later cost of a missed bid.
pub fn points(bid: u32, tricks: u32) -> i32 {
    match tricks {
        _ if bid != tricks => tricks as i32 - HUPFER,
        0 => 20,
        _ => 10 + tricks as i32,
    }
}
