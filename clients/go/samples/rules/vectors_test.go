package main

// Tests the packages of the games and the sample's rules with the vectors that all clients share.

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"arena.example/client"
	"arena.example/client/nullern"
	"arena.example/client/sixthsense"
	arenav1 "arena.example/client/v1"
)

const vectors = "../../../conformance/vectors/"

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(vectors + name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func orNull(number int) any {
	if number == client.None {
		return nil
	}
	return number
}

// reads returns the summary of a view, in the form that the vectors use.
func reads(decision *client.Decision) map[string]any {
	switch view := decision.View.(type) {
	case *client.NullernView:
		table := nullern.Read(decision.Game, view)
		wanted := []int{}
		for seat := range int(view.Seats) {
			wanted = append(wanted, nullern.Wanted(view, seat))
		}
		slices.Sort(table.Unseen)
		return map[string]any{
			"trick": table.Trick, "toCome": table.ToCome, "taker": orNull(nullern.Taker(decision.Game, view)), "wanted": wanted, "unseen": table.Unseen,
		}
	case *client.SixthSenseView:
		table := sixthsense.Read(decision.Game, view)
		trick, lacks := [][]int{}, [][]int{}
		for _, laid := range table.Trick {
			trick = append(trick, []int{laid.Seat, laid.Place, laid.Colour, laid.Value})
		}
		for seat := range int(view.Seats) {
			for colour := range decision.Game.Colours {
				if table.Lacks[seat][colour] {
					lacks = append(lacks, []int{seat, colour})
				}
			}
		}
		return map[string]any{
			"trump": orNull(table.Trump), "trick": trick, "toCome": table.ToCome, "taker": orNull(sixthsense.Taker(table.Trick, table.Trump)),
			"lacks": lacks, "unseen": table.Unseen,
		}
	}
	return nil
}

// plain returns a value after conversion to JSON and back, with empty lists for missing ones.
func plain(t *testing.T, value map[string]any) map[string]any {
	t.Helper()
	for key, each := range value {
		if list := reflect.ValueOf(each); list.Kind() == reflect.Slice && list.Len() == 0 {
			value[key] = []int{}
		}
	}
	text, err := json.Marshal(value)
	made := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestViewsAreReadAndRulesPlayAsInPython(t *testing.T) {
	var catalogues []json.RawMessage
	var asked []struct {
		Decision json.RawMessage `json:"decision"`
		Reads    map[string]any  `json:"reads"`
		Rules    int             `json:"rules"`
	}
	read(t, "catalogues.json", &catalogues)
	read(t, "decisions.json", &asked)
	games := map[string]*client.Catalog{}
	for _, each := range catalogues {
		message := &arenav1.GameCatalog{}
		if err := protojson.Unmarshal(each, message); err != nil {
			t.Fatal(err)
		}
		games[message.Name] = client.CatalogOf(message)
	}
	if len(asked) < 100 {
		t.Fatalf("there are %d decisions", len(asked))
	}
	for _, each := range asked {
		message := &arenav1.Decision{}
		if err := protojson.Unmarshal(each.Decision, message); err != nil {
			t.Fatal(err)
		}
		decision, err := client.DecisionOf(message, games)
		if err != nil {
			t.Fatal(err)
		}
		if found := plain(t, reads(decision)); !reflect.DeepEqual(found, each.Reads) {
			t.Errorf("%s reads %v, not %v", each.Decision, found, each.Reads)
		}
		if chosen := decide(decision); chosen != each.Rules {
			t.Errorf("%s: the rules choose %d, not %d", each.Decision, chosen, each.Rules)
		}
		for at, card := range decision.Hand() {
			if number := decision.View.(interface{ GetHand() []uint32 }).GetHand()[at]; card.Name != decision.Game.Cards[number].Name {
				t.Errorf("card %d of the hand is %s", at, card.Name)
			}
		}
	}
}

func TestPoints(t *testing.T) {
	for _, each := range []struct {
		aims     []int
		novice   bool
		by, want []int
	}{
		{[]int{4}, false, []int{6, 2, 4, 0}, []int{-2, -2, 4, -4}},
		{[]int{6, 9}, false, []int{7, 8, 0, 12, 6, 9}, []int{-1, -1, -6, -3, 6, 9}},
		{[]int{4}, true, []int{4, 5, 2, 7, 0, 10}, []int{6, 4, 3, 2, 1, 0}},
	} {
		for at, tricks := range each.by {
			if found := sixthsense.Points(each.aims, tricks, each.novice); found != each.want[at] {
				t.Errorf("%d tricks for %v are %d points", tricks, each.aims, found)
			}
		}
	}
	for _, each := range [][3]int{{0, 0, 20}, {3, 3, 13}, {0, 2, -3}, {4, 0, -5}} {
		if found := nullern.Points(each[0], each[1]); found != each[2] {
			t.Errorf("%d tricks for %d are %d points", each[1], each[0], found)
		}
	}
}
