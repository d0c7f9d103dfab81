package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	arenav1 "arena.example/client/v1"
)

// hold is the maximum time that finished answers wait for further answers before they are sent.
const hold = 10 * time.Millisecond

// errInterrupted means that the bot's code is not called any more, because the program must stop.
var errInterrupted = errors.New("the bot was told to stop")

// caller makes all calls of a bot's code, one at a time. It does no input or output.
type caller struct {
	bot *Bot
	// playOn: log an error in the bot and play the first legal action, instead of ending the run.
	playOn bool
	now    func() time.Duration
	// ctx is done when the bot must not be called any more.
	ctx context.Context
	// arrivals are the messages that the bot is handling, from one or more streams.
	arrivals []arrival
	// since is the time at which the bot got the arrivals, or at which replies were last sent.
	since time.Duration
}

// arrival is one message for the bot, with the time at which it arrived and the replies to its stream.
type arrival struct {
	message  *arenav1.PlayResponse
	received time.Duration
	to       *replies
}

// replies holds the bot's pending reply on one stream, and the stream's open decisions.
type replies struct {
	questions *questions
	say       func(*arenav1.PlayRequest)
	out       *arenav1.PlayRequest
}

// react passes messages from one or more streams to the bot and sends its replies: on each stream none, one, or several
// if the bot takes long. The bot gets the decisions in all messages at once.
//
// The bot is not asked about closed decisions. The error is the bot's *Error, ProtocolMismatch, or errInterrupted.
func (c *caller) react(arrivals []arrival, games map[string]*Catalog) error {
	c.arrivals, c.since = arrivals, c.now()
	for _, each := range arrivals {
		if err := c.news(each.message, each.to); err != nil {
			return err
		}
	}
	var decisions []*Decision
	for _, arrival := range arrivals {
		for _, each := range arrival.message.Decisions {
			decision, err := DecisionOf(each, games)
			if err != nil {
				return err
			}
			decision.asking, decision.parent = arrival.to.questions.find(each.MatchId, each.DecisionId), c.ctx
			decision.to, decision.received = arrival.to, arrival.received
			if decision.asking != nil {
				decisions = append(decisions, decision)
			}
		}
	}
	if err := c.answers(decisions); err != nil {
		return err
	}
	c.send()
	return nil
}

func (c *caller) news(message *arenav1.PlayResponse, to *replies) error {
	var wrong error
	told := func(call func()) bool {
		wrong = c.tell(call)
		return wrong == nil
	}
	if message.Welcome != nil && c.bot.OnWelcome != nil && !told(func() { c.bot.OnWelcome(message.Welcome) }) {
		return wrong
	}
	for _, start := range message.Starts {
		if c.bot.OnMatchStart != nil && !told(func() { c.bot.OnMatchStart(start) }) {
			return wrong
		}
	}
	for _, round := range message.Rounds {
		if c.bot.OnRound != nil && !told(func() { c.bot.OnRound(round) }) {
			return wrong
		}
	}
	onMatchEnd, onNotice := c.bot.OnMatchEnd, c.bot.OnNotice
	if onMatchEnd == nil {
		onMatchEnd = logMatchEnd
	}
	if onNotice == nil {
		onNotice = logNotice
	}
	for _, report := range message.Reports {
		if !told(func() { onMatchEnd(report) }) {
			return wrong
		}
	}
	for _, notice := range message.Notices {
		if !told(func() { onNotice(notice) }) {
			return wrong
		}
		if notice.Kind == arenav1.NoticeKind_NOTICE_KIND_SUSPENDED && notice.MatchId != nil && to.questions.plays(*notice.MatchId) {
			reply := to.reply()
			reply.Resumed = append(reply.Resumed, *notice.MatchId) // a bot that receives this notice is back
		}
		c.part()
	}
	return nil
}

// tell calls a function of the bot that returns no answer.
func (c *caller) tell(call func()) error {
	if c.ctx.Err() != nil {
		return errInterrupted
	}
	err := guarded(func() error { call(); return nil })
	if err != nil && c.playOn {
		slog.Error("the bot failed outside a decision: " + err.Error())
		return nil
	}
	return err
}

