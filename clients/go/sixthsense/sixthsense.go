// Package sixthsense reads a view of 6th Sense: the trick on the table, its taker, the unseen cards, the seats void of a
// colour. It computes everything from one decision and stores nothing.
package sixthsense

import (
	"slices"

	"arena.example/client"
)

// Laid is an unblocked card in a trick; only these count.
type Laid struct{ Seat, Place, Colour, Value int }

// Table is everything that a seat knows when it chooses, except its own hand.
type Table struct {
	// Trump is the trump colour; client.None if there is none, or none yet.
	Trump int
	// Trick has the cards of the current trick that count, in the order of play.
	Trick []Laid
	// ToCome are the seats that play to this trick after this one.
	ToCome []int
	// Unseen contains the unseen cards: those in other hands or in the stock.
	Unseen []int
	// Lacks contains for each seat the colours that it certainly does not hold.
	Lacks map[int]map[int]bool
}

// Read reads the table from a view.
func Read(game *client.Catalog, view *client.SixthSenseView) *Table {
	table := &Table{Trump: client.None, Lacks: map[int]map[int]bool{}}
	seats, seen := int(view.Seats), make([]bool, len(game.Cards))
	if view.Turned != nil {
		seen[*view.Turned] = true
		table.Trump = game.Cards[*view.Turned].Colour
	}
	for _, card := range view.Hand {
		seen[card] = true
	}
	for _, card := range view.KnownPredictions {
		seen[card] = true
	}
	for at, number := range view.Plays {
		place := at % seats
		seat := (int(view.Leaders[at/seats]) + place) % seats
		if place == 0 {
			table.Trick = nil
		}
		action := game.Actions[number]
		if action.Card != client.None {
			seen[action.Card] = true
			if len(table.Trick) > 0 && game.Cards[action.Card].Colour != table.Trick[0].Colour {
				if table.Lacks[seat] == nil {
					table.Lacks[seat] = map[int]bool{}
				}
				table.Lacks[seat][table.Trick[0].Colour] = true
			}
		}
		table.Trick = After(table.Trick, game, action, seat, place)
	}
	laid := len(view.Plays) - len(view.Takers)*seats
	if laid == 0 {
		table.Trick = nil // the last trick is complete: a new one begins
	}
	for step := 1; step < seats-laid; step++ {
		table.ToCome = append(table.ToCome, (int(view.Seat)+step)%seats)
	}
	colours := len(game.Colours)
	if seats == 2 {
		colours--
	}
	for number, card := range game.Cards {
		if card.Colour < colours && !seen[number] {
			table.Unseen = append(table.Unseen, number)
		}
	}
	return table
}

// After returns the cards that count in a trick after one more action. A block removes a card and does not count
// itself.
func After(trick []Laid, game *client.Catalog, action client.Action, seat, place int) []Laid {
	if action.Kind == "block" {
		return slices.DeleteFunc(slices.Clone(trick), func(laid Laid) bool { return laid.Place == action.Place })
	}
	return append(slices.Clip(trick), Laid{seat, place, game.Cards[action.Card].Colour, action.Value})
}

// Taker returns the seat now winning a trick; client.None if no card counts.
func Taker(trick []Laid, trump int) int {
	if len(trick) == 0 {
		return client.None
	}
	led, fours := trick[0].Colour, 0
	rank := func(laid Laid) []int {
		power := 0
		if laid.Colour == trump {
			power = 2
		} else if laid.Colour == led {
			power = 1
		}
		return []int{power, laid.Value, -laid.Place}
	}
	for _, laid := range trick {
		if laid.Value == 4 {
			fours++
		}
	}
	higher := func(one, other Laid) int { return slices.Compare(rank(one), rank(other)) }
	if fours%2 == 1 { // an odd number of fours reverses the trick
		return slices.MinFunc(trick, higher).Seat
	}
	return slices.MaxFunc(trick, higher).Seat
}

// Targets returns the numbers of tricks that a prediction card predicts: two for a 6/9.
func Targets(game *client.Catalog, card int) []int { return game.Cards[card].Values }

// Points returns the points of a round with the given aims and number of tricks.
func Points(aims []int, tricks int, novice bool) int {
	distance := max(aims[0]-tricks, tricks-aims[0])
	for _, aim := range aims {
		distance = min(distance, max(aim-tricks, tricks-aim))
	}
	if novice {
		return []int{6, 4, 3, 2, 1, 0}[min(distance, 5)]
	}
	if distance == 0 {
		return tricks
	}
	return -distance
}
