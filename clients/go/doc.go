// Package client lets a program play in the Arena as a bot.
//
// A [Bot] has a Decide function, which chooses one of the legal actions of a [Decision]. [Main] gives the program a command line, [Run]
// plays until Ctrl-C, and [Play] until its context is done. They register the bot at its first start, reconnect after a lost
// connection, and answer the server while the bot computes:
//
//	bot := client.Bot{Name: "my-bot", Games: client.Games()}
//	bot.Decide = func(d *client.Decision) int { return d.Legal[rand.IntN(len(d.Legal))] }
//	client.Main(bot, "Plays at random.")
//
// Package v1 is the protocol's generated code; programs may call its services directly.
package client