func (c *caller) answers(decisions []*Decision) error {
	left := make([][2]int, len(decisions)) // the times left on arrival
	for at, each := range decisions {
		left[at] = [2]int{each.SoftMs, each.BankMs}
	}
	for len(decisions) > 0 {
		done := 0
		err := guarded(func() error { return c.ask(decisions, left, &done) })
		if errors.Is(err, errInterrupted) {
			return err
		}
		if err != nil {
			where := whereOf(decisions[min(done, len(decisions)-1)], len(decisions))
			if !c.playOn {
				if failure := (*Error)(nil); errors.As(err, &failure) {
					failure.Text += "\n" + where
				}
				return err
			}
			slog.Error(fmt.Sprintf("the bot failed; its first legal action is played instead: %v\n%s", err, where))
			if done < len(decisions) {
				c.answer(decisions[done], decisions[done].Legal[0])
				done++
				c.part()
			}
		}
		decisions, left = decisions[done:], left[done:]
	}
	return nil
}

// ask asks the bot for all decisions; done counts the answered ones.
func (c *caller) ask(decisions []*Decision, left [][2]int, done *int) error {
	tellTime := func(at int) {
		soft, bank := left[at][0], left[at][1]
		passed := max(0, int((c.now() - decisions[at].received).Round(time.Millisecond).Milliseconds()))
		decisions[at].SoftMs, decisions[at].BankMs = max(0, soft-passed), max(0, bank-max(0, passed-soft))
	}
	for at := range decisions {
		tellTime(at)
	}
	if c.ctx.Err() != nil {
		return errInterrupted
	}
	asked := slices.Clone(decisions) // a copy, because the bot may change it
	for choice := range c.bot.choices(asked) {
		at, of := *done, len(decisions)
		if at == of {
			return &Error{Kind: BadAnswer, Text: fmt.Sprintf("DecideMany gave more than %d answers to %d decisions", of, of)}
		}
		unneeded := choice == None && decisions[at].asking.isClosed()
		if !unneeded && !slices.Contains(decisions[at].Legal, choice) {
			text := fmt.Sprintf("answer %d of %d is %d, which is not legal here; decision.Legal is %v", at+1, of, choice, decisions[at].Legal)
			return &Error{Kind: BadAnswer, Text: text}
		}
		c.answer(decisions[at], choice)
		*done = at + 1
		c.part()
		if *done < of {
			tellTime(*done)
			if c.ctx.Err() != nil {
				return errInterrupted
			}
		}
	}
	if *done < len(decisions) {
		return &Error{Kind: BadAnswer, Text: fmt.Sprintf("DecideMany gave %d answers to %d decisions", *done, len(decisions))}
	}
	return nil
}

func (c *caller) answer(decision *Decision, action int) {
	if action == None || decision.asking.isClosed() && !decision.to.questions.plays(decision.MatchID) {
		return // in a running match, late answers are sent too: the server's notice says how late they were
	}
	decision.to.questions.answered(decision.MatchID, uint32(decision.DecisionID))
	reply := decision.to.reply()
	answer := &arenav1.Answer{MatchId: decision.MatchID, DecisionId: uint32(decision.DecisionID), Action: uint32(action)}
	reply.Answers = append(reply.Answers, answer)
}

// reply returns the pending reply, creating it if needed.
func (r *replies) reply() *arenav1.PlayRequest {
	if r.out == nil {
		r.out = &arenav1.PlayRequest{}
	}
	return r.out
}

// send sends the pending replies.
func (c *caller) send() {
	for _, each := range c.arrivals {
		if reply := each.to.out; reply != nil {
			each.to.out, c.since = nil, c.now()
			each.to.say(reply)
		}
	}
}

// part sends the pending replies if they have waited long enough.
func (c *caller) part() {
	if c.now()-c.since > hold {
		c.send()
	}
}

// guarded turns a panic into an error.
func guarded(call func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &Error{Kind: BotFailed, Text: fmt.Sprintf("the bot panicked: %v\n%s", cause, debug.Stack())}
		}
	}()
	return call()
}

// whereOf describes a decision and the bot's view.
func whereOf(decision *Decision, of int) string {
	batch, round, seen := "", "", ""
	if of > 1 {
		batch = fmt.Sprintf(", the first unanswered of %d", of)
	}
	switch view := decision.View.(type) {
	case *anypb.Any:
		seen = fmt.Sprintf("%s %x", view.TypeUrl, view.Value)
	case interface {
		proto.Message
		GetRound() uint32
	}:
		round = fmt.Sprintf("round %d, ", view.GetRound()+1)
		text, _ := protojson.Marshal(view)
		seen = string(text)
	}
	return fmt.Sprintf("in match %d of %s, %sdecision %d%s; legal: %v; view: %s",
		decision.MatchID, decision.Game.Name, round, decision.DecisionID, batch, decision.Legal, seen)
}
