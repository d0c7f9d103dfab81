package client

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc/status"

	arenav1 "arena.example/client/v1"
)

// answerTime is the server's time limit for a registration, for its welcome and for its goodbye.
const answerTime = 20 * time.Second

// connection is a bot's connection to a server, or to several nodes: it registers once, connects, and reconnects when a
// connection is lost. It answers heartbeats and invitations itself, in the goroutine that delivers them, and passes all
// other messages to the bot's inbox. It never waits.
type connection struct {
	surroundings
	profile *profile

	mutex sync.Mutex
	goal  *goal
	name  string
	// nodes: the nodes that the bot dials; the first is at the given address.
	nodes []*node
	// latest: the numbers of the nodes in the latest list.
	latest []uint32
	// eventNode: the number of the node that plays an event which the bot has entered; 0 if there is none.
	eventNode uint32
	// missed: the leaf number after which reports of a forgotten node may be missing, nil for none; the next hello asks for
	// them.
	missed *uint64
	// seen is the last time at which the bot was connected to any node.
	seen time.Duration
	// moving: whether places move from node to node.
	moving bool
	// placeWait: the current minimum time that a place without a match stays at a node.
	placeWait time.Duration
	// sessions counts the streams with a welcome.
	sessions int
	// reached: true after the first welcome of any stream.
	reached, leaving, over bool
	probed                 int
	alarms                 map[int]func()
	alarmed                int
}

func newConnection(profile *profile, around surroundings) *connection {
	made := &connection{surroundings: around, profile: profile, name: profile.name, goal: newGoal(profile.matches), alarms: map[int]func(){}}
	made.placeWait = placeWait
	made.nodes = []*node{made.newNode(0, profile.address, -1)}
	return made
}

// start connects and stays connected until the requested matches are played, the server ends the stream, or end is
// called.
func (c *connection) start() { c.locked(func() { c.nodes[0].start() }) }

// end closes the connection without notice; err: the reason, nil for none.
func (c *connection) end(err error) { c.locked(func() { c.finish(err) }) }

// say sends a message on a session's stream, if it still exists.
func (c *connection) say(number int, request *arenav1.PlayRequest) {
	c.locked(func() {
		for _, node := range c.nodes {
			if number == node.number && node.greeted && node.call != nil {
				node.call.write(request)
			}
		}
	})
}

// locked calls a function with the mutex locked, unless the connection has ended.
func (c *connection) locked(something func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.over {
		something()
	}
}

// during calls a function, unless a later try has started or the connection has ended.
func (c *node) during(try int, something func()) {
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
	for _, node := range c.nodes {
		node.hangUp()
	}
	c.over = true
	for _, callOff := range c.alarms {
		callOff()
	}
	c.done(err)
}

// hangUp ends the stream and connection of the current try, if any.
func (c *node) hangUp() {
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

func (c *node) connect() {
	c.begun, c.greeted = c.clock.now(), false
	token, err := c.profile.token, error(nil)
	if token == "" {
		token, err = readToken(c.profile.tokenFile)
	}
	if err == nil {
		c.channel, err = c.open(c.address)
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

// converse plays on one stream until all matches are played or the stream ends.
func (c *node) converse(token string) {
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
				if c.finishing { // the status after a goodbye does not matter
					c.close()
				} else {
					c.fail(playFailure(ended))
				}
			})
		},
	})
	if c.progress.reportsAfter == nil && c.reportsAfter != nil {
		c.progress.reportsAfter = c.reportsAfter()
	}
	c.progress.reportsAfter, c.missed = least(c.progress.reportsAfter, c.missed), nil
	c.call.write(c.progress.hello(c.profile))
}

// least returns the smaller of two numbers that may be nil.
func least(one, other *uint64) *uint64 {
	if one == nil || other != nil && *other < *one {
		return other
	}
	return one
}

func (c *node) hear(message *arenav1.PlayResponse) {
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
	if len(message.Nodes) > 0 {
		c.follow(c, message.Nodes)
	}
	if first || concernsBot(message) {
		c.inbox.deliver(c.number, message, c.session.questions, received)
	}
	switch {
	case c.goal.done():
		c.goodbye()
	case c.holds && c.used != (len(c.progress.playing) > 0):
		c.moveDue()
	case len(c.nodes) > 1:
		c.resize()
	}
}

func (c *node) greet(welcome *arenav1.Welcome) (err error) {
	if welcome == nil {
		welcome = &arenav1.Welcome{}
	}
	build := ""
	if welcome.Build != "" {
		build = ", " + welcome.Build
	}
	slog.Info(fmt.Sprintf("%s is connected to %s (Arena %s%s)", welcome.Bot, c.address, welcome.Server, build))
	c.name = welcome.Bot
	c.progress.reconnect()
	if head := welcome.GetLog().GetHead(); head != nil {
		c.progress.welcomed(head.Size)
	}
	if c.session, err = newSession(welcome, c.profile, c.progress, c.keep); err != nil {
		return err
	}
	c.greeted, c.reached = true, true
	c.sessions++
	c.number = c.sessions
	c.id = welcome.Node
	c.follow(c, welcome.Nodes)
	if c.welcomed != nil {
		c.welcomed(welcome.Log, len(welcome.Nodes) > 1, c.channel)
	}
	return nil
}
