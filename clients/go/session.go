package client

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	arenav1 "arena.example/client/v1"
)

// goal is the state that the bot's streams to all nodes share, mainly the number of matches to play.
type goal struct {
	// wanted: the number of matches to play; 0 for no limit.
	wanted, finished int
	// seats: the known facts of the matches that have begun.
	seats map[uint64]*seat
	// ending: true if no more matches may begin, regardless of wanted.
	ending bool
	// past: the log's size when this run began; nil if unknown. Earlier reports do not count as finished matches.
	past *uint64
	// parked: the server's reason for parking the bot; empty if the bot is not parked.
	parked string
	// reported: the latest reported matches, the oldest first. A node may repeat a report from another node.
	reported []uint64
	// nodes: the progress at every node.
	nodes []*progress
}

// progress is the state at one node that outlasts a stream: mainly the matches in progress there.
type progress struct {
	*goal
	// share: the part of the bot's capacity for this node; negative for all of it.
	share int
	// playing: matches that have begun.
	playing map[uint64]bool
	// accepted: invitations whose matches have not begun yet.
	accepted map[uint64]acceptance
	// reportsAfter: the last report's leaf number, or the log's size before the first report; nil if both are unknown.
	reportsAfter *uint64
}

// acceptance contains the commitment of an accepted invitation and the bot's random bytes.
type acceptance struct{ commitment, nonce []byte }

// seat contains the facts that a bot knows from a match's start; the nonce is empty if an earlier run of the program
// sent it.
type seat struct {
	number                  uint32
	nonce, salt, commitment []byte
}

func newGoal(wanted int) *goal { return &goal{wanted: wanted, seats: map[uint64]*seat{}} }

// newProgress returns the progress at a new node.
func (g *goal) newProgress(share int) *progress {
	made := &progress{goal: g, share: share, playing: map[uint64]bool{}, accepted: map[uint64]acceptance{}}
	g.nodes = append(g.nodes, made)
	return made
}

// underWay returns the number of matches at all nodes that are running or about to begin.
func (g *goal) underWay() (count int) {
	for _, each := range g.nodes {
		count += each.begun()
	}
	return count
}

// done reports whether the bot has no more matches to play at any node.
func (g *goal) done() bool {
	return g.underWay() == 0 && (g.ending || g.wanted != 0 && g.finished >= g.wanted)
}

// begun returns the number of matches at this node that are running or about to begin.
func (p *progress) begun() int { return len(p.playing) + len(p.accepted) }

// more reports whether another match may start at this node.
func (p *progress) more() bool {
	if p.ending || p.share >= 0 && p.begun() >= p.share {
		return false
	}
	return p.wanted == 0 || p.finished+p.underWay() < p.wanted
}

// room returns how many simultaneous matches are possible at this node with the bot's capacity.
func (p *progress) room(capacity int) int {
	if p.ending {
		return 0
	}
	if p.share >= 0 {
		capacity = p.share
	}
	if p.wanted == 0 {
		return capacity
	}
	elsewhere := p.underWay() - p.begun()
	return max(0, min(capacity, p.wanted-p.finished-elsewhere))
}

// forget removes all matches at a node that has vanished. If the node returns, it sends its running matches again.
func (p *progress) forget() {
	clear(p.playing)
	clear(p.accepted)
}

// reconnect forgets the state that the server sends again on a new connection: invitations and running
// matches. The last matches of a run are not forgotten: each gets its report or begins again.
func (p *progress) reconnect() {
	if !p.ending {
		clear(p.playing)
	}
	clear(p.accepted)
}

// welcomed stores the size of the server's log. Larger numbers belong to another log.
func (p *progress) welcomed(size uint64) {
	for _, number := range []**uint64{&p.reportsAfter, &p.past} {
		if *number == nil || **number > size {
			*number = &size
		}
	}
}

// session is the part of a stream's conversation that does not involve the bot, from the welcome on:
// heartbeats, invitations, the running matches. It continues while the bot thinks. It never waits and does no
// input or output.
type session struct {
	capacity int
	progress *progress
	// keep receives each report with an entry in the log of results, and the facts from the match's start; may be nil.
	keep func(report *arenav1.MatchReport, seat *seat)
	// challengers: lower-case names of the bots whose challenges the bot accepts; nil for all.
	challengers map[string]bool
	questions   *questions
	// room is the capacity last sent to the server; negative if it must be sent again.
	room int
}

