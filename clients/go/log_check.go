package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	arenav1 "arena.example/client/v1"
)

// consistency requests the server's proof that a log is the beginning of a longer one; the server may refuse.
type consistency func(first, second uint64) (proof [][]byte, refused bool, err error)

// logChecker checks at each welcome that the server's log of results has only grown since the bot's last
// check. It reports a fault once, and the bot continues to play.
type logChecker struct {
	// mutex is not locked during a request for a proof.
	mutex    sync.Mutex
	receipts *receipts
	alarmed  bool
}

func newLogChecker(file string) *logChecker { return &logChecker{receipts: &receipts{file: file}} }

// take stores the log entry of a report.
func (l *logChecker) take(report *arenav1.MatchReport, seat *seat) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.receipts.take(report, seat)
}

// reportsAfter returns the number of the last report that the bot has, or the log's size before the first report; nil if both are
// unknown.
func (l *logChecker) reportsAfter() *uint64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.receipts.load()
	return l.receipts.reportsAfter
}

// welcomed checks the log that a welcome shows, in a separate goroutine. oneOfSeveral: as for check.
func (l *logChecker) welcomed(state *arenav1.LogState, oneOfSeveral bool, channel channel) {
	seen := l.seen()
	go func() {
		if err := l.check(state, seen, oneOfSeveral, channel.consistency); err != nil {
			slog.Info(fmt.Sprintf("the server's log of results was not checked: %v", err))
		}
	}()
}

// seen returns the head of the longest log that the bot knows, nil for none. Call it when the welcome arrives: reports
// of matches that end during the check belong to longer logs.
func (l *logChecker) seen() *arenav1.LogHead {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.receipts.load()
	return l.receipts.latest(math.MaxUint64)
}

// check compares the log in a welcome (nil without a log) with the log seen before. It returns an error
// if the server does not answer. oneOfSeveral: the server is one of several nodes, so another node may have sent a
// report with a newer head in the meantime.
func (l *logChecker) check(state *arenav1.LogState, seen *arenav1.LogHead, oneOfSeveral bool, ask consistency) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	asked := ask
	ask = func(first, second uint64) ([][]byte, bool, error) {
		l.mutex.Unlock()
		defer l.mutex.Lock()
		return asked(first, second)
	}
	if state.GetHead() == nil {
		if l.receipts.pin != nil {
			l.alarm("the server had a log of results and shows none now")
		}
		return nil
	}
	keys, err := readKeys(state.Keys)
	switch {
	case err != nil:
		l.alarm("it shows " + err.Error())
	case !keys.signed(state.Head):
		l.alarm("its head is not signed by its key")
	case l.receipts.pin == nil:
		l.receipts.pinTo(state, nil)
	default:
		return l.compare(state, cmp.Or(seen, l.receipts.pin.Head.head()), oneOfSeveral, ask)
	}
	return nil
}

func (l *logChecker) compare(state *arenav1.LogState, known *arenav1.LogHead, oneOfSeveral bool, ask consistency) error {
	pin, head, keys := l.receipts.pin, state.Head, texts(state.Keys)
	if pin.Head.Size == head.Size && bytes.Equal(pin.Head.Root, head.Root) && slices.Equal(pin.Keys, keys) {
		return nil
	}
	if len(pin.Keys) > len(keys) || !slices.Equal(pin.Keys, keys[:len(pin.Keys)]) {
		l.alarm("its key is not the one that this bot knows, and that one did not name it")
		return nil
	}
	if known.Size <= head.Size {
		begun, err := begins(known, head, ask)
		if err != nil {
			return err
		}
		if begun {
			l.receipts.pinTo(state, nil)
			return nil
		}
	}
	if oneOfSeveral && known.Size > head.Size {
		begun, err := begins(head, known, ask)
		if err != nil || begun {
			return err
		}
	}
	cut := newCut(state, pin.Restores, known.Size)
	if cut == nil {
		l.alarm(fmt.Sprintf("it does not begin with the %d entries that this bot has seen", known.Size))
		return nil
	}
	if earlier := l.receipts.latest(cut.size); earlier != nil {
		begun, err := begins(earlier, head, ask)
		if err != nil {
			return err
		}
		if !begun {
			l.alarm(fmt.Sprintf("it was restored from a backup, and does not begin with the %d entries before that", earlier.Size))
			return nil
		}
	}
	l.tell(cut)
	l.receipts.pinTo(state, &cut.size)
	return nil
}

// tell warns of the bot's results that a restoration lost.
func (l *logChecker) tell(cut *cutLog) {
	var beyond []uint64
	for _, entry := range l.receipts.entries {
		if entry[0] > cut.size {
			beyond = append(beyond, entry[1])
		}
	}
	which := ""
	if len(beyond) == 1 {
		which = fmt.Sprintf(" (match %d)", beyond[0])
	} else if len(beyond) > 1 {
		which = fmt.Sprintf(" (matches %d to %d)", beyond[0], beyond[len(beyond)-1])
	}
	slog.Warn(fmt.Sprintf("the server was restored from a backup on %s UTC, and its log goes on from entry %d: %d of this bot's receipts are of "+
		"results after that%s, which it does not know any more; they are kept in %s, and the bot plays on",
		cut.at.UTC().Format("2006-01-02 15:04"), cut.size, len(beyond), which, cmp.Or(l.receipts.file, "memory")))
}

func (l *logChecker) alarm(problem string) {
	if l.alarmed {
		return
	}
	l.alarmed = true
	slog.Error(fmt.Sprintf("THE SERVER'S LOG OF RESULTS IS NOT WHAT IT WAS: %s. Results may have been changed. What this bot was told is kept in "+
		"%s; it plays on", problem, cmp.Or(l.receipts.file, "memory")))
}

// begins reports whether one log is the beginning of another log.
func begins(first, second *arenav1.LogHead, ask consistency) (bool, error) {
	if first.Size == second.Size {
		return bytes.Equal(first.Root, second.Root), nil
	}
	proof, refused, err := ask(first.Size, second.Size)
	return err == nil && !refused && consistent(first, second, proof), err
}

// cutLog is the size to which a restoration cut a log, and the time of the restoration.
type cutLog struct {
	size uint64
	at   time.Time
}

// newCut returns the cut to the smallest size, among new restorations to fewer than `seen` entries; nil if there is
// none.
func newCut(state *arenav1.LogState, known []string, seen uint64) (best *cutLog) {
	for _, entry := range state.Restores {
		under := entry.Head != nil && entry.Head.Size == state.Head.Size && bytes.Equal(entry.Head.Root, state.Head.Root)
		if !under || slices.Contains(known, string(entry.Leaf)) || !included(entry) {
			continue
		}
		var leaf struct {
			Kind string
			Size uint64
			At   int64
		}
		if json.Unmarshal(entry.Leaf, &leaf) != nil || leaf.Kind != "restore" || entry.Number != leaf.Size+1 || leaf.Size >= seen {
			continue
		}
		if best == nil || leaf.Size < best.size {
			best = &cutLog{leaf.Size, time.UnixMicro(leaf.At)}
		}
	}
	return best
}
