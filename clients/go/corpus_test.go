package client

// Plays the conversations of clients/conformance with the whole package and its connection on a virtual clock; only gRPC is
// scripted. clients/conformance/README.md explains the steps.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	arenav1 "arena.example/client/v1"
)

const conformance = "../conformance/"

type object = map[string]json.RawMessage

// botSpec is the bot of a conversation, as described in clients/conformance/README.md.
type botSpec struct {
	Games       []string        `json:"games"`
	Capacity    int             `json:"capacity"`
	Version     string          `json:"version"`
	Token       *string         `json:"token"`
	Owner       string          `json:"owner"`
	Invitation  string          `json:"invitation"`
	Matches     int             `json:"matches"`
	Challenges  json.RawMessage `json:"challenges"`
	Casual      bool            `json:"casual"`
	OnError     string          `json:"on_error"`
	GiveUpAfter float64         `json:"give_up_after"`
	ThinksMs    int             `json:"thinks_ms"`
	Batch       bool            `json:"batch"`
	Gives       []any           `json:"gives"`
	Ladders     []string        `json:"ladders"`
	Events      []string        `json:"events"`
	Receipts    bool            `json:"receipts"`
}

type conversation struct {
	Title  string              `json:"title"`
	Bot    json.RawMessage     `json:"bot"`
	Proofs map[string][][]byte `json:"proofs"`
	Steps  []object            `json:"steps"`
}

// virtualClock is a clock that advances on request.
type virtualClock struct {
	time   time.Duration
	alarms []*alarm
}

type alarm struct {
	at   time.Duration
	call func()
}

func (v *virtualClock) now() time.Duration { return v.time }

func (v *virtualClock) after(wait time.Duration, call func()) func() {
	made := &alarm{v.time + wait, call}
	v.alarms = append(v.alarms, made)
	return func() { v.alarms = slices.DeleteFunc(v.alarms, func(each *alarm) bool { return each == made }) }
}

// pass advances the clock by a time or until a condition holds; settle does everything that takes no time.
func (v *virtualClock) pass(length time.Duration, settle func(), until func() bool) {
	end := v.time + length
	settle()
	for !until() && len(v.alarms) > 0 {
		next := slices.MinFunc(v.alarms, func(one, other *alarm) int { return int(one.at - other.at) })
		if next.at > end {
			break
		}
		v.alarms = slices.DeleteFunc(v.alarms, func(each *alarm) bool { return each == next })
		v.time = max(v.time, next.at)
		next.call()
		settle()
	}
	if !until() {
		v.time = max(v.time, end)
	}
}

// scriptedCall is a stream that the script answers, and scriptedRegistration a registration that it answers.
type scriptedCall struct {
	address, token    string
	events            callEvents
	said              []*arenav1.PlayRequest
	closed, cancelled bool
}

func (s *scriptedCall) write(request *arenav1.PlayRequest) {
	if !s.cancelled {
		s.said = append(s.said, proto.Clone(request).(*arenav1.PlayRequest))
	}
}
func (s *scriptedCall) end()    { s.closed = true }
func (s *scriptedCall) cancel() { s.cancelled = true }

type scriptedRegistration struct {
	request  *arenav1.RegisterBotRequest
	answered func(*arenav1.RegisterBotResponse, *status.Status)
}

// performance is one conversation being played.
type performance struct {
	*testing.T
	clock        virtualClock
	spec         botSpec
	tokenFile    string
	proofs       map[string][][]byte
	told         []string
	warned       []string
	meanwhile    []func()
	tries        []any
	tokens       map[string]string
	nonces       map[string]bool
	call         *scriptedCall   // the stream that the steps are about
	calls        []*scriptedCall // all open streams
	registration *scriptedRegistration
	connection   *connection
	answering    *answering
	ended        bool
	err          error
	stopped      bool
	// For tests that need more than a conversation: change alters the bot, and around alters the connection's
	// surroundings.
	change func(*Bot)
	around surroundings
}

// scriptedChannel is a channel of the performance's connection to an address.
type scriptedChannel struct {
	*performance
	address string
}

func (p scriptedChannel) play(token string, events callEvents) call {
	made := &scriptedCall{address: p.address, token: token, events: events}
	p.tries = append(p.tries, made)
	return made
}

func (p scriptedChannel) register(request *arenav1.RegisterBotRequest, _ time.Duration, answered func(*arenav1.RegisterBotResponse, *status.Status)) {
	p.tries = append(p.tries, &scriptedRegistration{request, answered})
}
func (p scriptedChannel) consistency(first, second uint64) ([][]byte, bool, error) {
	proof, given := p.proofs[fmt.Sprintf("%d %d", first, second)]
	return proof, !given, nil
}
func (p scriptedChannel) close() {}

