package client

import (
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	arenav1 "arena.example/client/v1"
)

const (
	// placeLook is the time between two checks for places that must move, if the bot has fewer places than nodes.
	placeLook = 250 * time.Millisecond
	// placeWait is the minimum time that a place without a match stays at a node. It is longer than a server's patience.
	// The actual time is random, up to twice as long: bots that all moved at the same pace would never meet bots of other
	// nodes. The minimum doubles after each such move, up to longestPlaceWait, because a server may have more patience.
	placeWait        = 3 * time.Second
	longestPlaceWait = time.Minute
	// goneAfter is the time after which matches at an unreachable node count as lost.
	goneAfter = time.Minute
	// mostNodes is the maximum number of nodes to which a bot connects.
	mostNodes = 64
)

// node is one server, with the bot's stream to it. A server that lists no nodes is itself the only node.
type node struct {
	*connection
	address string
	// listed is the node's address in the last list that named it; empty if none has.
	listed string
	// id is the node's number; 0 for a single server or before its first welcome.
	id       uint32
	progress *progress
	// try counts the attempts to connect. Events of earlier attempts are ignored.
	try     int
	channel channel
	call    call
	session *session
	number  int
	// known: true if the token was known before this try; greeted: true after a welcome on this try.
	known, greeted   bool
	finishing, ended bool
	begun, good      time.Duration
	// next is the time of the latest try, or of the next one.
	next time.Duration
	// With fewer places than nodes: holds is true if this node has a place, which it loses at the time `until` unless a
	// match begins; used is true once a match has begun.
	holds, used bool
	until       time.Duration
}

func (c *connection) newNode(id uint32, address string, share int) *node {
	return &node{connection: c, id: id, address: address, progress: c.goal.newProgress(share)}
}

func (c *node) start() {
	c.good = c.clock.now()
	c.seen = c.good
	c.connect()
}

// close ends the stream to a node permanently. Closing the last node also ends the connection.
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

// usable returns the usable entries of a server's list of nodes, and warns of the others; reached: the address of the node
// that sent the list.
func usable(nodes []*arenav1.Node, reached string) (found []*arenav1.Node) {
	host, _, _ := net.SplitHostPort(reached)
	var skipped []string
	for _, each := range nodes {
		address := each.Address
		if strings.HasPrefix(address, ":") {
			address = net.JoinHostPort(host, address[1:])
		}
		twice := func(other *arenav1.Node) bool { return other.Number == each.Number || other.Address == address }
		why := ""
		switch {
		case checkedAddress(address) != nil:
			why = "not HOST:PORT"
		case each.Number == 0:
			why = "numbers start from 1"
		case slices.ContainsFunc(found, twice):
			why = "its number or address is listed twice"
		case len(found) == mostNodes:
			why = fmt.Sprintf("a bot connects to %d nodes at most", mostNodes)
		default:
			found = append(found, &arenav1.Node{Number: each.Number, Address: address})
			continue
		}
		skipped = append(skipped, fmt.Sprintf("node %d at '%s': %s", each.Number, each.Address, why))
	}
	if len(skipped) > 0 {
		more := ""
		if len(skipped) > 1 {
			more = fmt.Sprintf(" (and %d more)", len(skipped)-1)
		}
		slog.Warn(fmt.Sprintf("skipped in the server's list of nodes: %s%s; please tell its operator", skipped[0], more))
	}
	return found
}

// forget gives up a node and its matches, because it cannot be reached and is no longer listed.
func (c *node) forget() {
	c.ended = true
	c.nodes = slices.DeleteFunc(slices.Clone(c.nodes), func(each *node) bool { return each == c })
	c.goal.nodes = slices.DeleteFunc(c.goal.nodes, func(each *progress) bool { return each == c.progress })
	c.missed = least(c.missed, c.progress.reportsAfter)
	if c.shareOut(); c.goal.done() {
		c.goodbye()
	}
}

