package client

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/status"

	arenav1 "arena/client/v1"
)

const (
	// answerTime is what the server has for a registration, for its welcome and for its goodbye.
	answerTime = 20 * time.Second
	// firstWait is the longest before the first try to come back.
	firstWait = 100 * time.Millisecond
	// longestWait is that between two tries while the server may only be starting again.
	longestWait = 5 * time.Second
	// longOutage is the time without a connection after which that is no longer likely.
	longOutage = 2 * time.Minute
	// longestOutageWait is the longest between two tries after that.
	longestOutageWait = 30 * time.Second
	// leaveTime is what the server has to take leave of a bot that stops in the middle of matches.
	leaveTime = 2 * time.Second
	// steady is the time after which a connection counts as a good one, and the waits begin anew.
	steady = time.Second
	// probes are the failures at most that are looked into before there was any connection.
	probes = 3
)

// clock has the time and its alarms.
type clock interface {
	// now returns the time since whenever.
	now() time.Duration
	// after makes a call later, never at once; it returns what calls it off.
	after(wait time.Duration, call func()) (callOff func())
}

// call is one stream of gRPC's. None of its methods waits.
type call interface {
	write(request *arenav1.PlayRequest)
	// end closes the bot's side.
	end()
	// cancel ends all of it.
	cancel()
}

// callEvents are what happens on a stream; never while its call is being made.
type callEvents struct {
	message func(*arenav1.PlayResponse)
	ended   func(*status.Status)
}

// channel leads to the server, for one try. What it is asked it tells later, never at once.
type channel interface {
	play(token string, events callEvents) call
	register(request *arenav1.RegisterBotRequest, patience time.Duration, answered func(*arenav1.RegisterBotResponse, *status.Status))
	// consistency proves that a log begins another; it gives no proof where the server refuses, and waits.
	consistency(first, second uint64) (proof [][]byte, refused bool, err error)
	close()
}

// inbox is where a connection puts what is for the bot. Sessions are numbered, one a stream.
type inbox interface {
	// deliver has a message of the server; the first of a session has the welcome. received: when, by the clock.
	deliver(session int, message *arenav1.PlayResponse, received time.Duration)
	// over: what a session asked is asked again by the next one.
	over(session int)
	// hurry: there is no time left, and the bot is to be called no more.
	hurry()
}

// surroundings are what a connection is given besides the bot's profile.
type surroundings struct {
	open  func() (channel, error)
	clock clock
	inbox inbox
	// chance returns a number from 0 to 1.
	chance func() float64
	// obstacle finds what is in the way for good, in words, where a first connection fails.
	obstacle func(found func(string))
	// done is told the end, once: nil where all is well.
	done func(error)
	// keep: see session; welcomed is told the log that each welcome shows. Either may be nil.
	keep     func(report *arenav1.MatchReport, seat *seat)
	welcomed func(state *arenav1.LogState, channel channel)
}

// connection is a bot's life on a server: it registers once, connects, and connects again when the connection is lost. Heartbeats
// and invitations are answered here, in whatever goroutine brings them, and the rest goes into the bot's inbox. It waits for nothing.
type connection struct {
	surroundings
	profile *profile

	mutex    sync.Mutex
	progress *progress
	name     string
	// try counts the tries to connect: what comes of an earlier one is passed over.
	try     int
	channel channel
	call    call
	session *session
	number  int
	// known: whether the token of this try was known before it.
	known bool
	// greeted: whether there was a welcome on this try; reached: whether there ever was.
	greeted, reached         bool
	leaving, finishing, over bool
	probed                   int
	begun, good, seen        time.Duration
	alarms                   map[int]func()
	alarmed                  int
}

func newConnection(profile *profile, around surroundings) *connection {
	return &connection{surroundings: around, profile: profile, name: profile.name, progress: newProgress(profile.matches), alarms: map[int]func(){}}
}

// longest returns the longest wait before the next try, so long after the last good connection.
func longest(outage time.Duration) time.Duration {
	limit := longestWait
	if outage > longOutage {
		limit = longestOutageWait
	}
	return min(limit, max(firstWait, outage))
}

// start connects, and stays until the matches wanted are played, the server has taken leave, or end.
func (c *connection) start() {
	c.locked(func() {
		c.good = c.clock.now()
		c.seen = c.good
		c.connect()
	})
}

