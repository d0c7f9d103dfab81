// Package nullern reads a view of Nullern: how strong a card is, what lies on the table, who wants tricks, which cards are out. It
// computes everything from one decision and remembers nothing.
package nullern

import (
	"slices"

	"arena/client"
)

// Plain is the highest strength of a card that is no trump.
const Plain = 20

// Hupfer are the points that a missed bid costs at the end of the game.
const Hupfer = 5

// Table is what the seat to choose knows, beyond its own hand.
type Table struct {
	// Strengths are by card: its value, whatever its colour, and 20 more for a trump. The strongest card takes the trick.
	Strengths []int
	// Trick has the strengths of the cards on the table; of equally strong ones the first takes the trick.
	Trick []int
	// ToCome are the seats that play to this trick after the own one.
	ToCome []int
	// Unseen has the strengths of the cards that lie with the others or in the stock.
	Unseen []int
}

// Read returns the table as the view shows it.
func Read(game *client.Catalog, view *client.NullernView) *Table {
	table := &Table{Strengths: make([]int, len(game.Cards))}
	trump := game.Cards[view.Turned].Colour
	for number, card := range game.Cards {
		table.Strengths[number] = card.Values[0]
		if card.Colour == trump {
			table.Strengths[number] += Plain
		}
	}
	for _, card := range view.Plays[len(view.Takers)*int(view.Seats):] {
		table.Trick = append(table.Trick, table.Strengths[card])
	}
	for step := 1; step < int(view.Seats)-len(table.Trick); step++ {
		table.ToCome = append(table.ToCome, (int(view.Seat)+step)%int(view.Seats))
	}
	for number, strength := range table.Strengths {
		card := uint32(number)
		if card != view.Turned && !slices.Contains(view.Hand, card) && !slices.Contains(view.Plays, card) {
			table.Unseen = append(table.Unseen, strength)
		}
	}
	return table
}

// Taker returns the seat that takes the trick on the table as it lies; client.None where no card lies there.
func Taker(game *client.Catalog, view *client.NullernView) int {
	trick := Read(game, view).Trick
	if len(trick) == 0 {
		return client.None
	}
	place := slices.Index(trick, slices.Max(trick))
	return (int(view.Leaders[len(view.Takers)]) + place) % int(view.Seats)
}

// Wanted returns the tricks still missing for a seat's bid; negative when it has too many.
func Wanted(view *client.NullernView, seat int) int {
	bid, known := view.Bids[uint32(seat)]
	if !known {
		return -1 - int(view.Taken[seat])
	}
	return int(bid) - int(view.Taken[seat])
}

// Eager says whether a seat has a use for a trick: for its bid, or, when that is lost anyway, for the point.
func Eager(view *client.NullernView, seat int) bool { return Wanted(view, seat) != 0 }

// Points returns what a round brings with this bid and that many tricks, the cost of a missed bid counted at once.
func Points(bid, tricks int) int {
	switch {
	case bid != tricks:
		return tricks - Hupfer
	case tricks == 0:
		return 20
	default:
		return 10 + tricks
	}
}
