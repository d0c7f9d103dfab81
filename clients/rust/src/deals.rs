//! What is said of a deal that is not the one of the invitation, and what is kept of a match from its beginning.

use crate::bot::Profile;
use crate::listener::{listen, said};
use crate::log_proofs::changed;
use crate::merkle::hashed;
use crate::options::{Options, Settings};
use crate::session::{Progress, Seat, Session};
use crate::v1::{GameCatalog, Invitation, LogEntry, MatchReport, MatchStart, PlayResponse, Welcome};

#[test]
fn a_deal_that_was_not_committed_to_is_said_and_the_own_chance_is_kept() {
    let options = Options { token: Some("given".into()), ..Options::default() };
    let profile = Profile { version: "1".into(), ..Profile::new("bot", &["nullern"]) };
    let settings = Settings::new(profile, "", &options).unwrap();
    let welcome =
        Welcome { games: vec![GameCatalog { name: "nullern".into(), ..GameCatalog::default() }], ..Welcome::default() };
    let (salt, commitment) = (vec![1; 32], vec![2; 32]);
    let promised = hashed(&[&salt, &commitment]);
    let told = "error: match 5: its commitment is not the one of the invitation: the server may have chosen the deal";
    for (shown, told) in [(promised.clone(), vec![]), (changed(&promised), vec![told])] {
        listen();
        let mut progress = Progress::new(0);
        let mut session = Session::new(&welcome, &settings, &progress).unwrap();
        let mut kept = Vec::new();
        let mut hear = |message: PlayResponse| {
            session.receive(&mut progress, &message, &mut |report, seat| kept.push((report.match_id, seat)))
        };
        let invitation = Invitation { invitation_id: 4, commitment: shown, ..Invitation::default() };
        let reply = hear(PlayResponse { invitations: vec![invitation], ..PlayResponse::default() }).unwrap();
        let start = MatchStart {
            match_id: 5,
            invitation_id: 4,
            salt: salt.clone(),
            commitment: commitment.clone(),
            ..MatchStart::default()
        };
        let again = MatchStart { invitation_id: 0, ..start.clone() };
        hear(PlayResponse { starts: vec![start, again], ..PlayResponse::default() });
        let [counted, not] =
            [Some(LogEntry::default()), None].map(|entry| MatchReport { match_id: 5, entry, ..MatchReport::default() });
        hear(PlayResponse { reports: vec![counted, not], ..PlayResponse::default() });
        let nonce = reply.ready[0].nonce.clone();
        let seat = Seat { nonce, salt: salt.clone(), commitment: commitment.clone() };
        assert_eq!(kept, [(5, Some(seat))]);
        assert_eq!(said(), told);
    }
}
