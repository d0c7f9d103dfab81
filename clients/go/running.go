package client

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	arenav1 "arena.example/client/v1"
)

// Run connects a bot to the server at "host:port" and plays until Ctrl-C or until enough matches are finished.
//
// An empty address stands for ARENA_SERVER, or localhost:50051. At Ctrl-C the bot starts no more matches
// and finishes the current ones, for 30 s at most (ARENA_DRAIN); after SIGTERM for 8 s. Then, or at the
// second signal, it leaves the remaining matches.
//
// After a lost connection the bot reconnects. Permanent errors are returned as an *Error. So is an error in the bot,
// unless Options.PlayOn is set.
func Run(bot Bot, address string, options Options) error {
	limit, err := drainLimit()
	if err != nil {
		return err
	}
	made, err := newRun(context.Background(), &bot, address, options)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	made.start()
	stopping := false
	for {
		select {
		case heard := <-signals:
			within := limit
			if heard == syscall.SIGTERM {
				within = min(limit, drainTerminated)
			}
			if !stopping && within > 0 {
				made.connection.drain(within)
			} else {
				made.leave()
			}
			stopping = true
		case err := <-made.over:
			if stopping && err == nil {
				slog.Info("stopped")
			}
			return err
		}
	}
}

// Play is like Run, but without signal handling: when the context is done, the bot leaves its matches properly, house bots take its
// seats, and the context's error is returned.
func Play(ctx context.Context, bot Bot, address string, options Options) error {
	made, err := newRun(ctx, &bot, address, options)
	if err != nil {
		return err
	}
	made.start()
	select {
	case <-ctx.Done():
		made.leave()
		return cmp.Or(<-made.over, ctx.Err())
	case err := <-made.over:
		return err
	}
}

// run is a running bot: its connection, the goroutine of its code, and its end.
type run struct {
	connection *connection
	answering  *answering
	// over receives the run's error once, nil for none.
	over chan error
}

func newRun(ctx context.Context, bot *Bot, address string, options Options) (*run, error) {
	profile, err := profileOf(bot, address, options)
	if err != nil {
		return nil, err
	}
	clock := machineClock{time.Now()}
	made := &run{over: make(chan error, 1)}
	caller := &caller{bot: bot, playOn: options.PlayOn, now: clock.now}
	made.answering = newAnswering(ctx, caller, func(session int, request *arenav1.PlayRequest) { made.connection.say(session, request) })
	around := surroundings{
		open:     func(address string) (channel, error) { return openNetwork(profile, address) },
		clock:    clock,
		inbox:    made.answering,
		hurry:    made.answering.hurry,
		chance:   rand.Float64,
		obstacle: func(found func(string)) { go func() { found(obstacle(profile)) }() },
		done:     made.answering.end,
	}
	if profile.keepsReceipts {
		log := newLogChecker(profile.receipts)
		around.keep, around.welcomed, around.reportsAfter = log.take, log.welcomed, log.reportsAfter
	}
	made.connection = newConnection(profile, around)
	return made, nil
}

// start lets the bot play, in other goroutines.
func (r *run) start() {
	answered := make(chan error, 1)
	go func() { answered <- r.answering.answer() }()
	go func() {
		select {
		case err := <-answered:
			r.connection.end(nil)
			r.answering.hurry()
			r.over <- err
		case <-r.answering.caller.ctx.Done(): // do not wait for a bot that is still computing
			r.over <- r.answering.wait()
		}
	}()
	r.connection.start()
}

// leave makes the bot leave at once.
func (r *run) leave() {
	r.answering.hurry()
	r.connection.leave()
}
