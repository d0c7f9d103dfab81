package client

import (
	"crypto/sha256"
	"log/slog"
	"slices"
	"testing"

	arenav1 "arena.example/client/v1"
)

// The bot reports a deal that does not fit its invitation, that has no commitment, or whose commitment is all
// salt.
func TestADealThatIsNotTheOnePromisedIsSaid(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	zeros := func(size int) []byte { return make([]byte, size) }
	hash := func(content []byte) []byte { made := sha256.Sum256(content); return made[:] }
	promised, nothing := hash(zeros(64)), hash(nil)
	other := append(zeros(31), 1)
	for _, each := range []struct {
		promised, salt, commitment []byte
		said                       bool
	}{
		{promised, zeros(32), zeros(32), false},
		{promised, zeros(32), other, true},
		{promised, other, zeros(32), true},
		{nil, zeros(32), zeros(32), true},
		{nil, nil, nil, true},
		{promised[:31], zeros(32), zeros(32), true},
		{nothing, nil, nil, true},
		{promised, zeros(64), nil, true},
		{promised, nil, zeros(64), true},
		{promised, zeros(31), zeros(33), true},
	} {
		heard := &saying{file: "no file"}
		slog.SetDefault(slog.New(heard))
		welcome := &arenav1.Welcome{Games: []*arenav1.GameCatalog{{Name: "nullern"}}}
		session, err := newSession(welcome, &profile{games: []string{"nullern"}, capacity: 1}, newGoal(0).newProgress(-1), nil)
		if err != nil {
			t.Fatal(err)
		}
		session.receive(&arenav1.PlayResponse{Invitations: []*arenav1.Invitation{{InvitationId: 4, Commitment: each.promised}}})
		start := &arenav1.MatchStart{MatchId: 5, InvitationId: 4, Salt: each.salt, Commitment: each.commitment}
		session.receive(&arenav1.PlayResponse{Starts: []*arenav1.MatchStart{start}})
		var words []string
		if each.said {
			words = []string{"error: match 5: its commitment is not the one of the invitation: the server may have chosen the deal"}
		}
		if !slices.Equal(heard.said, words) {
			t.Errorf("of %x, %x under %x it says %q", each.salt, each.commitment, each.promised, heard.said)
		}
	}
}

// A place that a message frees can be used for its invitations. An invitation that the message withdraws is answered,
// but takes no place.
func TestReportsAndNoticesComeBeforeInvitations(t *testing.T) {
	at := newGoal(0).newProgress(1)
	at.playing[7] = true
	welcome := &arenav1.Welcome{Games: []*arenav1.GameCatalog{{Name: "nullern"}}}
	session, err := newSession(welcome, &profile{games: []string{"nullern"}, capacity: 1}, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	invited := func(numbers ...uint64) (found []*arenav1.Invitation) {
		for _, number := range numbers {
			found = append(found, &arenav1.Invitation{InvitationId: number})
		}
		return found
	}
	withdrawn := func(number uint64) []*arenav1.Notice {
		return []*arenav1.Notice{{Kind: arenav1.NoticeKind_NOTICE_KIND_WITHDRAWN, InvitationId: &number}}
	}
	for _, each := range []struct {
		message         *arenav1.PlayResponse
		ready, declined []uint64
	}{
		{&arenav1.PlayResponse{Reports: []*arenav1.MatchReport{{MatchId: 7}}, Invitations: invited(8)}, []uint64{8}, nil},
		{&arenav1.PlayResponse{Notices: withdrawn(8), Invitations: invited(9)}, []uint64{9}, nil},
		{&arenav1.PlayResponse{Notices: withdrawn(9)}, nil, nil},
		{&arenav1.PlayResponse{Notices: withdrawn(10), Invitations: invited(10, 11)}, []uint64{10, 11}, nil},
		{&arenav1.PlayResponse{Invitations: invited(12)}, nil, []uint64{12}},
	} {
		var ready []uint64
		reply := session.receive(each.message)
		for _, one := range reply.GetReady() {
			ready = append(ready, one.InvitationId)
		}
		if !slices.Equal(ready, each.ready) || !slices.Equal(reply.GetDeclined(), each.declined) {
			t.Errorf("%v is answered with %v", each.message, reply)
		}
	}
}
