package client

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	arenav1 "arena.example/client/v1"
)

const (
	// leaveTime is the server's time limit to end the stream of a bot that leaves in the middle of matches.
	leaveTime = 2 * time.Second
)

// drain starts no more matches and finishes the current ones; at the time limit it leaves those still running.
func (c *connection) drain(limit time.Duration) {
	c.locked(func() {
		c.goal.ending = true
		left := c.goal.underWay()
		if left == 0 {
			c.finish(nil)
			return
		}
		slog.Info(fmt.Sprintf("finishing %s within %.0f s, and beginning no more; once more, and it leaves at once: "+
			"house bots play them on, and each counts as a last place", matches(left), limit.Seconds()))
		c.resize()
		c.after(limit, func() {
			c.leaveNow()
			c.hurry()
		})
	})
}

// leave sends `leave` if the bot is playing or about to play; the server then ends the stream.
func (c *connection) leave() { c.locked(c.leaveNow) }

func (c *connection) leaveNow() {
	left := c.goal.underWay()
	if left == 0 || !slices.ContainsFunc(c.nodes, func(each *node) bool { return each.call != nil }) {
		c.finish(nil)
		return
	}
	if c.leaving {
		return
	}
	c.leaving = true
	slog.Info(fmt.Sprintf("leaving %s in order: house bots play them on, and each counts as a last place", matches(left)))
	for _, each := range slices.Clone(c.nodes) {
		if each.call == nil {
			each.close()
		} else {
			each.call.write(&arenav1.PlayRequest{Leave: true})
		}
	}
	c.after(leaveTime, func() { c.finish(nil) })
}

func matches(count int) string {
	if count == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", count)
}
