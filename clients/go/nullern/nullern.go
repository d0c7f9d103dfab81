// Package nullern reads a view of Nullern: the strengths of cards, the trick on the table, the seats that want tricks,
// the unseen cards. It computes everything from one decision and stores nothing.
package nullern

import (
	"slices"

	"arena.example/client"
)

// Plain is the highest strength of a card that is not a trump.
const Plain = 20

// Hupfer is the number of points that a missed bid costs at the end of the game.
const Hupfer = 5

// Table is everything that a seat knows when it chooses, except its own hand.
type Table struct {
	// Strengths has each card's strength: its value, plus 20 for a trump. The strongest card takes the trick.
	Strengths []int
	// Trick has the strengths of the cards on the table; of equally strong cards, the first takes the trick.
	Trick []int
	// ToCome are the seats that play to this trick after this one.
	ToCome []int
	// Unseen has the strengths of the unseen cards: those in other hands or in the stock.
	Unseen []int
}

// Read reads the table from a view.
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

// Taker returns the seat now winning the trick; client.None if the table is empty.
func Taker(game *client.Catalog, view *client.NullernView) int {
	trick := Read(game, view).Trick
	if len(trick) == 0 {
		return client.None
	}
	place := slices.Index(trick, slices.Max(trick))
	return (int(view.Leaders[len(view.Takers)]) + place) % int(view.Seats)
}

// Wanted returns the number of tricks that a seat still needs for its bid; negative if it has too many or has not bid.
func Wanted(view *client.NullernView, seat int) int {
	bid, known := view.Bids[uint32(seat)]
	if !known {
		return -1 - int(view.Taken[seat])
	}
	return int(bid) - int(view.Taken[seat])
}

// Eager reports whether a seat wants a trick: for its bid or, if the bid is lost, for the point.
func Eager(view *client.NullernView, seat int) bool { return Wanted(view, seat) != 0 }

// Points returns the points of a round with this bid and these tricks, including the later cost of a missed bid.
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
