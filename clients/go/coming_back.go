package client

import (
	"fmt"
	"log/slog"
	"strings"
	"time"
)

const (
	// firstWait is the longest before the first try to come back.
	firstWait = 100 * time.Millisecond
	// longestWait is that between two tries while the server may only be starting again.
	longestWait = 5 * time.Second
	// longOutage is the time without a connection after which that is no longer likely.
	longOutage = 2 * time.Minute
	// longestOutageWait is the longest between two tries after that.
	longestOutageWait = 30 * time.Second
	// steady is the time after which a connection counts as a good one, and the waits begin anew.
	steady = time.Second
	// probes are the failures at most that are looked into before there was any connection.
	probes = 3
)

// longest returns the longest wait before the next try, given the time since the last good
// connection.
func longest(outage time.Duration) time.Duration {
	limit := longestWait
	if outage > longOutage {
		limit = longestOutageWait
	}
	return min(limit, max(firstWait, outage))
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
	if c.greeted { // one that ended at once may do so again, but the server is there
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