// newSession returns the session that a welcome begins. The error is NoGameInCommon, or ProtocolMismatch if the
// server does not confirm the bot's ladders and events.
func newSession(welcome *arenav1.Welcome, profile *profile, progress *progress, keep func(*arenav1.MatchReport, *seat)) (*session, error) {
	for _, name := range profile.ladders {
		if !slices.ContainsFunc(welcome.Ladders, func(ladder *arenav1.LadderTerms) bool { return ladder.Name == name }) {
			text := fmt.Sprintf("the server does not confirm the ladder %s: it is older than ladders; name none", name)
			return nil, &Error{Kind: ProtocolMismatch, Text: text}
		}
	}
	for _, name := range profile.events {
		if !slices.Contains(welcome.Events, name) {
			text := fmt.Sprintf("the server does not confirm the event %s: it is older than events; name none", name)
			return nil, &Error{Kind: ProtocolMismatch, Text: text}
		}
	}
	common := slices.ContainsFunc(welcome.Games, func(game *arenav1.GameCatalog) bool { return slices.Contains(profile.games, game.Name) })
	if !common {
		text := fmt.Sprintf("the server plays none of the bot's games (%s)", strings.Join(profile.games, ", "))
		return nil, &Error{Kind: NoGameInCommon, Text: text}
	}
	return &session{profile.capacity, progress, keep, profile.challengers, newQuestions(), progress.room(profile.capacity)}, nil
}

// receive applies a message; it returns an immediate reply, nil for none.
func (s *session) receive(message *arenav1.PlayResponse) *arenav1.PlayRequest {
	reply, said := &arenav1.PlayRequest{}, false
	s.questions.receive(message)
	for _, decision := range message.Decisions {
		s.progress.playing[decision.MatchId] = true
	}
	if message.Heartbeat != nil {
		reply.Heartbeat, said = message.Heartbeat, true
	}
	for _, start := range message.Starts {
		s.start(start)
	}
	s.dropRepeated(message)
	for _, report := range message.Reports {
		s.end(report)
	}
	gone := map[uint64]bool{} // invitations that lead to no match
	for _, notice := range message.Notices {
		switch notice.Kind {
		case arenav1.NoticeKind_NOTICE_KIND_WITHDRAWN, arenav1.NoticeKind_NOTICE_KIND_TAKEN:
			delete(s.progress.accepted, notice.GetInvitationId())
			gone[notice.GetInvitationId()] = true
		case arenav1.NoticeKind_NOTICE_KIND_PARKED:
			s.progress.parked, s.progress.ending = notice.Text, true
		}
	}
	// Reports and notices come first, because they may free a place for an invitation in the same message.
	for _, invitation := range message.Invitations {
		s.invited(invitation, gone[invitation.InvitationId], reply)
		said = true
	}
	if room := s.progress.room(s.capacity); room > s.room {
		s.room = room
		capacity := uint32(room)
		reply.Capacity, said = &capacity, true
	}
	if !said {
		return nil
	}
	return reply
}

// dropRepeated removes reports that another node has already sent.
func (s *session) dropRepeated(message *arenav1.PlayResponse) {
	message.Reports = slices.DeleteFunc(message.Reports, func(report *arenav1.MatchReport) bool {
		if !slices.Contains(s.progress.reported, report.MatchId) {
			return false
		}
		delete(s.progress.playing, report.MatchId)
		if report.Entry != nil {
			s.progress.reportsAfter = &report.Entry.Number
		}
		return true
	})
}

// resize returns the message with the bot's capacity at the node; nil if the node knows it.
func (s *session) resize() *arenav1.PlayRequest {
	room := s.progress.room(s.capacity)
	if room == s.room {
		return nil
	}
	s.room = room
	capacity := uint32(room)
	return &arenav1.PlayRequest{Capacity: &capacity}
}

