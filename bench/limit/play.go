package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	arenav1 "arena.example/client/v1"
)

// together is the maximum number of bots that connect at the same time.
const together = 32

// bot answers at random. All bots share their measurements.
type bot struct {
	name     string
	games    []string
	capacity uint32
	all      *trips
	answered map[uint64]time.Time
}

// play lets bots play on a server, each over its own connection, and measures once every bot has a seat. The bots begin
// to play together, because matches of the first bots would slow down the registration of the others.
func play(arguments []string) {
	flags := flag.NewFlagSet("play", flag.ExitOnError)
	address := flags.String("address", "", "of the server")
	bots := flags.Int("bots", 2, "how many")
	capacity := flags.Uint("capacity", 1, "matches that each plays at once")
	games := flags.String("games", "sixth_sense", "what they play, with commas between")
	prefix := flags.String("prefix", "bot", "what their names begin with")
	seconds := flags.Float64("seconds", 3, "of a measurement; there is one for each line of input")
	matches := flags.Float64("matches", 0, "that each bot is to end during a measurement, in the mean, however long that takes")
	parsed(flags, arguments)
	all, begin, places := &trips{}, make(chan struct{}), make(chan struct{}, together)
	welcomed, seated := make(chan struct{}, *bots), make(chan struct{}, *bots)
	for number := range *bots {
		places <- struct{}{}
		each := &bot{fmt.Sprintf("%s-%d", *prefix, number), strings.Split(*games, ","), uint32(*capacity), all, map[uint64]time.Time{}}
		go each.live(*address, func() { <-places; welcomed <- struct{}{}; <-begin }, func() { seated <- struct{}{} })
	}
	for range *bots {
		<-welcomed
	}
	close(begin)
	for range *bots {
		<-seated
	}
	fmt.Println("connected")
	for input.Scan() {
		all.measure(*seconds, int(*matches*float64(*bots)))
	}
}

// live registers the bot and plays until the process ends. It calls welcomed and seated once each. The bot accepts
// no seat before welcomed returns.
func (b *bot) live(address string, welcomed, seated func()) {
	line := dial(address)
	ctx := context.Background()
	made, err := arenav1.NewBotServiceClient(line).RegisterBot(ctx, &arenav1.RegisterBotRequest{Name: b.name})
	if err != nil {
		fail(fmt.Errorf("%s cannot register: %w", b.name, err))
	}
	stream, err := arenav1.NewPlayServiceClient(line).Play(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+made.Token))
	if err != nil {
		fail(fmt.Errorf("%s cannot connect: %w", b.name, err))
	}
	request := &arenav1.PlayRequest{Hello: &arenav1.Hello{Games: b.games, Client: "bench"}}
	for first := true; ; {
		if request != nil {
			if err := stream.Send(request); err != nil {
				fail(fmt.Errorf("%s cannot send: %w", b.name, err))
			}
		}
		response, err := stream.Recv()
		if err != nil {
			fail(fmt.Errorf("%s is cut off: %w", b.name, err))
		}
		if first && len(response.Starts) > 0 {
			first = false
			seated()
		}
		request = b.reply(response)
		if response.Welcome != nil {
			welcomed()
			request = &arenav1.PlayRequest{Capacity: &b.capacity}
		}
	}
}

// reply returns the reply to a message, or nil if it needs none.
func (b *bot) reply(response *arenav1.PlayResponse) *arenav1.PlayRequest {
	if response.Heartbeat == nil && len(response.Invitations) == 0 && len(response.Decisions) == 0 {
		b.forget(response)
		return nil
	}
	now, request := time.Now(), &arenav1.PlayRequest{Heartbeat: response.Heartbeat}
	for _, each := range response.Invitations {
		nonce := make([]byte, 16)
		for at := range nonce {
			nonce[at] = byte(rand.Uint32())
		}
		request.Ready = append(request.Ready, &arenav1.Ready{InvitationId: each.InvitationId, Nonce: nonce})
	}
	var took []time.Duration
	size := 0
	for _, each := range response.Decisions {
		if before, known := b.answered[each.MatchId]; known {
			took = append(took, now.Sub(before))
		}
		size += proto.Size(each)
		action := each.Legal[rand.IntN(len(each.Legal))]
		request.Answers = append(request.Answers, &arenav1.Answer{MatchId: each.MatchId, DecisionId: each.DecisionId, Action: action})
		b.answered[each.MatchId] = now
	}
	if len(response.Decisions) > 0 {
		b.all.add(took, size)
	}
	b.forget(response)
	return request
}

// forget removes the matches that have ended.
func (b *bot) forget(response *arenav1.PlayResponse) {
	if len(response.Reports) > 0 {
		b.all.end(len(response.Reports))
	}
	for _, each := range response.Reports {
		delete(b.answered, each.MatchId)
	}
}
