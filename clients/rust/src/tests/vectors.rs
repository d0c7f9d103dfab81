//! Tests the modules of the games and the sample's rules with the vectors that all clients share.

use std::{collections::HashMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};

use super::corpus::{conformance, message, read};
use crate::decision::{Catalog, Decision, View};
use crate::{nullern, sixth_sense};

#[path = "../../examples/rules/rules.rs"]
mod rules;

#[derive(Deserialize)]
struct Asked {
    decision: Value,
    reads: Value,
    rules: usize,
}

/// Returns the summary of a view, in the terms of the vectors.
fn reads(decision: &Decision) -> Value {
    match &decision.view {
        View::Other(_) => panic!("no vector has such a view"),
        View::SixthSense(view) => {
            let table = sixth_sense::read(&decision.game, view);
            let laid = table.trick.iter().map(|laid| json!([laid.seat, laid.place, laid.colour, laid.value]));
            let lacks =
                table.lacks.iter().flat_map(|(seat, colours)| colours.iter().map(move |colour| json!([seat, colour])));
            json!({
                "trump": table.trump, "trick": laid.collect::<Vec<_>>(), "toCome": table.to_come,
                "taker": sixth_sense::taker(&table.trick, table.trump), "lacks": lacks.collect::<Vec<_>>(), "unseen": table.unseen,
            })
        }
        View::Nullern(view) => {
            let mut table = nullern::read(&decision.game, view);
            table.unseen.sort_unstable();
            let wanted: Vec<_> = (0..view.seats as usize).map(|seat| nullern::wanted(view, seat)).collect();
            json!({
                "trick": table.trick, "toCome": table.to_come, "taker": nullern::taker(&decision.game, view), "wanted": wanted,
                "unseen": table.unseen,
            })
        }
    }
}

#[test]
fn views_are_read_and_rules_play_as_in_python() {
    let games: HashMap<String, Arc<Catalog>> = read::<Vec<Value>>(&conformance("vectors/catalogues.json"))
        .iter()
        .map(|each| message::<Catalog>("GameCatalog", each))
        .map(|each| (each.name.clone(), Arc::new(each)))
        .collect();
    let asked: Vec<Asked> = read(&conformance("vectors/decisions.json"));
    assert!(asked.len() > 100, "there are {} decisions", asked.len());
    for each in asked {
        let decision = Decision::new(message("Decision", &each.decision), &games).unwrap();
        assert_eq!(reads(&decision), each.reads, "{}", each.decision);
        assert_eq!(rules::decide(&decision), each.rules, "{}", each.decision);
        let printed = format!(
            "Decision {{ match_id: {}, decision_id: {}, game: {:?}, view: {:?}, legal: {:?}, ",
            decision.match_id, decision.decision_id, decision.game.name, decision.view, decision.legal
        );
        assert!(format!("{decision:?}").starts_with(&printed), "{decision:?}");
        assert!(decision.hand().zip(decision.view.hand()).all(|(card, &at)| *card == decision.game.cards[at as usize]));
    }
}

#[test]
fn points_are_those_of_the_rules() {
    let sixth = |aims: &[u32], novice, tricks: &[u32]| -> Vec<i32> {
        tricks.iter().map(|&tricks| sixth_sense::points(aims, tricks, novice)).collect()
    };
    assert_eq!(sixth(&[4], false, &[6, 2, 4, 0]), [-2, -2, 4, -4]);
    assert_eq!(sixth(&[6, 9], false, &[7, 8, 0, 12, 6, 9]), [-1, -1, -6, -3, 6, 9]);
    assert_eq!(sixth(&[4], true, &[4, 5, 2, 7, 0, 10]), [6, 4, 3, 2, 1, 0]);
    let nullern: Vec<_> = [(0, 0), (3, 3), (0, 2), (4, 0)].map(|(bid, tricks)| nullern::points(bid, tricks)).into();
    assert_eq!(nullern, [20, 13, -3, -5]);
}