// drain begins no more matches and finishes those that go on; it leaves what is left after a while.
func (c *connection) drain(limit time.Duration) {
	c.locked(func() {
		c.progress.ending = true
		left := c.progress.begun()
		if left == 0 {
			c.finish(nil)
			return
		}
		slog.Info(fmt.Sprintf("finishing %s within %.0f s, and beginning no more; once more, and it leaves at once: "+
			"house bots play them on, and each counts as a last place", matches(left), limit.Seconds()))
		if c.call != nil {
			none := uint32(0)
			c.call.write(&arenav1.PlayRequest{Capacity: &none})
		}
		c.after(limit, func() {
			c.leaveNow()
			c.inbox.hurry()
		})
	})
}

// leave tells the server that the bot leaves, if it plays or is about to; the server then ends the stream.
func (c *connection) leave() { c.locked(c.leaveNow) }

func (c *connection) leaveNow() {
	left := c.progress.begun()
	if c.call == nil || left == 0 {
		c.finish(nil)
		return
	}
	if c.leaving {
		return
	}
	c.leaving = true
	slog.Info(fmt.Sprintf("leaving %s in order: house bots play them on, and each counts as a last place", matches(left)))
	c.call.write(&arenav1.PlayRequest{Leave: true})
	c.after(leaveTime, func() { c.finish(nil) })
}

// end ends it without a word; err: why, nil where all is well.
func (c *connection) end(err error) { c.locked(func() { c.finish(err) }) }

// say has something said on a session's stream, if it is still there.
func (c *connection) say(number int, request *arenav1.PlayRequest) {
	c.locked(func() {
		if number == c.number && c.greeted && c.call != nil {
			c.call.write(request)
		}
	})
}

// locked does something unless all is over.
func (c *connection) locked(something func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.over {
		something()
	}
}

// during does something, unless another try has begun since or all is over.
func (c *connection) during(try int, something func()) {
	c.locked(func() {
		if try == c.try {
			something()
		}
	})
}

func (c *connection) after(wait time.Duration, something func()) (callOff func()) {
	c.alarmed++
	number := c.alarmed
	c.alarms[number] = c.clock.after(wait, func() {
		c.locked(func() {
			if _, due := c.alarms[number]; due {
				delete(c.alarms, number)
				something()
			}
		})
	})
	return func() {
		if off, due := c.alarms[number]; due {
			delete(c.alarms, number)
			off()
		}
	}
}

func (c *connection) finish(err error) {
	c.hangUp()
	c.over = true
	for _, callOff := range c.alarms {
		callOff()
	}
	c.done(err)
}

// hangUp ends what there is of a try.
func (c *connection) hangUp() {
	c.try++
	if c.greeted {
		c.inbox.over(c.number)
	}
	if c.call != nil {
		c.call.cancel()
	}
	if c.channel != nil {
		c.channel.close()
	}
	c.call, c.channel, c.session, c.finishing = nil, nil, nil, false
}

func (c *connection) connect() {
	c.begun, c.greeted = c.clock.now(), false
	token, err := c.profile.token, error(nil)
	if token == "" {
		token, err = readToken(c.profile.tokenFile)
	}
	if err == nil {
		c.channel, err = c.open()
	}
	if err != nil {
		c.finish(err)
		return
	}
	if c.known = token != ""; c.known {
		c.converse(token)
	} else {
		c.register()
	}
}

func (c *connection) register() {
	try, profile := c.try, c.profile
	made, err := offerToken(profile.tokenFile)
	if err != nil {
		c.finish(err)
		return
	}
	request := &arenav1.RegisterBotRequest{Name: profile.name, Owner: profile.owner, Invitation: profile.invitation, Token: made.token}
	c.channel.register(request, answerTime, func(answer *arenav1.RegisterBotResponse, ended *status.Status) {
		c.during(try, func() {
			if answer == nil {
				failure := registrationFailure(ended)
				if forGood := (*Error)(nil); errors.As(failure, &forGood) {
					made.drop()
				}
				c.fail(failure)
				return
			}
			if err := made.keep(answer.Token); err != nil {
				c.finish(err)
				return
			}
			slog.Info(fmt.Sprintf("registered %s at %s; its token is in %s", answer.Name, profile.address, profile.tokenFile))
			c.converse(answer.Token)
		})
	})
}

