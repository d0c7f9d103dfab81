//! Data that a session stores about a match, from its beginning to its report.

use crate::bot::Profile;
use crate::options::{Options, Settings};
use crate::session::{Progress, Seat, Session};
use crate::v1::{GameCatalog, Invitation, LogEntry, MatchReport, MatchStart, PlayResponse, Welcome};

#[test]
fn the_own_chance_and_the_commitment_stay_known_until_the_report() {
    let options = Options { token: Some("given".into()), ..Options::default() };
    let profile = Profile { version: "1".into(), ..Profile::new("bot", &["nullern"]) };
    let settings = Settings::new(profile, "", &options).unwrap();
    let welcome =
        Welcome { games: vec![GameCatalog { name: "nullern".into(), ..GameCatalog::default() }], ..Welcome::default() };
    let mut progress = Progress::new(0);
    let mut session = Session::new(&welcome, &settings, &progress).unwrap();
    let mut kept = Vec::new();
    let mut hear = |message: PlayResponse| {
        session.receive(&mut progress, &message, &mut |report, seat| kept.push((report.match_id, seat)))
    };
    let invitation = Invitation { invitation_id: 4, ..Invitation::default() };
    let reply = hear(PlayResponse { invitations: vec![invitation], ..PlayResponse::default() }).unwrap();
    let (salt, commitment) = (vec![1; 32], vec![2; 32]);
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
    assert_eq!(kept, [(5, Some(Seat { nonce, salt, commitment }))]);
}
