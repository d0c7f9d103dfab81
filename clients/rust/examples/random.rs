//! The shortest complete bot: it plays any legal action in any game.

use arena_client::{Bot, Decision, GAMES, Profile};

struct Random;

impl Bot for Random {
    fn profile(&self) -> Profile {
        Profile::new("random", GAMES)
    }
    fn decide(&mut self, decision: &Decision) -> usize {
        decision.legal[fastrand::usize(..decision.legal.len())]
    }
}

fn main() -> std::process::ExitCode {
    arena_client::main(Random, "Plays at random.")
}