// converse plays on one stream, until nothing is left to play or it ends.
func (c *connection) converse(token string) {
	try := c.try
	tooLate := c.after(answerTime, func() {
		if try == c.try {
			c.fail(&dropped{text: fmt.Sprintf("no welcome within %.0f s", answerTime.Seconds())})
		}
	})
	c.call = c.channel.play(token, callEvents{
		message: func(message *arenav1.PlayResponse) {
			c.during(try, func() {
				tooLate()
				if !c.finishing {
					c.hear(message)
				}
			})
		},
		ended: func(ended *status.Status) {
			c.during(try, func() {
				tooLate()
				if c.finishing { // whatever is said to a goodbye
					c.close()
				} else {
					c.fail(playFailure(ended))
				}
			})
		},
	})
	c.call.write(c.progress.hello(c.profile))
}

func (c *connection) hear(message *arenav1.PlayResponse) {
	received, first := c.clock.now(), c.session == nil
	if first {
		if err := c.greet(message.GetWelcome()); err != nil {
			c.finish(err)
			return
		}
	}
	if reply := c.session.receive(message); reply != nil {
		c.call.write(reply)
	}
	if first || concernsBot(message) {
		c.inbox.deliver(c.number, message, received)
	}
	if c.progress.done() {
		c.finishing = true
		c.call.end()
		c.after(answerTime, c.close)
	}
}

func (c *connection) greet(welcome *arenav1.Welcome) (err error) {
	if welcome == nil {
		welcome = &arenav1.Welcome{}
	}
	slog.Info(fmt.Sprintf("%s is connected to %s (Arena %s)", welcome.Bot, c.profile.address, welcome.Server))
	c.name = welcome.Bot
	c.progress.reconnect()
	if c.session, err = newSession(welcome, c.profile, c.progress, c.keep); err != nil {
		return err
	}
	c.greeted, c.reached = true, true
	c.number++
	if c.welcomed != nil {
		c.welcomed(welcome.Log, c.channel)
	}
	return nil
}

// close ends all after a goodbye.
func (c *connection) close() {
	if c.progress.parked != "" {
		c.finish(&Error{Kind: Parked, Text: c.parked()})
		return
	}
	c.finish(nil)
}

// fail ends a try: for good, or until the next one.
func (c *connection) fail(err error) {
	lost, again := err.(*dropped)
	if !again {
		if forGood, ok := err.(*Error); ok && forGood.Kind == TokenRefused && c.profile.token == "" && c.known && forGood.Reason != "TOKEN_REVOKED" {
			forGood.Text += fmt.Sprintf(" (from %s; remove it to register the bot anew, and under another name if it was deleted here)", c.profile.tokenFile)
		}
		c.finish(err)
		return
	}
	c.hangUp()
	if c.leaving || (c.progress.ending && len(c.progress.playing) == 0) {
		c.finish(nil)
		return
	}
	if c.reached || c.probed >= probes || c.obstacle == nil {
		c.retry(lost)
		return
	}
	c.probed++
	try := c.try
	c.obstacle(func(why string) {
		c.during(try, func() {
			if why != "" {
				c.finish(&Error{Kind: Unreachable, Text: why})
			} else {
				c.retry(lost)
			}
		})
	})
}

func (c *connection) retry(lost *dropped) {
	now, limit := c.clock.now(), c.profile.giveUpAfter
	if c.greeted { // one that ended at once may end so again; but the server is there
		c.good = max(c.good, now-longestWait)
		if now-c.begun > steady {
			c.good = now
		}
		c.seen = now
	}
	wait := time.Duration(c.chance()*float64(longest(now-c.good))) + lost.pause
	if limit > 0 && now+wait-c.seen > limit {
		c.finish(&Error{Kind: Unreachable, Text: fmt.Sprintf("no connection to %s: %s", c.profile.address, lost.text)})
		return
	}
	slog.Warn(fmt.Sprintf("no connection to %s: %s; next try in %.1f s", c.profile.address, lost.text, wait.Seconds()))
	c.after(wait, c.connect)
}

// parked returns why the bot is parked, and how it is un-parked.
func (c *connection) parked() string {
	why, _, _ := strings.Cut(c.progress.parked, "; mend it")
	file, end, roots := c.profile.tokenFile, "", ""
	if c.profile.token != "" {
		file, end = "FILE", ", with its token in FILE"
	}
	if c.profile.tlsRoots != "" {
		roots = " --tls-roots " + c.profile.tlsRoots
	} else if c.profile.tls {
		roots = " --tls"
	}
	return fmt.Sprintf("%s. Mend it, then un-park it: arena bots unpark %s --server %s --token-file %s%s%s", why, c.name, c.profile.address, file, roots, end)
}

func matches(count int) string {
	if count == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", count)
}
