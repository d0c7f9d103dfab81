//! Reads a view of 6th Sense: the trick on the table, its taker, the unseen cards, the seats void of a colour. It computes
//! everything from one decision and stores nothing.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::decision::{Action, Catalog, SixthSenseView};

/// A card in a trick that is not blocked and so counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laid {
    pub seat: usize,
    pub place: usize,
    pub colour: u32,
    pub value: u32,
}

/// Everything that a seat knows when it chooses, except its own hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Table {
    /// The trump colour; `None` if there is no trump, or none yet.
    pub trump: Option<u32>,
    /// The cards of the current trick that count, in the order in which they were played.
    pub trick: Vec<Laid>,
    /// The seats that play to this trick after the viewing seat.
    pub to_come: Vec<usize>,
    /// The unseen cards: those in the other hands and in the stock.
    pub unseen: Vec<u32>,
    /// For each seat, the colours that it certainly does not hold.
    pub lacks: BTreeMap<usize, BTreeSet<u32>>,
}

/// Reads the table from a view.
pub fn read(game: &Catalog, view: &SixthSenseView) -> Table {
    let (seats, own) = (view.seats as usize, view.seat as usize);
    let mut table = Table::default();
    let known = view.turned.iter().chain(&view.hand).chain(view.known_predictions.values());
    let mut seen: BTreeSet<_> = known.copied().collect();
    table.trump = view.turned.map(|card| game.cards[card as usize].colour);
    for (at, &number) in view.plays.iter().enumerate() {
        let place = at % seats;
        let seat = (view.leaders[at / seats] as usize + place) % seats;
        if place == 0 {
            table.trick.clear();
        }
        let action = &game.actions[number as usize];
        if let Some(card) = action.card {
            seen.insert(card);
            if let Some(led) = table.trick.first().filter(|led| led.colour != game.cards[card as usize].colour) {
                table.lacks.entry(seat).or_default().insert(led.colour);
            }
        }
        table.trick = after(&table.trick, game, action, seat, place);
    }
    let laid = view.plays.len() - view.takers.len() * seats;
    if laid == 0 {
        table.trick.clear(); // the last trick is complete: a new one begins
    }
    table.to_come = (1..seats.saturating_sub(laid)).map(|step| (own + step) % seats).collect();
    let colours = game.colours.len() as u32 - u32::from(seats == 2);
    let out = |card: &u32| game.cards[*card as usize].colour < colours && !seen.contains(card);
    table.unseen = (0..game.cards.len() as u32).filter(out).collect();
    table
}

/// Returns the cards of a trick that count after one more action. A block removes its victim and does not count.
pub fn after(trick: &[Laid], game: &Catalog, action: &Action, seat: usize, place: usize) -> Vec<Laid> {
    let mut made = trick.to_vec();
    if action.kind == "block" {
        made.retain(|laid| Some(laid.place as u32) != action.place);
    } else if let (Some(card), Some(value)) = (action.card, action.value) {
        made.push(Laid { seat, place, colour: game.cards[card as usize].colour, value });
    }
    made
}

/// Returns the seat that is winning a trick; `None` if no card counts.
pub fn taker(trick: &[Laid], trump: Option<u32>) -> Option<usize> {
    let led = trick.first()?.colour;
    let rank = |laid: &&Laid| {
        let power = if Some(laid.colour) == trump { 2 } else { u32::from(laid.colour == led) };
        (power, laid.value, Reverse(laid.place))
    };
    let fours = trick.iter().filter(|laid| laid.value == 4).count();
    let reversed = fours % 2 == 1; // an odd number of fours reverses the trick
    let taking = if reversed { trick.iter().min_by_key(rank) } else { trick.iter().max_by_key(rank) };
    taking.map(|laid| laid.seat)
}

/// Returns the numbers of tricks that a prediction card predicts: two for a 6/9.
pub fn targets(game: &Catalog, card: u32) -> &[u32] {
    &game.cards[card as usize].values
}

/// Returns the points of a round with these predicted numbers (one or more) and the tricks taken.
pub fn points(aims: &[u32], tricks: u32, novice: bool) -> i32 {
    let distance = aims.iter().map(|aim| aim.abs_diff(tricks)).min().unwrap_or_default() as usize;
    match distance {
        _ if novice => [6, 4, 3, 2, 1, 0][distance.min(5)],
        0 => tricks as i32,
        _ => -(distance as i32),
    }
}
