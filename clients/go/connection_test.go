package client

import (
	"encoding/json"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Decisions of a lost stream are repeated by the next one, and answered only there.
func TestWhatALostStreamAskedIsNotDecided(t *testing.T) {
	quiet(t)
	token := "given"
	p := &performance{T: t, tokens: map[string]string{}, spec: botSpec{Capacity: 8, Version: "1", Token: &token}}
	p.begin()
	asks := json.RawMessage(`{"like": "welcome", "decisions": [{"matchId": "1", "decisionId": 7, "legal": [2, 3], "sixthSense": {}}]}`)
	p.call = next[*scriptedCall](p)
	p.open().events.message(p.message(asks))
	p.call.events.ended(status.New(codes.Unavailable, "not now")) // before the bot handles it
	p.clock.pass(firstWait, func() {}, func() bool { return false })
	before := p.call
	p.call = next[*scriptedCall](p)
	p.open().events.message(p.message(asks))
	p.settle()
	if !slices.Equal(p.told, []string{"decide 1/7 0+0"}) {
		t.Errorf("it is told %v", p.told)
	}
	said := func(call *scriptedCall) (answers int) {
		for _, each := range call.said {
			answers += len(each.Answers)
		}
		return answers
	}
	if said(before) != 0 || said(p.call) != 1 {
		t.Errorf("it answers %v and %v", before.said, p.call.said)
	}
}

// An incomplete report does not end the run.
func TestAReportWithoutPlacesIsLogged(t *testing.T) {
	quiet(t)
	logMatchEnd(&MatchReport{MatchId: 1, Seat: 3})
}
