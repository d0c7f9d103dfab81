package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	arenav1 "arena.example/client/v1"
)

// Bot is a player. It needs Decide or DecideMany; the rest is optional. Run calls it with decisions and sends
// its answers, in one goroutine, one call at a time.
type Bot struct {
	// Name has 1 to 40 letters, digits, '.', '_' or '-'; "bot" if empty.
	Name string
	// Owner is the bot's owner; its own name if empty. Bots of one owner meet in challenges only.
	Owner string
	// Games are the names of the bot's games; 6th Sense if empty. They may include games that are not in Games().
	Games []string
	// Features are protocol features newer than this client that the bot's code understands; none is defined yet.
	Features []string
	// Capacity is the number of matches that the bot plays at once; 0 means 8.
	Capacity int
	// Files are files that affect the bot's behaviour, such as weights. The version's digest covers them.
	Files []string
	// Version has at most 40 printable characters; if empty, it is a digest of the program's file and Files.
	// Each version has its own rating.
	Version string

	// Decide chooses one of decision.Legal.
	Decide func(decision *Decision) int
	// DecideMany chooses for all open decisions at once: one action for each decision, in the same order
	// (slices.Values returns such a sequence). Set it instead of Decide if many decisions together are cheaper
	// than one by one. Yielded actions are sent while it continues. For a decision whose context is done, the
	// action may be None.
	DecideMany func(decisions []*Decision) iter.Seq[int]
	// OnWelcome is called at each connection with the server's first message: its rules, its limits, the games'
	// catalogues, and the Features in use.
	OnWelcome func(welcome *Welcome)
	// OnMatchStart is called at the beginning of a match and after a reconnect, with the seat and the names of all bots.
	OnMatchStart func(start *MatchStart)
	// OnRound is called at the end of a round; the report shows all cards. The record of a game not in Games() is in Other.
	OnRound func(report *RoundReport)
	// OnMatchEnd is called at the end of a match; by default place, points and rating are logged.
	OnMatchEnd func(report *MatchReport)
	// OnNotice is called for each notice; by default the notice is logged, as a warning if the bot is at fault.
	OnNotice func(notice *Notice)
}

func (b *Bot) choices(decisions []*Decision) iter.Seq[int] {
	if b.DecideMany != nil {
		return b.DecideMany(decisions)
	}
	return func(yield func(int) bool) {
		for _, decision := range decisions {
			choice := None
			if decision.asking == nil || !decision.asking.isClosed() {
				choice = b.Decide(decision)
			}
			if !yield(choice) {
				return
			}
		}
	}
}

func logMatchEnd(report *MatchReport) {
	if report.Interrupted != "" {
		slog.Warn(fmt.Sprintf("match %d was interrupted: %s", report.MatchId, report.Interrupted))
		return
	}
	rated := ""
	if report.Rating != nil {
		rated = fmt.Sprintf(", rating %.0f (%+.1f)", report.Rating.After, report.Rating.After-report.Rating.Before)
	}
	if int(report.Seat) >= min(len(report.Places), len(report.Scores)) {
		slog.Info(fmt.Sprintf("match %d is over%s", report.MatchId, rated))
		return
	}
	place, points := report.Places[report.Seat], report.Scores[report.Seat]
	slog.Info(fmt.Sprintf("match %d: place %d of %d with %d points%s", report.MatchId, place, len(report.Places), points, rated))
}

func logNotice(notice *Notice) {
	level := slog.LevelInfo
	switch notice.Kind {
	case arenav1.NoticeKind_NOTICE_KIND_PARKED: // the error that ends the run reports the parking
		return
	case arenav1.NoticeKind_NOTICE_KIND_ILLEGAL, arenav1.NoticeKind_NOTICE_KIND_STALE, arenav1.NoticeKind_NOTICE_KIND_UNKNOWN,
		arenav1.NoticeKind_NOTICE_KIND_FORCED_BY_TIME, arenav1.NoticeKind_NOTICE_KIND_FORCED_BY_ILLEGALITY,
		arenav1.NoticeKind_NOTICE_KIND_SUSPENDED:
		level = slog.LevelWarn
	}
	where := "server"
	if notice.MatchId != nil {
		where = fmt.Sprintf("match %d", *notice.MatchId)
	}
	if notice.DecisionId != nil {
		where += fmt.Sprintf(", decision %d", *notice.DecisionId)
	}
	slog.Log(context.Background(), level, fmt.Sprintf("%s: %s: %s", where, kindName(notice.Kind), oneLine(notice.Text)))
}

// kindName returns the name of a kind of notice, such as "forced by time"; "notice 99" for an unknown kind.
func kindName(kind arenav1.NoticeKind) string {
	name, known := arenav1.NoticeKind_name[int32(kind)]
	if !known {
		return fmt.Sprintf("notice %d", kind)
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "NOTICE_KIND_"), "_", " "))
}

func oneLine(text string) string {
	return cmp.Or(strings.Join(strings.Fields(text), " "), "no reason given")
}