// receipts returns the path of the bot's receipts.
func (p *performance) receipts() string { return p.tokenFile + ".receipts" }

func (p *performance) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *performance) check(ok bool, format string, values ...any) {
	p.Helper()
	if !ok {
		p.Fatalf(format, values...)
	}
}

func (p *performance) options() Options {
	options := Options{
		TokenFile: p.tokenFile, Invitation: p.spec.Invitation, Owner: p.spec.Owner, Matches: p.spec.Matches, Casual: p.spec.Casual,
		PlayOn: p.spec.OnError == "continue", GiveUpAfter: time.Duration(p.spec.GiveUpAfter * float64(time.Second)), NoReceipts: true,
		Ladders: p.spec.Ladders, Events: p.spec.Events,
	}
	if p.spec.Token != nil {
		options.Token = *p.spec.Token
	}
	if p.spec.Challenges != nil && json.Unmarshal(p.spec.Challenges, &options.Challenges) != nil {
		p.must(json.Unmarshal(p.spec.Challenges, &options.Challengers))
	}
	return options
}

// bot returns the bot that the conversation describes.
func (p *performance) bot() *Bot {
	tell := func(text string, values ...any) { p.told = append(p.told, fmt.Sprintf(text, values...)) }
	think := func(decisions ...*Decision) {
		for _, each := range decisions {
			other := ""
			if view, packed := each.View.(*anypb.Any); packed {
				other = fmt.Sprintf(" %s %s", each.Game.Name, base64.StdEncoding.EncodeToString(view.Value))
			}
			tell("decide %d/%d %d+%d%s", each.MatchID, each.DecisionID, each.SoftMs, each.BankMs, other)
		}
		p.clock.time += time.Duration(p.spec.ThinksMs) * time.Millisecond
		arriving := p.meanwhile
		p.meanwhile = nil
		for _, arrive := range arriving {
			arrive()
		}
		for _, each := range decisions {
			if each.Context().Err() != nil {
				tell("closed %d/%d", each.MatchID, each.DecisionID)
			}
		}
	}
	var greeting *Welcome
	bot := &Bot{
		Name: "bot", Games: p.spec.Games, Capacity: p.spec.Capacity, Version: p.spec.Version,
		Decide: func(decision *Decision) int {
			think(decision)
			return decision.Legal[0]
		},
		OnWelcome: func(welcome *Welcome) { greeting = welcome },
		OnMatchStart: func(start *MatchStart) {
			of := ""
			if start.Ladder != "" {
				of = fmt.Sprintf(" %s %d", start.Ladder, ConductOf(greeting, start).GetSoftLimitMs())
			}
			tell("start %d%s", start.MatchId, of)
		},
		OnRound: func(report *RoundReport) { tell("round %d", report.MatchId) },
		OnMatchEnd: func(report *MatchReport) {
			logMatchEnd(report)
			tell("report %d", report.MatchId)
		},
		OnNotice: func(notice *Notice) {
			logNotice(notice)
			match := "-"
			if notice.MatchId != nil {
				match = fmt.Sprint(*notice.MatchId)
			}
			tell("notice %d %s", notice.Kind, match)
		},
	}
	if p.spec.Batch || p.spec.Gives != nil {
		bot.DecideMany = func(decisions []*Decision) iter.Seq[int] {
			var given []int
			think(decisions...)
			for _, each := range decisions {
				given = append(given, each.Legal[0])
			}
			if p.spec.Gives != nil {
				given = nil
			}
			for _, each := range p.spec.Gives {
				number, whole := each.(float64)
				if !whole {
					number = None // a bot in Go can only give numbers
				}
				given = append(given, int(number))
			}
			return slices.Values(given)
		}
	}
	return bot
}

// begin starts the bot's program.
func (p *performance) begin() {
	bot, options := p.bot(), p.options()
	if p.change != nil {
		p.change(bot)
	}
	if p.spec.Receipts {
		log := newLogChecker(p.receipts())
		p.around = surroundings{keep: log.take, reportsAfter: log.reportsAfter}
		p.around.welcomed = func(state *arenav1.LogState, oneOfSeveral bool, channel channel) {
			p.must(log.check(state, log.seen(), oneOfSeveral, channel.consistency))
		}
	}
	profile, err := profileOf(bot, "arena:1", options)
	p.must(err)
	var made *connection
	caller := &caller{bot: bot, playOn: options.PlayOn, now: p.clock.now}
	answering := newAnswering(context.Background(), caller, func(session int, request *arenav1.PlayRequest) { made.say(session, request) })
	made = newConnection(profile, surroundings{
		open:  func(address string) (channel, error) { return scriptedChannel{p, address}, nil },
		clock: &p.clock,
		inbox: answering,
		hurry: answering.hurry,
		keep:  p.around.keep, welcomed: p.around.welcomed, reportsAfter: p.around.reportsAfter,
		chance: func() float64 { return 1 },
		done: func(err error) {
			if p.connection == made {
				p.ended, p.err = true, err
			}
		},
	})
	p.connection, p.answering, p.ended, p.err, p.stopped = made, answering, false, nil, false
	made.start()
}

