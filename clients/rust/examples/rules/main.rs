mod rules;

use arena_client::{Bot, Decision, GAMES, Profile};

struct Rules;

impl Bot for Rules {
    fn profile(&self) -> Profile {
        Profile::new("rules", GAMES)
    }
    fn decide(&mut self, decision: &Decision) -> usize {
        rules::decide(decision)
    }
}

fn main() -> std::process::ExitCode {
    arena_client::main(
        Rules,
        "A few plain rules: announces what the hand is worth, takes tricks until that is reached, then ducks.",
    )
}
