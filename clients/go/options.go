package client

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Options of a run; each may be omitted.
type Options struct {
	// Token is the token itself.
	Token string
	// TokenFile is the token file; by default ARENA_TOKEN_FILE, or one for each bot in ~/.arena/tokens.
	TokenFile string
	// Invitation is for a server that registers bots by invitation.
	Invitation string
	// Owner overrides the bot's owner; by default ARENA_OWNER.
	Owner string
	// TLS turns TLS on. So does TLSRoots, a PEM file with the authorities to trust instead of the
	// system's.
	TLS      bool
	TLSRoots string
	// Matches is the number of matches with a result after which the run stops; 0 for no limit.
	Matches int
	// PlayOn logs an error in the bot and plays the first legal action, instead of ending the run.
	PlayOn bool
	// GiveUpAfter is the time without any connection after which the run ends; 0 for never.
	GiveUpAfter time.Duration
	// NoReceipts: store no receipts from the server's log of results beside the token.
	NoReceipts bool
	// Casual plays unrated matches against house bots only.
	Casual bool
	// Challenges accepts challenges from all bots, Challengers only those from the named bots.
	Challenges  bool
	Challengers []string
	// Ladders are the names of the ladders to play on; nil for those in ARENA_LADDERS. If that is unset, or if the list
	// is empty, the bot plays on the default ladders of its games.
	Ladders []string
	// Events are the names of the events to enter; nil for those in ARENA_EVENTS, if any.
	Events []string
}

// DefaultAddress is the default address of a server.
const DefaultAddress = "localhost:50051"

const (
	// drainTime is the maximum time for finishing matches after Ctrl-C, unless ARENA_DRAIN sets another time.
	drainTime = 30 * time.Second
	// drainTerminated is the maximum time to finish matches after SIGTERM; SIGKILL usually follows after 10 s.
	drainTerminated = 8 * time.Second
	longestVersion  = 40
	// defaultCapacity is the number of matches that a bot plays at once if it sets no capacity.
	defaultCapacity = 8
)

// profile contains the data that a connection needs, from the bot, the options and the environment.
type profile struct {
	name, owner, version, address, token, tokenFile, invitation, tlsRoots string
	games, features, ladders, events                                      []string
	capacity, matches                                                     int
	giveUpAfter                                                           time.Duration
	tls, casual, challenges                                               bool
	// challengers: lower-case names of the bots whose challenges the bot accepts; nil for all.
	challengers map[string]bool
	// keepsReceipts: true to store receipts. receipts: their file; empty to store none on disk.
	keepsReceipts bool
	receipts      string
}

var (
	addresses = regexp.MustCompile(`^(?:\[[^\[\]\s]+\]|[^:/\[\]\s]+):(\d{1,5})$`)
	tokens    = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
)

func badArgument(format string, values ...any) error {
	return &Error{Kind: BadArgument, Text: fmt.Sprintf(format, values...)}
}

func checkedAddress(address string) error {
	for _, scheme := range []string{"dns:", "unix:", "passthrough:"} {
		if strings.HasPrefix(address, scheme) {
			return nil
		}
	}
	if parts := addresses.FindStringSubmatch(address); parts != nil {
		if port, _ := strconv.Atoi(parts[1]); port > 0 && port <= 65535 {
			return nil
		}
	}
	host := address
	if host == "" || strings.ContainsAny(host, ":/") {
		host = "HOST"
	}
	return badArgument("the address '%s' is not of the form HOST:PORT; a server listens on port 50051 unless its operator chose another: %s:50051", address, host)
}

