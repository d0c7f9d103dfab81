package client

import (
	"context"
	"slices"
	"time"

	arenav1 "arena.example/client/v1"
)

// Messages from the server, as bots receive them.
type (
	// SixthSenseView is 6th Sense as one seat sees it.
	SixthSenseView = arenav1.SixthSenseView
	// NullernView is Nullern as one seat sees it.
	NullernView = arenav1.NullernView
	// MatchStart is the beginning of a match.
	MatchStart = arenav1.MatchStart
	// RoundReport is the end of a round.
	RoundReport = arenav1.RoundReport
	// MatchReport is the end of a match.
	MatchReport = arenav1.MatchReport
	// Welcome is the server's first message on a connection.
	Welcome = arenav1.Welcome
	// Conduct contains the limits of a ladder's matches.
	Conduct = arenav1.Conduct
	// Notice is any other message from the server to a bot.
	Notice = arenav1.Notice
)

// Games returns the names, as used in requests, of the games whose messages this client contains. A bot may play other
// games, too.
func Games() []string { return []string{"sixth_sense", "nullern"} }

// ConductOf returns the limits of a match: its ladder's if its start names one, otherwise those of the default ladders.
func ConductOf(welcome *Welcome, start *MatchStart) *Conduct {
	for _, ladder := range welcome.GetLadders() {
		if ladder.Name == start.GetLadder() {
			return ladder.Conduct
		}
	}
	return welcome.GetConduct()
}

// None is the value of a card, value or place that does not apply.
const None = -1

// Card is one card of a game.
type Card struct {
	// Name is the name, such as "red 7" or "blue 6/9".
	Name string
	// Colour is an index into the catalogue's Colours.
	Colour int
	// Values are the values that it can count as: one, or several if its player chooses.
	Values []int
}

// Action is one action of a game; fields that do not apply are None.
type Action struct {
	// Name is the name, such as "red 7" or "red 0 blocks place 2".
	Name string
	// Kind is the kind of choice, in the game's own terms, such as "play", "bid" or "raise".
	Kind string
	// Card is the played or chosen card, an index into the catalogue's Cards; None without a card or if it is hidden.
	Card int
	// Value is the value that a played card counts as, the number predicted or bid, or 1 for yes and 0 for no.
	Value int
	// Place is the place in the trick, counted from 0, of the card that the action blocks.
	Place int
}

// Catalog is one game: its colours, cards and actions. The decisions of a connection share it.
type Catalog struct {
	// Name is the name for programs, such as "sixth_sense".
	Name string
	// Title is the name for people, such as "6th Sense".
	Title              string
	MinSeats, MaxSeats int
	Colours            []string
	Cards              []Card
	Actions            []Action
	// Message is the catalogue as the server sent it, with the options of the game and the descriptors of its messages.
	Message *arenav1.GameCatalog
}

// Decision is a choice that the bot must make, with all that its seat may know, so that a bot needs no memory.
type Decision struct {
	MatchID uint64
	// DecisionID is the number of the decision, unique within the match.
	DecisionID int
	Game       *Catalog
	// View is the game as this seat sees it: a *SixthSenseView or a *NullernView. For any other game it is an *anypb.Any, whose
	// message Game.Message describes.
	View any
	// Legal are the legal actions in rising order, never empty: indices into Game.Actions.
	Legal []int
	// SoftMs is the time until the bank is used, and BankMs the time left in the bank for the rest of the match.
	SoftMs, BankMs int

	asking *asking
	parent context.Context
	// to holds the replies on the decision's stream; received is the decision's time of arrival.
	to       *replies
	received time.Duration
}

// Context returns a context that is done when further thinking is useless: the server has decided for the bot, the match has ended,
// or the bot has answered or must stop. A search can poll its Err or pass it on; any goroutine may do so.
func (d *Decision) Context() context.Context {
	if d.asking == nil {
		return context.Background()
	}
	return d.asking.context(d.parent)
}

// Hand returns the seat's own cards, in the order of the view's hand; empty if the seat may not see them, or in a game not in Games().
func (d *Decision) Hand() []Card {
	var hand []uint32
	switch view := d.View.(type) {
	case *SixthSenseView:
		hand = view.Hand
	case *NullernView:
		hand = view.Hand
	}
	cards := make([]Card, len(hand))
	for at, number := range hand {
		cards[at] = d.Game.Cards[number]
	}
	return cards
}

// Actions returns the legal actions with their meaning, in the order of Legal.
func (d *Decision) Actions() []Action {
	actions := make([]Action, len(d.Legal))
	for at, number := range d.Legal {
		actions[at] = d.Game.Actions[number]
	}
	return actions
}

// CatalogOf builds a catalogue from a message.
func CatalogOf(message *arenav1.GameCatalog) *Catalog {
	game := &Catalog{
		Name: message.Name, Title: message.Title, MinSeats: int(message.MinSeats), MaxSeats: int(message.MaxSeats),
		Colours: slices.Clone(message.Colours), Message: message,
	}
	for _, card := range message.Cards {
		game.Cards = append(game.Cards, Card{card.Name, int(card.Colour), ints(card.Values)})
	}
	for _, action := range message.Actions {
		game.Actions = append(game.Actions, Action{action.Name, action.Kind, orNone(action.Card), orNone(action.Value), orNone(action.Place)})
	}
	return game
}

// DecisionOf converts a message to a decision for a bot; ProtocolMismatch if no catalogue belongs to its game.
func DecisionOf(message *arenav1.Decision, games map[string]*Catalog) (*Decision, error) {
	decision := &Decision{
		MatchID: message.MatchId, DecisionID: int(message.DecisionId), Legal: ints(message.Legal),
		SoftMs: int(message.SoftMs), BankMs: int(message.BankMs),
	}
	switch view := message.View.(type) {
	case *arenav1.Decision_SixthSense:
		decision.View, decision.Game = view.SixthSense, games["sixth_sense"]
	case *arenav1.Decision_Nullern:
		decision.View, decision.Game = view.Nullern, games["nullern"]
	default:
		kind := string(message.Other.MessageName())
		for _, game := range games {
			if kind != "" && game.Message.ViewType == kind {
				decision.View, decision.Game = message.Other, game
			}
		}
	}
	if decision.Game == nil {
		return nil, &Error{Kind: ProtocolMismatch, Text: "the server asks for a decision in a game unknown to this client: update the SDK"}
	}
	return decision, nil
}

func ints(numbers []uint32) []int {
	made := make([]int, len(numbers))
	for at, number := range numbers {
		made[at] = int(number)
	}
	return made
}

func orNone(number *uint32) int {
	if number == nil {
		return None
	}
	return int(*number)
}
