package main

import "arena.example/client"

func main() {
	bot := client.Bot{Name: "rules", Games: client.Games(), Decide: decide}
	client.Main(bot, "A few plain rules: announces what the hand is worth, takes tricks until that is reached, then ducks.")
}
