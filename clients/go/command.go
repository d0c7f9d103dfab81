package client

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// several is an option that may be given more than once.
type several []string

func (s *several) String() string { return "" }

func (s *several) Set(value string) error {
	*s = append(*s, value)
	return nil
}

const commandEnd = `
exit status: 0 after Ctrl-C, SIGTERM or enough matches; 1 for an error in the bot; 2 for a wrong command line; 3 where the
server refuses the bot; 4 where no server was reached within --give-up-after seconds

example: %s --server localhost:50051 --owner me
`

// Main runs the command line of a program with one bot, and exits with its status; --help lists the options.
func Main(bot Bot, description string) {
	os.Exit(mainStatus(bot, description, os.Args))
}

func mainStatus(bot Bot, description string, arguments []string) int {
	program := filepath.Base(arguments[0])
	var options Options
	var server, onError string
	var games, challengers, ladders, events several
	var quiet bool
	var giveUpAfter float64
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&server, "server", "", "`HOST:PORT`; default: ARENA_SERVER in the environment, or "+DefaultAddress)
	flags.StringVar(&bot.Name, "name", bot.Name, "the bot's `name` on the server")
	flags.StringVar(&options.Owner, "owner", "", "`who` owns it; bots of one owner meet in challenges only (default: the bot's own, ARENA_OWNER, or its name)")
	flags.Var(&games, "game", "play this `game` only; repeatable (default: the bot's own games)")
	flags.Var(&ladders, "ladder", "play on the ladder of this `name` only; repeatable (default: ARENA_LADDERS, or the games' default ladders)")
	flags.Var(&events, "event", "enter the event of this `name`; repeatable (default: ARENA_EVENTS)")
	flags.StringVar(&bot.Version, "bot-version", bot.Version, "`which` version the bot is; each has a rating of its own (default: a digest of the program)")
	flags.IntVar(&bot.Capacity, "capacity", cmp.Or(bot.Capacity, defaultCapacity), "`how many` matches to play at once")
	flags.IntVar(&options.Matches, "matches", 0, "stop after so `many` matches; 0 for no end")
	flags.StringVar(&options.Token, "token", "", "the bot's `token` (default: the one in the token file)")
	flags.StringVar(&options.TokenFile, "token-file", "", "the `file` where the token is kept (default: ARENA_TOKEN_FILE, or below ~/.arena/tokens)")
	flags.StringVar(&options.Invitation, "invitation", "", "`code` for a server that registers bots by invitation")
	flags.BoolVar(&options.TLS, "tls", false, "connect with TLS")
	flags.StringVar(&options.TLSRoots, "tls-roots", "", "connect with TLS and trust the authorities in this PEM `file`")
	flags.StringVar(&onError, "on-error", "raise", "`raise` or continue: what an error in the bot does")
	flags.Float64Var(&giveUpAfter, "give-up-after", -1, "end when the server is gone for this number of `seconds`; below 0 for never")
	flags.BoolVar(&options.Casual, "casual", false, "unrated matches with house bots only, so that a first crash costs nothing")
	flags.BoolVar(&options.Challenges, "challenges", false, "accept challenges: unrated matches whose bots are named")
	flags.Var(&challengers, "challenger", "accept challenges with this `bot` only; repeatable")
	flags.BoolVar(&options.NoReceipts, "no-receipts", false, "keep nothing of the server's log of results beside the token")
	flags.BoolVar(&quiet, "quiet", false, "show warnings only")
	wrong := func(problem any) int {
		fmt.Fprintf(os.Stderr, "%s: %v; see --help\n", program, problem)
		return 2
	}
	switch err := flags.Parse(arguments[1:]); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Printf("usage: %s [options]\n\n%s\n\n", program, description)
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		fmt.Printf(commandEnd, program)
		return 0
	case err != nil:
		return wrong(err)
	case flags.NArg() > 0:
		return wrong(fmt.Sprintf("'%s' is no option", flags.Arg(0)))
	case onError != "raise" && onError != "continue":
		return wrong(fmt.Sprintf("--on-error is '%s': it takes raise or continue", onError))
	case bot.Capacity < 1:
		return wrong(fmt.Sprintf("--capacity is %d: it takes 1 or more", bot.Capacity))
	}
	if len(games) > 0 {
		bot.Games = games
	}
	if giveUpAfter >= 0 {
		options.GiveUpAfter = max(1, time.Duration(giveUpAfter*float64(time.Second)))
	}
	options.PlayOn, options.Challengers, options.Ladders = onError == "continue", challengers, ladders
	options.Events = events
	if quiet {
		slog.SetLogLoggerLevel(slog.LevelWarn)
	}
	return Told(bot, Run(bot, server, options))
}

// Told writes a run's error, if any, to standard error in one line; it returns the program's exit status.
func Told(bot Bot, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", cmp.Or(bot.Name, "bot"), err)
	if failure := (*Error)(nil); errors.As(err, &failure) {
		return failure.Status()
	}
	return 1
}
