package client

import (
	"context"
	"slices"
	"sync"

	arenav1 "arena.example/client/v1"
)

// mostEnded is the maximum number of ended matches to remember; their messages may still be waiting for the bot.
const mostEnded = 1000

// questions are the open decisions of one stream. The connection's goroutine adds and closes them. The bot's
// goroutine looks them up, and removes those that it has answered.
type questions struct {
	mutex sync.Mutex
	open  map[question]*asking
	// ended contains the latest ended matches, the oldest first.
	ended []uint64
}

// question names a decision.
type question struct {
	match    uint64
	decision uint32
}

func newQuestions() *questions { return &questions{open: map[question]*asking{}} }

// receive applies a message: its new decisions, the decisions made without the bot, and the ended matches.
func (q *questions) receive(message *arenav1.PlayResponse) {
	if len(message.Decisions)+len(message.Closed)+len(message.Reports) == 0 {
		return
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, decision := range message.Decisions {
		q.open[question{decision.MatchId, decision.DecisionId}] = &asking{}
	}
	for _, each := range message.Closed {
		q.close(question{each.MatchId, each.DecisionId})
	}
	for _, report := range message.Reports {
		for each := range q.open {
			if each.match == report.MatchId {
				q.close(each)
			}
		}
		if q.ended = append(q.ended, report.MatchId); len(q.ended) > mostEnded {
			q.ended = q.ended[1:]
		}
	}
}

func (q *questions) close(closed question) {
	if asked := q.open[closed]; asked != nil {
		delete(q.open, closed)
		asked.close()
	}
}

// find returns an open decision; nil if it is closed.
func (q *questions) find(match uint64, decision uint32) *asking {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.open[question{match, decision}]
}

// answered removes a decision that the bot has answered.
func (q *questions) answered(match uint64, decision uint32) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.close(question{match, decision})
}

// plays reports whether a match is still running, as far as the client knows.
func (q *questions) plays(match uint64) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return !slices.Contains(q.ended, match)
}

// asking is one open decision. Its context is created when the bot requests it.
type asking struct {
	mutex  sync.Mutex
	closed bool
	made   context.Context
	cancel context.CancelFunc
}

// context returns the decision's context, a child of parent.
func (a *asking) context(parent context.Context) context.Context {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.made == nil {
		a.made, a.cancel = context.WithCancel(parent)
		if a.closed {
			a.cancel()
		}
	}
	return a.made
}

func (a *asking) close() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.closed = true
	if a.cancel != nil {
		a.cancel()
	}
}

func (a *asking) isClosed() bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.closed
}
