package client

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	arenav1 "arena.example/client/v1"
)

// kept is how many of the newest receipts a shortened file has. A file with twice as many lines is shortened.
const kept = 1000

const pinBegin = `{"arena_receipts"`

// receipts contains the records of one bot at one server: the server's key and newest head, and a receipt for
// each match. They are stored beside the token in a file of append-only JSON lines. docs/log.md of the Arena
// describes the file, and `arena replay verify --receipts` reads it.
type receipts struct {
	// file is the path of the file; empty to keep nothing on disk.
	file string
	// pin is the known state of the server's log: the leaves of its keys and restorations, and its newest head.
	pin *pinLine
	// heads has the receipts' heads, the oldest first; entries has the leaf number and the match of each receipt.
	heads   []*arenav1.LogHead
	entries [][2]uint64
	// reportsAfter: the last report's leaf number, or the log's size before the first report; nil if both are unknown.
	reportsAfter   *uint64
	lines          int
	read, troubled bool
}

// digits are bytes, written as hexadecimal digits.
type digits []byte

// MarshalText writes the digits.
func (d digits) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d), nil }

// UnmarshalText reads the digits.
func (d *digits) UnmarshalText(text []byte) (err error) {
	*d, err = hex.AppendDecode(nil, text)
	return err
}

// headLine, pinLine and receiptLine are the lines of the file.
type headLine struct {
	Size      uint64 `json:"size"`
	Root      digits `json:"root"`
	Signature digits `json:"signature"`
}

type pinLine struct {
	Format   int      `json:"arena_receipts"`
	Keys     []string `json:"keys"`
	Restores []string `json:"restores"`
	Head     headLine `json:"head"`
	Cut      *uint64  `json:"cut,omitempty"`
}

type receiptLine struct {
	Match      uint64   `json:"match"`
	Seat       uint32   `json:"seat"`
	Nonce      *digits  `json:"nonce,omitempty"`
	Salt       *digits  `json:"salt,omitempty"`
	Commitment *digits  `json:"commitment,omitempty"`
	Number     uint64   `json:"number"`
	Leaf       string   `json:"leaf"`
	Head       headLine `json:"head"`
	Proof      []digits `json:"proof"`
}

func lineOf(head *arenav1.LogHead) headLine { return headLine{head.Size, head.Root, head.Signature} }

func (h headLine) head() *arenav1.LogHead {
	return &arenav1.LogHead{Size: h.Size, Root: h.Root, Signature: h.Signature}
}

func texts(all [][]byte) []string {
	made := make([]string, len(all))
	for at, each := range all {
		made[at] = string(each)
	}
	return made
}

// load reads the file once; an unreadable file is ignored, with a warning.
func (r *receipts) load() {
	if r.read || r.file == "" {
		return
	}
	r.read = true
	text, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if whole := bytes.LastIndexByte(text, '\n') + 1; whole < len(text) && err == nil {
		// The last line is unfinished and would corrupt the next line.
		err = os.Truncate(r.file, int64(whole))
		slog.Warn(fmt.Sprintf("the last line of %s was not finished, and is left out", r.file))
		text = text[:whole]
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || err != nil {
			continue
		}
		r.lines++
		err = r.remember(line)
	}
	if err != nil {
		r.warn(err)
	}
}

func (r *receipts) remember(text string) error {
	if strings.HasPrefix(text, pinBegin) {
		var line pinLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			return err
		}
		if line.Cut != nil {
			r.forget(*line.Cut)
		}
		r.pin = &line
		r.pinned(line.Head.Size)
		return nil
	}
	var line receiptLine
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		return err
	}
	r.reportsAfter = &line.Number
	r.heads, r.entries = append(r.heads, line.Head.head()), append(r.entries, [2]uint64{line.Number, line.Match})
	return nil
}

// pinned stores the size of the log before the first report.
func (r *receipts) pinned(size uint64) {
	if r.reportsAfter == nil {
		r.reportsAfter = &size
	}
}

// latest returns the head of the longest known log with at most this many leaves; nil if there is none.
func (r *receipts) latest(size uint64) (best *arenav1.LogHead) {
	known := r.heads
	if r.pin != nil {
		known = append(slices.Clip(known), r.pin.Head.head())
	}
	for _, head := range known {
		if head.Size <= size && (best == nil || head.Size > best.Size) {
			best = head
		}
	}
	return best
}