// follow dials the nodes that a node lists.
func (c *connection) follow(from *node, nodes []*arenav1.Node) {
	var list []*arenav1.Node
	if from.id != 0 {
		list = usable(nodes, from.address)
	}
	c.latest, c.eventNode = nil, 0
	if at := slices.IndexFunc(nodes, (*arenav1.Node).GetPlaysEvent); at >= 0 {
		c.eventNode = nodes[at].Number
	}
	for _, each := range list {
		c.latest = append(c.latest, each.Number)
		at := slices.IndexFunc(c.nodes, func(known *node) bool { return known.id == each.Number })
		if at >= 0 {
			known := c.nodes[at]
			if known.listed != "" && known.listed != each.Address {
				known.address = each.Address
			}
			known.listed = each.Address
		}
		if at >= 0 || c.goal.ending {
			continue
		}
		made := c.newNode(each.Number, each.Address, 0)
		made.listed = each.Address
		made.progress.reportsAfter = from.progress.reportsAfter
		c.nodes = append(c.nodes, made)
		made.start()
	}
	c.shareOut()
}

// shareOut divides the bot's capacity among the connected nodes. If there are fewer places than nodes, each
// place is at one node and moves to another after a match or a wait.
func (c *connection) shareOut() {
	if len(c.nodes) == 1 {
		c.nodes[0].progress.share = -1
		c.resize()
		return
	}
	for _, node := range c.nodes {
		if node.session == nil {
			c.place(node, false)
		}
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
	with := slices.DeleteFunc(slices.Clone(connected), func(each *node) bool { return !each.holds })
	without := slices.DeleteFunc(connected, func(each *node) bool { return each.holds })
	for at, node := range append(with, without...) {
		c.place(node, at < capacity)
	}
	c.moveDue()
	if !c.moving {
		c.moving = true
		c.after(placeLook, c.movePlaces)
	}
}

// place gives a node a place, or takes it away.
func (c *connection) place(node *node, holds bool) {
	switch {
	case !holds:
		node.holds, node.progress.share = false, 0
	case !node.holds:
		node.holds, node.used, node.progress.share = true, false, 1
		node.until = c.clock.now() + time.Duration(float64(c.placeWait)*(1+c.chance()))
	}
}

// movePlaces calls moveDue regularly while the bot has fewer places than nodes.
func (c *connection) movePlaces() {
	if c.moving = c.profile.capacity < len(c.connected()); c.moving {
		c.moveDue()
		c.after(placeLook, c.movePlaces)
	}
}

// moveDue moves each place that has had a match, or has waited long enough, to a random node without a place. While a
// match is running, its node learns that the bot takes no more there. A place goes first to the node that plays the
// bot's event, and stays there.
func (c *connection) moveDue() {
	connected := c.connected()
	event := &node{holds: true} // if there is no such node
	if at := slices.IndexFunc(connected, func(each *node) bool { return each.id == c.eventNode }); c.eventNode != 0 && at >= 0 {
		event = connected[at]
	}
	for _, here := range connected {
		switch due := c.clock.now() >= here.until; {
		case !here.holds || len(here.progress.accepted) > 0:
		case len(here.progress.playing) > 0:
			here.used, here.progress.share, c.placeWait = true, 0, placeWait
		case here == event || !event.holds:
			c.place(here, false)
			c.place(event, true)
		case here.used || due:
			if !here.used {
				c.placeWait = min(2*c.placeWait, longestPlaceWait)
			}
			free := slices.DeleteFunc(slices.Clone(connected), func(each *node) bool { return each.holds })
			c.place(here, false)
			if len(free) == 0 {
				free = append(free, here)
			}
			c.place(free[min(int(c.chance()*float64(len(free))), len(free)-1)], true)
		}
	}
	c.resize()
}

// resize sends each node the bot's capacity there.
func (c *connection) resize() {
	for _, node := range c.connected() {
		if request := node.session.resize(); request != nil && node.call != nil && !node.finishing {
			node.call.write(request)
		}
	}
}
