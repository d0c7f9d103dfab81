package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	arenav1 "arena.example/client/v1"
)

// delivery is one message from the server.
type delivery struct {
	session   int
	message   *arenav1.PlayResponse
	questions *questions
	received  time.Duration
}

// answering queues messages for a bot, and calls the bot for each in order.
type answering struct {
	caller *caller
	say    func(session int, request *arenav1.PlayRequest)
	games  map[string]*Catalog

	mutex      sync.Mutex
	changed    *sync.Cond
	deliveries []delivery
	ended      bool
	err        error
	// hurry stops all further calls of the bot.
	hurry context.CancelFunc
}

// newAnswering returns an empty queue; when the context is done, the bot is not called any more.
func newAnswering(ctx context.Context, caller *caller, say func(session int, request *arenav1.PlayRequest)) *answering {
	a := &answering{caller: caller, say: say}
	caller.ctx, a.hurry = context.WithCancel(ctx)
	a.changed = sync.NewCond(&a.mutex)
	return a
}

func (a *answering) deliver(session int, message *arenav1.PlayResponse, questions *questions, received time.Duration) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.deliveries = append(a.deliveries, delivery{session, message, questions, received})
	a.changed.Broadcast()
}

func (a *answering) over(session int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, each := range a.deliveries {
		if each.session == session {
			each.message.Decisions = nil
		}
	}
}

// end closes the queue. err: the error that ended the connection, nil for none.
func (a *answering) end(err error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.ended, a.err = true, err
	a.changed.Broadcast()
}

// wait waits for the end of the queue, even if the bot is still busy, and returns its error.
func (a *answering) wait() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for !a.ended {
		a.changed.Wait()
	}
	return a.err
}

// answer calls the bot for each message until the queue is closed. It returns the bot's error or the one passed to end.
func (a *answering) answer() error {
	for {
		a.mutex.Lock()
		for len(a.deliveries) == 0 && !a.ended {
			a.changed.Wait()
		}
		over, err := len(a.deliveries) == 0, a.err
		a.mutex.Unlock()
		if over {
			return err
		}
		if err := a.one(); err != nil {
			return err
		}
	}
}

// one calls the bot for the oldest delivery, if there is any. With deliveries of several streams, it also handles the
// later ones, up to one message with decisions per stream.
func (a *answering) one() error {
	a.mutex.Lock()
	var arrivals []arrival
	to, asks := map[int]*replies{}, map[int]bool{}
	several := slices.ContainsFunc(a.deliveries, func(each delivery) bool { return each.session != a.deliveries[0].session })
	for len(a.deliveries) > 0 && !asks[a.deliveries[0].session] && (several || len(arrivals) == 0) {
		next := a.deliveries[0]
		a.deliveries = a.deliveries[1:]
		if asks[next.session] = len(next.message.Decisions) > 0; to[next.session] == nil {
			say := func(request *arenav1.PlayRequest) { a.say(next.session, request) }
			to[next.session] = &replies{questions: next.questions, say: say}
		}
		arrivals = append(arrivals, arrival{next.message, next.received, to[next.session]})
	}
	a.mutex.Unlock()
	for _, each := range arrivals {
		if each.message.Welcome != nil {
			a.games = map[string]*Catalog{}
			for _, game := range each.message.Welcome.Games {
				a.games[game.Name] = CatalogOf(game)
			}
		}
	}
	err := a.caller.react(arrivals, a.games)
	if errors.Is(err, errInterrupted) { // after a stop the bot makes no more decisions
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.deliveries = nil
		return nil
	}
	return err
}