// settle lets the bot answer all its decisions.
func (p *performance) settle() {
	for len(p.answering.deliveries) > 0 {
		if err := p.answering.one(); err != nil {
			p.answering.deliveries = nil
			p.connection.end(err)
			p.ended, p.err = true, err
		}
	}
}

func (p *performance) sameToken(name, token string) {
	p.Helper()
	for label, other := range p.tokens {
		p.check(label == name || token != other, "the token of %s is that of %s", name, label)
	}
	if known, there := p.tokens[name]; there {
		p.check(known == token, "%s has another token", name)
	}
	p.tokens[name] = token
}

func next[T any](p *performance) T {
	p.Helper()
	p.check(len(p.tries) > 0, "it tries nothing; ended %v: %v", p.ended, p.err)
	found, ok := p.tries[0].(T)
	p.check(ok, "it made a %T", p.tries[0])
	p.tries = p.tries[1:]
	return found
}

func (p *performance) open() *scriptedCall {
	p.Helper()
	p.check(p.call != nil, "no stream is open")
	return p.call
}

// same fails unless two messages have the same JSON.
func (p *performance) same(said proto.Message, wanted json.RawMessage) {
	p.Helper()
	expected := said.ProtoReflect().New().Interface()
	p.must(protojson.Unmarshal(wanted, expected))
	p.check(proto.Equal(said, expected), "it says %v, not %v", said, expected)
}

var codeNames = func() map[string]codes.Code {
	names := map[string]codes.Code{}
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		names[strings.ToUpper(code.String())] = code
	}
	names["CANCELLED"] = codes.Canceled
	return names
}()

func (p *performance) status(given object) *status.Status {
	text := func(key string) (value string) {
		if given[key] != nil {
			p.must(json.Unmarshal(given[key], &value))
		}
		return value
	}
	code, known := codeNames[strings.ReplaceAll(text("status"), "_", "")]
	p.check(known, "there is no status %s", text("status"))
	made := status.New(code, text("text"))
	if given["pause"] != nil {
		var pause struct {
			Seconds int64 `json:",string"`
			Nanos   int32
		}
		p.must(json.Unmarshal(given["pause"], &pause))
		detailed, err := made.WithDetails(&errdetails.RetryInfo{RetryDelay: &durationpb.Duration{Seconds: pause.Seconds, Nanos: pause.Nanos}})
		p.must(err)
		made = detailed
	}
	if reason := text("reason"); reason != "" {
		detailed, err := made.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "arena"})
		p.must(err)
		made = detailed
	}
	return made
}

var sharedMessages = func() (messages map[string]object) {
	read("messages.json", &messages)
	return messages
}()

func read(name string, into any) {
	text, err := os.ReadFile(conformance + name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(err)
	}
}

// decoded reads the value of a step.
func decoded[T any](p *performance, value json.RawMessage) (made T) {
	p.Helper()
	p.must(json.Unmarshal(value, &made))
	return made
}

// message returns the server's message in a step.
func (p *performance) message(value json.RawMessage) *arenav1.PlayResponse {
	var fields object
	if value[0] == '"' {
		fields = sharedMessages[decoded[string](p, value)]
	} else if fields = decoded[object](p, value); fields["like"] != nil {
		whole := object{}
		for key, each := range sharedMessages[decoded[string](p, fields["like"])] {
			whole[key] = each
		}
		delete(fields, "like")
		for key, each := range fields {
			whole[key] = each
		}
		fields = whole
	}
	text, err := json.Marshal(fields)
	p.must(err)
	message := &arenav1.PlayResponse{}
	p.must(protojson.Unmarshal(text, message))
	return message
}

