package client

// Tests the package's record of a log of results, its warnings and its checks of proofs with the vectors that all
// clients share.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	arenav1 "arena.example/client/v1"
)

// saying is a slog.Handler that stores log lines.
type saying struct {
	slog.Handler
	file string
	said []string
}

func (s *saying) Enabled(context.Context, slog.Level) bool { return true }

func (s *saying) Handle(_ context.Context, record slog.Record) error {
	s.said = append(s.said, strings.ToLower(record.Level.String())+": "+strings.ReplaceAll(record.Message, s.file, "FILE"))
	return nil
}

func TestReceiptsAreKept(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var stories []struct {
		Title string   `json:"title"`
		Kept  []string `json:"kept"`
		Steps []struct {
			Starts  bool                 `json:"starts"`
			Tears   int64                `json:"tears"`
			Shows   json.RawMessage      `json:"shows"`
			Reports json.RawMessage      `json:"reports"`
			Proofs  map[string]*[]string `json:"proofs"`
			Says    []string             `json:"says"`
			Several bool                 `json:"one_of_several"`
		} `json:"steps"`
	}
	read("vectors/receipts.json", &stories)
	if len(stories) < 5 {
		t.Fatalf("there are %d stories", len(stories))
	}
	seat := &seat{1, make([]byte, 16), make([]byte, 32), make([]byte, 32)}
	for _, story := range stories {
		t.Run(story.Title, func(t *testing.T) {
			heard := &saying{file: filepath.Join(t.TempDir(), "bot.receipts")}
			slog.SetDefault(slog.New(heard))
			var checker *logChecker
			for at, step := range story.Steps {
				switch {
				case step.Starts:
					checker = newLogChecker(heard.file)
				case step.Tears > 0:
					about, err := os.Stat(heard.file)
					if err == nil {
						err = os.Truncate(heard.file, about.Size()-step.Tears)
					}
					if err != nil {
						t.Fatal(err)
					}
				case step.Reports != nil:
					report := &arenav1.MatchReport{}
					if err := protojson.Unmarshal(step.Reports, report); err != nil {
						t.Fatal(err)
					}
					checker.take(report, seat)
				default:
					var state *arenav1.LogState
					if !bytes.Equal(step.Shows, []byte("null")) && step.Shows != nil {
						state = &arenav1.LogState{}
						if err := protojson.Unmarshal(step.Shows, state); err != nil {
							t.Fatal(err)
						}
					}
					err := checker.check(state, checker.seen(), step.Several, func(first, second uint64) (proof [][]byte, refused bool, err error) {
						found, asked := step.Proofs[fmt.Sprintf("%d %d", first, second)]
						if !asked {
							return nil, false, fmt.Errorf("nobody else asks for %d %d", first, second)
						}
						if found == nil {
							return nil, true, nil
						}
						for _, each := range *found {
							content, err := base64.StdEncoding.DecodeString(each)
							if err != nil {
								return nil, false, err
							}
							proof = append(proof, content)
						}
						return proof, false, nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(heard.said, step.Says) {
					t.Fatalf("at step %d it says %q, not %q", at+1, heard.said, step.Says)
				}
				heard.said = nil
			}
			text, _ := os.ReadFile(heard.file)
			if lines := strings.FieldsFunc(string(text), func(letter rune) bool { return letter == '\n' }); !slices.Equal(lines, story.Kept) {
				t.Errorf("it keeps %q, not %q", lines, story.Kept)
			}
		})
	}
}

func TestReceiptsAreShortened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bot.receipts")
	log := newLogChecker(file)
	log.receipts.pinTo(&arenav1.LogState{Head: &arenav1.LogHead{Size: 1}}, nil)
	for number := range uint64(2*kept + 1) {
		log.take(&arenav1.MatchReport{MatchId: number, Interrupted: "x", Entry: &arenav1.LogEntry{Leaf: []byte("<&>"), Head: &arenav1.LogHead{Size: number}}}, nil)
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), `"leaf":"<&>"`) {
		t.Error("a leaf is not kept as it is")
	}
	again := &receipts{file: file}
	again.load()
	if len(again.heads) > 2*kept || len(again.heads) < kept || again.pin == nil || again.entries[len(again.entries)-1][1] != 2*kept {
		t.Errorf("it keeps %d receipts, %v", len(again.heads), again.pin)
	}
}

func TestProofsOfTheLogAreTaken(t *testing.T) {
	var log struct {
		Leaves []struct {
			Leaf string `json:"leaf"`
		} `json:"leaves"`
		Heads []struct {
			Size            uint64 `json:"size"`
			Root, Signature string
		} `json:"heads"`
		Inclusion []struct {
			Number, Size uint64
			Proof        []string
		} `json:"inclusion"`
		Consistency []struct {
			First, Second uint64
			Proof         []string
		} `json:"consistency"`
	}
	read("../../arena/log/vectors.json", &log)
	content := func(digits string) []byte {
		made, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	all := func(proof []string) (made [][]byte) {
		for _, each := range proof {
			made = append(made, content(each))
		}
		return made
	}
	changed := func(content []byte) []byte {
		other := slices.Clone(content)
		other[0] ^= 1
		return other
	}
	heads := map[uint64]*arenav1.LogHead{}
	for _, each := range log.Heads {
		head := &arenav1.LogHead{Size: each.Size, Root: content(each.Root), Signature: content(each.Signature)}
		heads[each.Size] = head
		var leaves [][]byte
		for _, leaf := range log.Leaves[:each.Size] {
			if fields, err := fieldsOf([]byte(leaf.Leaf)); err != nil {
				t.Fatal(err)
			} else if string(fields["kind"]) == `"key"` {
				leaves = append(leaves, []byte(leaf.Leaf))
			}
		}
		keys, err := readKeys(leaves)
		if err != nil {
			t.Fatal(err)
		}
		other := &arenav1.LogHead{Size: head.Size, Root: changed(head.Root), Signature: head.Signature}
		forged := &arenav1.LogHead{Size: head.Size, Root: head.Root, Signature: changed(head.Signature)}
		if !keys.signed(head) || keys.signed(other) || keys.signed(forged) {
			t.Errorf("the head of %d is misjudged", each.Size)
		}
	}
	for _, each := range log.Inclusion {
		leaf := []byte(log.Leaves[each.Number-1].Leaf)
		entry := &arenav1.LogEntry{Number: each.Number, Leaf: leaf, Head: heads[each.Size], Proof: all(each.Proof)}
		wrong := &arenav1.LogEntry{Number: each.Number, Leaf: changed(leaf), Head: heads[each.Size], Proof: all(each.Proof)}
		moved := &arenav1.LogEntry{Number: each.Number + 1, Leaf: leaf, Head: heads[each.Size], Proof: all(each.Proof)}
		if !included(entry) || included(wrong) || included(moved) {
			t.Errorf("leaf %d of %d is misjudged", each.Number, each.Size)
		}
	}
	for _, each := range log.Consistency {
		one, other, proof := heads[each.First], heads[each.Second], all(each.Proof)
		if !consistent(one, other, proof) || consistent(&arenav1.LogHead{Size: one.Size, Root: changed(one.Root)}, other, proof) ||
			consistent(one, &arenav1.LogHead{Size: other.Size, Root: changed(other.Root)}, proof) {
			t.Errorf("%d and %d are misjudged", each.First, each.Second)
		}
	}
	if len(log.Inclusion) == 0 || len(log.Consistency) == 0 {
		t.Error("there are no proofs")
	}
}