func (s *session) invited(invitation *arenav1.Invitation, gone bool, reply *arenav1.PlayRequest) {
	number := invitation.InvitationId
	_, again := s.progress.accepted[number]
	switch {
	case invitation.Kind == arenav1.MatchKind_MATCH_KIND_CHALLENGE && !s.takes(invitation):
		reply.Declined = append(reply.Declined, number)
	case again || gone || s.progress.more():
		nonce := ownChance()
		if !gone {
			s.progress.accepted[number] = acceptance{invitation.Commitment, nonce}
		}
		reply.Ready = append(reply.Ready, &arenav1.Ready{InvitationId: number, Nonce: nonce})
	default:
		reply.Declined = append(reply.Declined, number)
		s.room = -1
	}
}

// takes decides whether to accept a challenge, and logs the decision.
func (s *session) takes(invitation *arenav1.Invitation) bool {
	taken := s.challengers == nil || slices.ContainsFunc(invitation.Bots, func(name string) bool { return s.challengers[strings.ToLower(name)] })
	answer := "declined"
	if taken {
		answer = "accepted"
	}
	slog.Info(fmt.Sprintf("a challenge of %s: %s", strings.Join(invitation.Bots, ", "), answer))
	return taken
}

func (s *session) start(start *arenav1.MatchStart) {
	accepted, known := s.progress.accepted[start.InvitationId]
	delete(s.progress.accepted, start.InvitationId)
	if known && !opens(start, accepted.commitment) {
		slog.Error(fmt.Sprintf("match %d: its commitment is not the one of the invitation: the server may have chosen the deal", start.MatchId))
	}
	s.progress.playing[start.MatchId] = true
	if before := s.progress.seats[start.MatchId]; before == nil || !bytes.Equal(before.commitment, start.Commitment) {
		s.progress.seats[start.MatchId] = &seat{start.Seat, accepted.nonce, start.Salt, start.Commitment}
	}
}

// opens reports whether the start of a match fits the commitment in its invitation.
func opens(start *arenav1.MatchStart, promised []byte) bool {
	made := sha256.Sum256(slices.Concat(start.Salt, start.Commitment))
	// With other sizes, all bytes could be salt, so the commitment would not fix the deal.
	return len(start.Salt) == sha256.Size && len(start.Commitment) == sha256.Size && bytes.Equal(made[:], promised)
}

func (s *session) end(report *arenav1.MatchReport) {
	for _, each := range s.progress.nodes {
		delete(each.playing, report.MatchId)
	}
	if s.progress.reported = append(s.progress.reported, report.MatchId); len(s.progress.reported) > mostEnded {
		s.progress.reported = s.progress.reported[1:]
	}
	seat := s.progress.seats[report.MatchId]
	delete(s.progress.seats, report.MatchId)
	earlier := false
	if report.Entry != nil {
		if s.keep != nil {
			s.keep(report, seat)
		}
		number := report.Entry.Number
		if after := s.progress.reportsAfter; after == nil || *after < number {
			s.progress.reportsAfter = &number
		}
		earlier = s.progress.past != nil && number <= *s.progress.past
	}
	if report.Interrupted == "" && !earlier {
		s.progress.finished++
	}
}

// hello returns the first message of a stream.
func (p *progress) hello(profile *profile) *arenav1.PlayRequest {
	var events []*arenav1.EventEntry
	for _, event := range profile.events {
		events = append(events, &arenav1.EventEntry{Event: event, Nonce: ownChance()})
	}
	return &arenav1.PlayRequest{Hello: &arenav1.Hello{
		Games: profile.games, Capacity: uint32(p.room(profile.capacity)), Client: "arena-client-go " + Version, Version: profile.version,
		Casual: profile.casual, Challenges: profile.challenges, Features: profile.features, ReportsAfter: p.reportsAfter, Ladders: profile.ladders,
		Events: events,
	}}
}

// ownChance returns the bot's random bytes for a deal or for an event's draw.
func ownChance() []byte {
	nonce := make([]byte, 16)
	rand.Read(nonce) // never fails
	return nonce
}

// concernsBot reports whether any part of a message is for the bot itself.
func concernsBot(message *arenav1.PlayResponse) bool {
	return len(message.Decisions)+len(message.Starts)+len(message.Rounds)+len(message.Reports)+len(message.Notices) > 0
}