func (p *performance) opens(wanted object) {
	p.call = next[*scriptedCall](p)
	p.calls = append(p.calls, p.call)
	address := "arena:1"
	if wanted["address"] != nil {
		address = decoded[string](p, wanted["address"])
	}
	p.check(p.call.address == address, "it opens a stream at %s", p.call.address)
	p.sameToken(decoded[string](p, wanted["token"]), p.call.token)
	p.check(len(p.call.said) == 1, "it says %v at first", p.call.said)
	hello := p.call.said[0].Hello
	p.check(strings.HasPrefix(hello.GetClient(), "arena-client-go "), "it is '%s'", hello.GetClient())
	hello.Client = ""
	for _, entry := range hello.Events {
		p.takeNonce(&entry.Nonce)
	}
	p.same(hello, wanted["hello"])
	p.check(proto.Equal(p.call.said[0], &arenav1.PlayRequest{Hello: hello}), "it says more than hello")
	p.call.said = nil
}

// lookAt selects the open stream to a node. The next steps use that stream.
func (p *performance) lookAt(address string) {
	at := slices.IndexFunc(p.calls, func(each *scriptedCall) bool { return each.address == address })
	p.check(at >= 0, "no stream to %s is open", address)
	p.call = p.calls[at]
}

// endCall ends the stream that the steps are about.
func (p *performance) endCall(with *status.Status) {
	call := p.open()
	p.calls = slices.DeleteFunc(p.calls, func(each *scriptedCall) bool { return each == call })
	p.call = nil
	call.events.ended(with)
}

func (p *performance) says(wanted []json.RawMessage) {
	said := p.open().said
	p.call.said = nil
	p.check(len(said) == len(wanted), "it says %v, not %s", said, wanted)
	for at, each := range said {
		for _, ready := range each.Ready {
			p.takeNonce(&ready.Nonce)
		}
		p.same(each, wanted[at])
	}
}

// takeNonce checks the bot's random bytes in a message and removes them.
func (p *performance) takeNonce(nonce *[]byte) {
	p.check(len(*nonce) == 16 && !p.nonces[string(*nonce)], "its own chance are 16 other bytes each time, not %x", *nonce)
	p.nonces[string(*nonce)] = true
	*nonce = nil
}

func (p *performance) stops(signal string) {
	limit := drainTime
	if signal == "SIGTERM" {
		limit = drainTerminated
	}
	if p.stopped {
		p.connection.leave()
	} else {
		p.connection.drain(limit)
	}
	p.stopped = true
}

func (p *performance) ends(wanted object) {
	p.check(p.ended && len(p.tries) == 0, "it has not ended; it tries %v", p.tries)
	p.call, p.calls = nil, nil
	word, number := any(nil), 0
	if p.err != nil {
		failure, ours := p.err.(*Error)
		p.check(ours, "it ends with %v", p.err)
		word, number = string(failure.Kind), failure.Status()
	}
	p.check(word == decoded[any](p, wanted["error"]) && number == decoded[int](p, wanted["status"]), "it ends with %v: %v", word, p.err)
}

