package client

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

const (
	// firstWait is the maximum wait before the first try to reconnect.
	firstWait = 100 * time.Millisecond
	// longestWait is the maximum wait between two tries while a server restart is likely.
	longestWait = 5 * time.Second
	// longOutage is the time without a connection after which a restart is no longer likely.
	longOutage = 2 * time.Minute
	// longestOutageWait is the maximum wait between two tries during a long outage.
	longestOutageWait = 30 * time.Second
	// steady is the time after which a connection counts as good, so that the next wait is the shortest again.
	steady = time.Second
	// probes is the maximum number of failures to diagnose before the first connection.
	probes = 3
)

// longest returns the longest wait before the next try, given the time since the last good connection.
func longest(outage time.Duration) time.Duration {
	limit := longestWait
	if outage > longOutage {
		limit = longestOutageWait
	}
	return min(limit, max(firstWait, outage))
}

// fail handles a failed try: it ends the run, or waits for the next try.
func (c *node) fail(err error) {
	lost, again := err.(*dropped)
	if forGood, ok := err.(*Error); ok && forGood.Kind == TokenRefused && forGood.Reason != "TOKEN_REVOKED" && c.profile.token == "" && c.known {
		forGood.Text += fmt.Sprintf(" (from %s; remove it to register the bot anew, and under another name if it was deleted here)", c.profile.tokenFile)
	}
	if !again {
		c.finish(err)
		return
	}
	c.hangUp()
	if c.leaving || c.goal.done() || (c.goal.ending && len(c.progress.playing) == 0) {
		c.close()
		return
	}
	if len(c.nodes) > 1 {
		c.shareOut()
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

func (c *node) retry(lost *dropped) {
	now, limit := c.clock.now(), c.profile.giveUpAfter
	if c.greeted { // the server is there, even if the stream ended at once and may do so again
		c.good = max(c.good, now-longestWait)
		if now-c.begun > steady {
			c.good = now
		}
		c.seen = now
	}
	if len(c.connected()) > 0 {
		if !slices.Contains(c.latest, c.id) {
			c.forget()
			return
		}
		c.seen = now
		if now-c.good > goneAfter {
			c.progress.forget()
			if c.resize(); c.goal.done() {
				c.goodbye()
				return
			}
		}
	}
	wait := time.Duration(c.chance()*float64(longest(now-c.good))) + lost.pause
	c.next = now + wait
	inTime := func(each *node) bool { return !each.ended && each.next-c.seen <= limit }
	if limit > 0 && !slices.ContainsFunc(c.nodes, inTime) {
		c.finish(&Error{Kind: Unreachable, Text: fmt.Sprintf("no connection to %s: %s", c.address, lost.text)})
		return
	}
	slog.Warn(fmt.Sprintf("no connection to %s: %s; next try in %.1f s", c.address, lost.text, wait.Seconds()))
	try := c.try
	c.after(wait, func() {
		if try == c.try && !c.ended {
			c.connect()
		}
	})
}

// parked describes why the bot is parked, and how to un-park it.
func (c *connection) parked() string {
	why, _, _ := strings.Cut(c.goal.parked, "; mend it")
	file, end, roots := c.profile.tokenFile, "", ""
	if c.profile.token != "" {
		file, end = "FILE", ", with its token in FILE"
	}
	if c.profile.tlsRoots != "" {
		roots = " --tls-roots " + c.profile.tlsRoots
	} else if c.profile.tls {
		roots = " --tls"
	}
	return fmt.Sprintf("%s. Mend it, then un-park it: arena-bot unpark %s --server %s --token-file %s%s%s (arena-bot comes with the Python SDK; or call client.Unpark)", why, c.name, c.profile.address, file, roots, end)
}