// pinTo stores a server's keys, restorations and head. cut: the number of known leaves that remained after a
// restoration, nil for all.
func (r *receipts) pinTo(state *arenav1.LogState, cut *uint64) {
	if cut != nil {
		r.forget(*cut)
	}
	r.pin = &pinLine{1, texts(state.Keys), []string{}, lineOf(state.Head), cut}
	for _, entry := range state.Restores {
		r.pin.Restores = append(r.pin.Restores, string(entry.Leaf))
	}
	r.pinned(state.Head.Size)
	r.add(r.pin)
}

// forget ignores entries beyond a cut from now on. They stay in the file.
func (r *receipts) forget(cut uint64) {
	r.heads = slices.DeleteFunc(r.heads, func(head *arenav1.LogHead) bool { return head.Size > cut })
	r.entries = slices.DeleteFunc(r.entries, func(entry [2]uint64) bool { return entry[0] > cut })
}

// take checks a report's log entry and stores it; seat: facts known from the match's start, nil for none.
func (r *receipts) take(report *arenav1.MatchReport, seat *seat) {
	entry := report.Entry
	r.load()
	if problem := problemOf(report); problem != "" {
		slog.Error(fmt.Sprintf("match %d: the server's log of results does not bear out its report: %s", report.MatchId, problem))
	}
	if entry.Head == nil {
		return
	}
	number := entry.Number
	r.reportsAfter = &number
	r.heads, r.entries = append(r.heads, entry.Head), append(r.entries, [2]uint64{entry.Number, report.MatchId})
	line := receiptLine{
		Match: report.MatchId, Seat: report.Seat, Number: entry.Number, Leaf: string(entry.Leaf), Head: lineOf(entry.Head), Proof: []digits{},
	}
	if seat != nil {
		line.Nonce, line.Salt, line.Commitment = (*digits)(&seat.nonce), (*digits)(&seat.salt), (*digits)(&seat.commitment)
	}
	for _, each := range entry.Proof {
		line.Proof = append(line.Proof, each)
	}
	r.add(line)
}

func (r *receipts) add(line any) {
	r.heads, r.entries = r.heads[max(0, len(r.heads)-kept):], r.entries[max(0, len(r.entries)-kept):]
	if r.file == "" {
		return
	}
	err := os.MkdirAll(filepath.Dir(r.file), 0o700)
	if err == nil && r.lines >= 2*kept {
		err = r.shorten()
	}
	if err == nil {
		err = r.append(line)
	}
	if err != nil {
		r.warn(err)
	}
}

func (r *receipts) append(line any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return err
	}
	file, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	before, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		if _, err = file.Write(text.Bytes()); err != nil {
			_ = file.Truncate(before) // because half a line would corrupt the next one
		}
	}
	r.lines++
	return errors.Join(err, file.Close())
}

// shorten leaves only the newest receipts in the file, after the newest pin.
func (r *receipts) shorten() error {
	text, err := os.ReadFile(r.file)
	if err != nil {
		return err
	}
	var pin string
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, pinBegin) {
			pin = line
		} else {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-kept):]
	if err := replaceFile(r.file, pin+strings.Join(lines, "")); err != nil {
		return err
	}
	r.lines = len(lines) + min(1, len(pin))
	return nil
}

func (r *receipts) warn(err error) {
	if !r.troubled {
		r.troubled = true
		slog.Warn(fmt.Sprintf("receipts cannot be kept in %s (%v); the bot plays on without", r.file, err))
	}
}

// problemOf describes a fault in the entry of a report; empty if there is none.
func problemOf(report *arenav1.MatchReport) string {
	entry := report.Entry
	if !included(entry) {
		return "its proof does not lead from leaf to head"
	}
	leaf, err := fieldsOf(entry.Leaf)
	if err != nil {
		return fmt.Sprintf("its leaf cannot be read (%v)", err)
	}
	told := []struct {
		name  string
		value any
	}{{"number", entry.Number}, {"match", report.MatchId}, {"places", report.Places}, {"points", report.Scores}}
	if report.Interrupted != "" {
		told = told[:2]
	}
	for _, each := range told {
		value, _ := json.Marshal(each.value)
		says, said := spaced(leaf[each.name]), spaced(value)
		if says != said {
			return fmt.Sprintf(`its leaf says %s for "%s", the report %s`, says, each.name, said)
		}
	}
	return ""
}

// spaced returns JSON in one line with spaces, for people; "null" for nil.
func spaced(text json.RawMessage) string {
	var compact bytes.Buffer
	if text == nil || json.Compact(&compact, text) != nil {
		return "null"
	}
	return strings.ReplaceAll(compact.String(), ",", ", ")
}
