//! A few plain rules: announce the number of tricks that the hand is worth, take that many, then duck. The bot knows
//! which card is winning the trick, but does not count cards.

use std::cmp::Reverse;

use arena_client::{Decision, NullernView, SixthSenseView, View, nullern, sixth_sense};

/// Applies the rules of the game, or plays at random in games without rules.
pub fn decide(decision: &Decision) -> usize {
    match &decision.view {
        View::SixthSense(view) => play_sixth_sense(decision, view),
        View::Nullern(view) => play_nullern(decision, view),
        _ => decision.legal[fastrand::usize(..decision.legal.len())],
    }
}

/// Returns the kind of the next choice.
fn kind(decision: &Decision) -> &str {
    &decision.game.actions[decision.legal[0]].kind
}

/// Applies the rule for each kind of choice.
fn play_sixth_sense(decision: &Decision, view: &SixthSenseView) -> usize {
    let (game, legal) = (&decision.game, &decision.legal);
    let table = sixth_sense::read(game, view);
    if kind(decision) == "predict" {
        return predict(decision, view, table.trump);
    }
    let wanted = wanted_tricks(decision, view);
    match kind(decision) {
        "double" if wanted > 0 => return legal[1],
        "double" | "peek" => return legal[0],
        _ => {}
    }
    let (seat, place) = (view.seat as usize, view.seats as usize - 1 - table.to_come.len());
    let takes = |number| {
        let trick = sixth_sense::after(&table.trick, game, &game.actions[number], seat, place);
        sixth_sense::taker(&trick, table.trump) == Some(seat)
    };
    let strength = |number: usize| {
        let action = &game.actions[number];
        let trump = action.card.is_some_and(|card| Some(game.cards[card as usize].colour) == table.trump);
        action.value.unwrap_or_default() + if trump { 100 } else { 0 }
    };
    take_or_duck(legal, takes, strength, wanted > 0, table.to_come.is_empty())
}

/// Returns the prediction nearest to the number of good cards (high trumps, 13 and 14) in the rest of the
/// hand.
fn predict(decision: &Decision, view: &SixthSenseView, trump: Option<u32>) -> usize {
    let game = &decision.game;
    let good = |card: &&u32| {
        let card = &game.cards[**card as usize];
        let least = if Some(card.colour) == trump { 9 } else { 13 };
        card.values.iter().any(|&value| value >= least)
    };
    let misfit = |number: usize| {
        let Some(prediction) = game.actions[number].card else { return u32::MAX };
        let others = view.hand.iter().filter(|&&card| card != prediction);
        let tricks = others.filter(good).count() as u32;
        sixth_sense::targets(game, prediction).iter().map(|aim| aim.abs_diff(tricks)).min().unwrap_or(u32::MAX)
    };
    least(&decision.legal, misfit)
}

/// Returns the number of tricks that the prediction still needs; a 6/9 needs 9 only after more than 6 tricks.
fn wanted_tricks(decision: &Decision, view: &SixthSenseView) -> u32 {
    let taken = view.taken[view.seat as usize];
    let aims = view.prediction.map_or(&[][..], |card| sixth_sense::targets(&decision.game, card));
    aims.iter().filter_map(|aim| aim.checked_sub(taken)).min().unwrap_or_default()
}

/// Bids the number of good cards (trumps, and with few opponents a 19 or 20), then plays for that bid.
fn play_nullern(decision: &Decision, view: &NullernView) -> usize {
    let (game, legal) = (&decision.game, &decision.legal);
    let table = nullern::read(game, view);
    if kind(decision) == "bid" {
        let lowest = if view.seats > 3 { nullern::PLAIN + 1 } else { 19 };
        return legal[view.hand.iter().filter(|&&card| table.strengths[card as usize] >= lowest).count()];
    }
    if view.hand.is_empty() {
        return legal[0]; // the blind card
    }
    let strength = |number: usize| game.actions[number].card.map_or(0, |card| table.strengths[card as usize]);
    let takes = |number| table.trick.iter().all(|&laid| strength(number) > laid);
    take_or_duck(legal, takes, strength, nullern::eager(view, view.seat as usize), table.to_come.is_empty())
}

/// Takes the trick as cheaply as possible, or throws away the highest card that does not take it.
fn take_or_duck(
    legal: &[usize],
    takes: impl Fn(usize) -> bool,
    strength: impl Fn(usize) -> u32,
    eager: bool,
    last: bool,
) -> usize {
    let (taking, losing): (Vec<_>, Vec<_>) = legal.iter().partition(|&&number| takes(number));
    match (eager, taking.is_empty(), losing.is_empty()) {
        (false, _, false) => most(&losing, strength),
        (false, _, true) => least(&taking, strength),
        (true, true, _) => least(&losing, strength),
        (true, false, _) if last => least(&taking, strength),
        (true, false, _) => most(&taking, strength),
    }
}

/// Returns the first of the lowest-ranked numbers.
fn least<R: Ord>(numbers: &[usize], rank: impl Fn(usize) -> R) -> usize {
    numbers.iter().copied().min_by_key(|&number| rank(number)).expect("some action is legal")
}

/// Returns the first of the highest-ranked numbers.
fn most<R: Ord>(numbers: &[usize], rank: impl Fn(usize) -> R) -> usize {
    least(numbers, |number| Reverse(rank(number)))
}
