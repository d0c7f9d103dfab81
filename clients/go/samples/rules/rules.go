// A few plain rules: announce the number of tricks that the hand is worth, take that many, then duck. It knows which card
// takes the trick on the table, but does not count cards.
package main

import (
	"math/rand/v2"
	"slices"

	"arena.example/client"
	"arena.example/client/nullern"
	"arena.example/client/sixthsense"
)

// decide applies the rules of the game, or plays at random in games without rules.
func decide(decision *client.Decision) int {
	switch view := decision.View.(type) {
	case *client.NullernView:
		return playNullern(decision, view)
	case *client.SixthSenseView:
		return playSixthSense(decision, view)
	default:
		return decision.Legal[rand.IntN(len(decision.Legal))]
	}
}

// playSixthSense applies the rule for each kind of choice.
func playSixthSense(decision *client.Decision, view *client.SixthSenseView) int {
	game, legal := decision.Game, decision.Legal
	table := sixthsense.Read(game, view)
	kind := decision.Actions()[0].Kind
	if kind == "predict" {
		return predict(decision, view, table.Trump)
	}
	wanted := wantedTricks(decision, view)
	switch {
	case kind == "double" && wanted > 0:
		return legal[1]
	case kind == "double" || kind == "peek":
		return legal[0]
	}
	seat, place := int(view.Seat), int(view.Seats)-1-len(table.ToCome)
	takes := func(number int) bool {
		return sixthsense.Taker(sixthsense.After(table.Trick, game, game.Actions[number], seat, place), table.Trump) == seat
	}
	strength := func(number int) int {
		action := game.Actions[number]
		value := max(0, action.Value)
		if action.Card != client.None && game.Cards[action.Card].Colour == table.Trump {
			value += 100
		}
		return value
	}
	return takeOrDuck(legal, takes, strength, wanted > 0, len(table.ToCome) == 0)
}

// predict returns the prediction nearest to the number of good cards (high trumps, 13 and 14) in the rest of the
// hand.
func predict(decision *client.Decision, view *client.SixthSenseView, trump int) int {
	game := decision.Game
	good := func(card int) bool {
		least := 13
		if game.Cards[card].Colour == trump {
			least = 9
		}
		return slices.Max(game.Cards[card].Values) >= least
	}
	misfit := func(number int) int {
		prediction, tricks := game.Actions[number].Card, 0
		for _, card := range view.Hand {
			if int(card) != prediction && good(int(card)) {
				tricks++
			}
		}
		nearest := len(game.Cards)
		for _, aim := range sixthsense.Targets(game, prediction) {
			nearest = min(nearest, max(aim-tricks, tricks-aim))
		}
		return nearest
	}
	return least(decision.Legal, misfit)
}

// wantedTricks returns the number of tricks that the prediction still needs; a 6/9 needs 9 only after more than 6 tricks.
func wantedTricks(decision *client.Decision, view *client.SixthSenseView) int {
	missing := []int{}
	for _, aim := range sixthsense.Targets(decision.Game, int(view.GetPrediction())) {
		if tricks := aim - int(view.Taken[view.Seat]); tricks >= 0 {
			missing = append(missing, tricks)
		}
	}
	if len(missing) == 0 {
		return 0
	}
	return slices.Min(missing)
}

// playNullern bids the number of good cards (trumps, and with few opponents a 19 or 20), then plays for that bid.
func playNullern(decision *client.Decision, view *client.NullernView) int {
	game, legal := decision.Game, decision.Legal
	table := nullern.Read(game, view)
	if decision.Actions()[0].Kind == "bid" {
		lowest, good := 19, 0
		if view.Seats > 3 {
			lowest = nullern.Plain + 1
		}
		for _, card := range view.Hand {
			if table.Strengths[card] >= lowest {
				good++
			}
		}
		return legal[good]
	}
	if len(view.Hand) == 0 {
		return legal[0] // the blind card
	}
	strength := func(number int) int { return table.Strengths[game.Actions[number].Card] }
	takes := func(number int) bool { return strength(number) > slices.Max(append(slices.Clone(table.Trick), 0)) }
	return takeOrDuck(legal, takes, strength, nullern.Eager(view, int(view.Seat)), len(table.ToCome) == 0)
}

// takeOrDuck takes the trick if the seat is eager: with the lowest card in the last seat, before that with the highest.
// Otherwise it throws away the highest card that does not take the trick.
func takeOrDuck(legal []int, takes func(int) bool, strength func(int) int, eager, last bool) int {
	var taking, losing []int
	for _, number := range legal {
		if takes(number) {
			taking = append(taking, number)
		} else {
			losing = append(losing, number)
		}
	}
	switch {
	case !eager && len(losing) > 0:
		return most(losing, strength)
	case !eager:
		return least(taking, strength)
	case len(taking) == 0:
		return least(losing, strength)
	case last:
		return least(taking, strength)
	default:
		return most(taking, strength)
	}
}

func least(numbers []int, rank func(int) int) int {
	return slices.MinFunc(numbers, func(one, other int) int { return rank(one) - rank(other) })
}

func most(numbers []int, rank func(int) int) int {
	return slices.MaxFunc(numbers, func(one, other int) int { return rank(one) - rank(other) })
}
