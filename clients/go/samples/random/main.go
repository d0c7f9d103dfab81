// The shortest complete bot: it plays any legal action in any game.
package main

import (
	"math/rand/v2"

	"arena.example/client"
)

func main() {
	bot := client.Bot{Name: "random", Games: client.Games()}
	bot.Decide = func(d *client.Decision) int { return d.Legal[rand.IntN(len(d.Legal))] }
	client.Main(bot, "Plays at random.")
}