// step performs one step; false for an unknown word.
func (p *performance) step(name string, value json.RawMessage) bool {
	switch name {
	case "registers":
		p.registration = next[*scriptedRegistration](p)
		wanted := decoded[map[string]string](p, value)
		request := p.registration.request
		p.sameToken(wanted["token"], request.Token)
		expected := &arenav1.RegisterBotRequest{Name: wanted["name"], Owner: wanted["owner"], Invitation: wanted["invitation"], Token: request.Token}
		p.check(proto.Equal(request, expected), "it registers %v", request)
	case "registered":
		token := p.registration.request.Token
		if made := decoded[map[string]string](p, value)["token"]; made != "" {
			token, p.tokens[made] = made, made
		}
		p.registration.answered(&arenav1.RegisterBotResponse{Name: p.registration.request.Name, Token: token}, nil)
	case "refused":
		p.registration.answered(nil, p.status(decoded[object](p, value)))
	case "opens":
		p.opens(decoded[object](p, value))
	case "server":
		p.open().events.message(p.message(value))
	case "while_thinking":
		for _, each := range decoded[[]json.RawMessage](p, value) {
			call, message := p.open(), p.message(each)
			p.meanwhile = append(p.meanwhile, func() { call.events.message(message) })
		}
	case "bytes":
		encoded, err := base64.StdEncoding.DecodeString(decoded[string](p, value))
		p.must(err)
		message := &arenav1.PlayResponse{}
		p.must(proto.Unmarshal(encoded, message))
		p.open().events.message(message)
	case "says":
		p.says(decoded[[]json.RawMessage](p, value))
	case "told":
		wanted := decoded[[]string](p, value)
		p.check(slices.Equal(p.told, wanted), "it is told %v, not %v", p.told, wanted)
		p.told = nil
	case "warns":
		wanted := decoded[[]string](p, value)
		for at := range p.warned {
			p.warned[at] = strings.ReplaceAll(p.warned[at], p.receipts(), "FILE")
		}
		p.check(slices.Equal(p.warned, wanted), "it warns %q, not %q", p.warned, wanted)
		p.warned = nil
	case "keeps":
		text, err := os.ReadFile(p.receipts())
		p.must(err)
		kept := []string{}
		for line := range strings.Lines(string(text)) {
			receipt := decoded[receiptLine](p, json.RawMessage(line))
			if kept = append(kept, fmt.Sprintf("match %d %d", receipt.Match, receipt.Number)); receipt.Number == 0 {
				kept[len(kept)-1] = fmt.Sprintf("log %d", receipt.Head.Size)
			}
		}
		wanted := decoded[[]string](p, value)
		p.check(slices.Equal(kept, wanted), "it keeps %q, not %q", kept, wanted)
	case "breaks":
		p.endCall(p.status(decoded[object](p, value)))
	case "comes_back":
		since := p.clock.time
		p.clock.pass(24*time.Hour, p.settle, func() bool { return len(p.tries) > 0 || p.ended })
		p.check(len(p.tries) > 0, "it does not come back; ended %v: %v", p.ended, p.err)
		wanted, waited := decoded[map[string]int64](p, value)["after_ms"], (p.clock.time - since).Round(time.Millisecond).Milliseconds()
		p.check(waited == wanted, "it comes back after %d ms, not %d", waited, wanted)
	case "passes":
		length := time.Duration(decoded[map[string]int64](p, value)["ms"]) * time.Millisecond
		p.clock.pass(length, p.settle, func() bool { return false })
	case "closes":
		p.check(p.open().closed, "it does not say goodbye")
		p.endCall(status.New(codes.OK, ""))
	case "stops":
		p.stops(decoded[string](p, value))
	case "restarts":
		p.connection.end(nil)
		p.call, p.calls = nil, nil
		p.begin()
	case "ends":
		p.ends(decoded[object](p, value))
	default:
		return false
	}
	return true
}

// warnings adds the text of each logged warning to a list.
type warnings struct {
	slog.Handler
	texts *[]string
}

func (w warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (w warnings) Handle(_ context.Context, record slog.Record) error {
	*w.texts = append(*w.texts, record.Message)
	return nil
}

func perform(t *testing.T, script conversation) {
	given := "given"
	p := &performance{T: t, tokens: map[string]string{}, nonces: map[string]bool{}, tokenFile: filepath.Join(t.TempDir(), "bot", "token")}
	p.proofs = script.Proofs
	p.spec = botSpec{Games: []string{"sixth_sense"}, Capacity: 8, Version: "1", Token: &given}
	if script.Bot != nil {
		words := json.NewDecoder(bytes.NewReader(script.Bot))
		words.DisallowUnknownFields()
		p.must(words.Decode(&p.spec))
	}
	if p.spec.Token != nil {
		p.tokens[*p.spec.Token] = *p.spec.Token
	}
	before := slog.Default()
	slog.SetDefault(slog.New(warnings{slog.DiscardHandler, &p.warned}))
	t.Cleanup(func() { slog.SetDefault(before) })
	p.begin()
	at := 0
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("at step %d", at+1)
		}
	})
	for ; at < len(script.Steps); at++ {
		if node := script.Steps[at]["at"]; node != nil {
			p.lookAt(decoded[string](p, node))
		}
		for name, value := range script.Steps[at] {
			if name == "at" {
				continue
			}
			p.check(p.step(name, value), "there is no step %s", name)
			p.settle()
			listened := at+1 < len(script.Steps) && script.Steps[at+1]["says"] != nil
			for _, call := range p.calls {
				p.check(listened || len(call.said) == 0, "it says %v at %s", call.said, call.address)
			}
		}
	}
	p.connection.end(nil)
	p.settle()
	p.check(len(p.meanwhile) == 0, "it has not thought since")
	p.check(len(p.tries) == 0, "it tries %v at last", p.tries)
}

func TestConversations(t *testing.T) {
	quiet(t)
	files, _ := filepath.Glob(conformance + "conversations/*.json")
	more, _ := filepath.Glob(conformance + "every_node/*.json")
	files = append(files, more...)
	played := 0
	for _, file := range files {
		if filepath.Base(file) == "one_node.json" {
			continue // this package connects to every node
		}
		var scripts []conversation
		read(strings.TrimPrefix(file, conformance), &scripts)
		for _, script := range scripts {
			played++
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+script.Title, func(t *testing.T) { perform(t, script) })
		}
	}
	if played < 200 || len(more) == 0 {
		t.Errorf("there are %d conversations", played)
	}
}
