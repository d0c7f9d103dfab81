package client

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	arenav1 "arena.example/client/v1"
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

// After the program restarts, its receipts show which reports it already has.
func TestAProgramThatIsStartedAnewAsksForTheReportsThatItLacks(t *testing.T) {
	quiet(t)
	token := "given"
	file := filepath.Join(t.TempDir(), "bot.receipts")
	hello := func(messages ...*arenav1.PlayResponse) *uint64 {
		p := &performance{T: t, tokens: map[string]string{}, spec: botSpec{Capacity: 8, Version: "1", Token: &token}}
		log := newLogChecker(file)
		p.around = surroundings{keep: log.take, reportsAfter: log.reportsAfter, welcomed: func(state *arenav1.LogState, _ bool, _ channel) {
			log.receipts.load()
			log.receipts.pinTo(state, nil)
		}}
		p.begin()
		call := next[*scriptedCall](p)
		for _, message := range messages {
			call.events.message(message)
			p.settle()
		}
		p.connection.end(nil)
		return call.said[0].Hello.ReportsAfter
	}
	catalogue := []*arenav1.GameCatalog{{Name: "sixth_sense"}}
	welcome := func(size uint64) *arenav1.PlayResponse {
		return &arenav1.PlayResponse{Welcome: &arenav1.Welcome{Games: catalogue, Log: &arenav1.LogState{Head: &arenav1.LogHead{Size: size}}}}
	}
	report := func(number uint64) *arenav1.PlayResponse {
		entry := &arenav1.LogEntry{Number: number, Head: &arenav1.LogHead{Size: number}}
		return &arenav1.PlayResponse{Reports: []*arenav1.MatchReport{{MatchId: number, Entry: entry}}}
	}
	if number := hello(welcome(40)); number != nil {
		t.Errorf("at first it asks for those after %d", *number)
	}
	for _, each := range []struct {
		after    uint64
		messages []*arenav1.PlayResponse
	}{
		{40, []*arenav1.PlayResponse{welcome(45), report(47), report(48)}},
		{48, []*arenav1.PlayResponse{welcome(50)}},
		{48, nil},
	} {
		if number := hello(each.messages...); number == nil || *number != each.after {
			t.Errorf("it asks for those after %v, not %d", number, each.after)
		}
	}
}

// A bot declares its features and learns which of them are in use.
func TestTheBotSeesTheWelcome(t *testing.T) {
	quiet(t)
	token := "given"
	p := &performance{T: t, tokens: map[string]string{}, spec: botSpec{Capacity: 8, Version: "1", Token: &token}}
	var seen []string
	p.change = func(bot *Bot) {
		bot.Features = []string{"slow-motion", "unknown"}
		bot.OnWelcome = func(welcome *Welcome) { seen = append(welcome.Features, welcome.Build) }
	}
	p.begin()
	call := next[*scriptedCall](p)
	if features := call.said[0].Hello.Features; !slices.Equal(features, []string{"slow-motion", "unknown"}) {
		t.Errorf("its hello names %v", features)
	}
	call.events.message(&arenav1.PlayResponse{Welcome: &arenav1.Welcome{
		Games: []*arenav1.GameCatalog{{Name: "sixth_sense"}}, Features: []string{"slow-motion"}, Build: "compiled",
	}})
	p.settle()
	if !slices.Equal(seen, []string{"slow-motion", "compiled"}) {
		t.Errorf("the bot sees %v", seen)
	}
}
