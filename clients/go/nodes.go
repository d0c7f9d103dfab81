package client

import (
	"net"
	"slices"
	"strings"
	"time"

	arenav1 "arena.example/client/v1"
)

const (
	// placeLook is the time between two looks at whether a place moves to another node, if a bot has fewer places than
	// there are nodes.
	placeLook = 250 * time.Millisecond
	// placeWait is the time after which a place without a match moves to another node.
	placeWait = 2 * time.Second
	// goneAfter is the time after which the matches at a node that cannot be reached do not count any more.
	goneAfter = time.Minute
)

// node is one server, with the bot's stream to it. A server alone is the only node.
type node struct {
	*connection
	address string
	// id is the node's number; 0 on a server alone or before its first welcome.
	id       uint32
	progress *progress
	// try counts the attempts to connect. Events of earlier attempts are ignored.
	try     int
	channel channel
	call    call
	session *session
	number  int
	// known: whether the token was known before this try; greeted: whether there was a welcome on this try.
	known, greeted    bool
	finishing, ended  bool
	begun, good, seen time.Duration
	// holds: whether one of too few places is here, since a time at which the bot had finished this many matches.
	holds    bool
	since    time.Duration
	finished int
}

func (c *connection) newNode(id uint32, address string, share int) *node {
	return &node{connection: c, id: id, address: address, progress: c.goal.newProgress(share)}
}

func (c *node) start() {
	c.good = c.clock.now()
	c.seen = c.good
	c.connect()
}

// close ends the stream to a node for good, and the connection with the last of them.
func (c *node) close() {
	c.hangUp()
	c.ended = true
	if slices.ContainsFunc(c.nodes, func(each *node) bool { return !each.ended }) {
		return
	}
	if c.goal.parked != "" {
		c.finish(&Error{Kind: Parked, Text: c.parked()})
		return
	}
	c.finish(nil)
}

// goodbye closes the bot's side of all streams, and waits for the servers.
func (c *connection) goodbye() {
	for _, node := range slices.Clone(c.nodes) {
		switch {
		case node.ended || node.finishing:
		case node.call == nil || !node.greeted:
			node.close()
		default:
			node.finishing = true
			node.call.end()
			try := node.try
			c.after(answerTime, func() {
				if try == node.try {
					node.close()
				}
			})
		}
	}
}

// connected returns the nodes to which there is a stream.
func (c *connection) connected() (nodes []*node) {
	for _, node := range c.nodes {
		if node.session != nil {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// follow dials the nodes that a welcome lists, and gives up those that cannot be reached and are not listed.
func (c *connection) follow(from *node, welcome *arenav1.Welcome) {
	from.id = welcome.Node
	host, _, _ := net.SplitHostPort(from.address)
	listed := map[uint32]bool{}
	for _, each := range welcome.Nodes {
		listed[each.Number] = true
	}
	c.nodes = slices.DeleteFunc(c.nodes, func(each *node) bool {
		gone := each != from && each.session == nil && !listed[each.id]
		if gone {
			each.hangUp()
			each.ended = true
			c.goal.nodes = slices.DeleteFunc(c.goal.nodes, func(one *progress) bool { return one == each.progress })
		}
		return gone
	})
	for _, each := range welcome.Nodes {
		address := each.Address
		if strings.HasPrefix(address, ":") {
			address = net.JoinHostPort(host, address[1:])
		}
		at := slices.IndexFunc(c.nodes, func(known *node) bool { return known.id == each.Number })
		if at > 0 && c.nodes[at].session == nil {
			c.nodes[at].address = address
		}
		if at >= 0 || c.goal.ending {
			continue
		}
		made := c.newNode(each.Number, address, 0)
		made.progress.reportsAfter = from.progress.reportsAfter
		c.nodes = append(c.nodes, made)
		made.start()
	}
	c.shareOut()
}

// shareOut divides the bot's capacity among the connected nodes. Of fewer places than nodes, each is at one node, and moves on after
// a match or a short wait.
func (c *connection) shareOut() {
	if len(c.nodes) == 1 {
		c.nodes[0].progress.share = -1
		c.resize()
		return
	}
	connected, capacity := c.connected(), c.profile.capacity
	if count := len(connected); capacity >= count {
		for at, node := range connected {
			node.holds, node.progress.share = false, capacity/count
			if at < capacity%count {
				node.progress.share++
			}
		}
		c.resize()
		return
	}
	slices.SortStableFunc(connected, func(one, other *node) int { // those that have a place first
		switch {
		case one.holds && !other.holds:
			return -1
		case other.holds && !one.holds:
			return 1
		}
		return 0
	})
	for at, node := range connected {
		c.place(node, at < capacity)
	}
	c.resize()
	if !c.moving {
		c.moving = true
		c.after(placeLook, c.movePlaces)
	}
}

// place gives a node one of too few places, or takes it away.
func (c *connection) place(node *node, holds bool) {
	node.progress.share = 0
	if holds {
		node.progress.share = 1
	}
	if holds != node.holds {
		node.holds, node.since, node.finished = holds, c.clock.now(), c.goal.finished
	}
}

// movePlaces moves each of too few places on to the next node, if there was a match or a short wait.
func (c *connection) movePlaces() {
	connected := c.connected()
	if c.moving = c.profile.capacity < len(connected); !c.moving {
		return
	}
	for at, here := range connected {
		waits := c.goal.finished == here.finished && c.clock.now()-here.since < placeWait
		if !here.holds || here.progress.begun() > 0 || waits {
			continue
		}
		following := slices.Concat(connected[at+1:], connected[:at])
		if free := slices.IndexFunc(following, func(each *node) bool { return !each.holds }); free >= 0 {
			c.place(here, false)
			c.place(following[free], true)
		}
	}
	c.resize()
	c.after(placeLook, c.movePlaces)
}

// resize sends each node the room that the bot has there.
func (c *connection) resize() {
	for _, node := range c.connected() {
		if request := node.session.resize(); request != nil && node.call != nil && !node.finishing {
			node.call.write(request)
		}
	}
}