// drainLimit returns the time for finishing matches after Ctrl-C.
func drainLimit() (time.Duration, error) {
	text := os.Getenv("ARENA_DRAIN")
	if text == "" {
		return drainTime, nil
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(seconds >= 0 && seconds <= drainTime.Seconds()) {
		return 0, badArgument("ARENA_DRAIN is '%s': it takes seconds from 0 to %.0f", text, drainTime.Seconds())
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// chosen returns the given names, or for nil the names in an environment variable. If ARENA_TOKEN is set, a program
// started the bot, and only the environment counts.
func chosen(given []string, variable string) []string {
	if given != nil && os.Getenv("ARENA_TOKEN") == "" {
		return given
	}
	var names []string
	for _, each := range strings.Split(os.Getenv(variable), ",") {
		if name := strings.TrimSpace(each); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// profileOf collects the data that a connection needs. BadArgument if they are invalid.
func profileOf(bot *Bot, address string, options Options) (*profile, error) {
	made := &profile{
		name: cmp.Or(bot.Name, "bot"), owner: cmp.Or(options.Owner, bot.Owner, os.Getenv("ARENA_OWNER")), version: bot.Version,
		address: cmp.Or(address, os.Getenv("ARENA_SERVER"), DefaultAddress), token: options.Token, tokenFile: options.TokenFile,
		invitation: options.Invitation, tlsRoots: options.TLSRoots, tls: options.TLS || options.TLSRoots != "", games: bot.Games, features: bot.Features,
		capacity: cmp.Or(bot.Capacity, defaultCapacity), matches: options.Matches, giveUpAfter: options.GiveUpAfter, casual: options.Casual,
		challenges: options.Challenges || len(options.Challengers) > 0, keepsReceipts: !options.NoReceipts,
		ladders: chosen(options.Ladders, "ARENA_LADDERS"), events: chosen(options.Events, "ARENA_EVENTS"),
	}
	if made.token == "" {
		made.tokenFile = cmp.Or(made.tokenFile, os.Getenv("ARENA_TOKEN_FILE"))
	}
	if len(made.games) == 0 {
		made.games = Games()[:1]
	}
	for _, each := range options.Challengers {
		if made.challengers == nil {
			made.challengers = map[string]bool{}
		}
		made.challengers[strings.ToLower(each)] = true
	}
	switch {
	case bot.Decide == nil && bot.DecideMany == nil:
		return nil, badArgument("the bot has neither Decide nor DecideMany")
	case made.matches < 0:
		return nil, badArgument("Matches is %d: it takes 1 or more, or 0 for no end", made.matches)
	case made.capacity < 0:
		return nil, badArgument("the bot's capacity is %d: it takes 1 or more", made.capacity)
	case made.giveUpAfter < 0:
		return nil, badArgument("GiveUpAfter is %v: it takes a time, or 0 for never", made.giveUpAfter)
	case made.token != "" && !tokens.MatchString(made.token):
		return nil, badArgument("the token is not one line of printable characters: give it as the server did, or none for the one in the token file")
	}
	// the program that started this one set the variable, not the author
	if startedFor := os.Getenv("ARENA_TOKEN"); startedFor != "" {
		made.address, made.token, made.tokenFile = cmp.Or(os.Getenv("ARENA_SERVER"), made.address), startedFor, ""
		made.tls, made.tlsRoots = false, ""
	}
	if err := checkedAddress(made.address); err != nil {
		return nil, err
	}
	return made, made.complete(bot.Files)
}

// complete adds the data that require the disk: the version, and the paths of token and receipts.
func (p *profile) complete(files []string) (err error) {
	if p.version == "" {
		if p.version, err = digest(files); err != nil {
			return err
		}
	}
	unprintable := strings.ContainsFunc(p.version, func(letter rune) bool { return unicode.Is(unicode.C, letter) })
	if utf8.RuneCountInString(p.version) > longestVersion || unprintable {
		return badArgument("the bot's version is %q: it takes at most %d printable characters", p.version, longestVersion)
	}
	if p.tokenFile == "" && p.token == "" {
		if p.tokenFile, err = defaultTokenFile(p.address, p.name); err != nil {
			return err
		}
	}
	if p.keepsReceipts && p.tokenFile != "" {
		p.receipts = p.tokenFile + ".receipts"
	}
	return nil
}

// digest returns a digest of the program's file and the given files, in twelve hexadecimal digits.
func digest(files []string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", badArgument("the program's own file cannot be found (%v): state the bot's Version", err)
	}
	made := sha256.New()
	for _, file := range append([]string{program}, files...) {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", unusable(file, err)
		}
		each := sha256.Sum256(content)
		made.Write(each[:])
	}
	return hex.EncodeToString(made.Sum(nil))[:12], nil
}
