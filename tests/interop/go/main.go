// A bot and a spectator on google.golang.org/grpc: plays one match, looks it up, and provokes as many statuses as
// possible.
//
// client ADDRESS NAME PROTOS [ROOTS]; prints its observations as one JSON object.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	zip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	arena "arena/interop/arena/v1"
)

const patience = 60 * time.Second

var (
	line  *grpc.ClientConn
	names = map[codes.Code]string{
		codes.Unauthenticated: "UNAUTHENTICATED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED", codes.InvalidArgument: "INVALID_ARGUMENT",
		codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.Unimplemented: "UNIMPLEMENTED",
	}
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func waiting(limit time.Duration, token string) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	time.AfterFunc(limit+time.Second, stop)
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	return ctx
}

func refusal(err error) []string {
	if err == nil {
		return nil
	}
	code := status.Code(err)
	name, known := names[code]
	if !known {
		name = code.String()
	}
	return []string{name, status.Convert(err).Message()}
}

// Plays until it has the report of one match.
func play(token string) (report *arena.MatchReport, answered int) {
	stream := must(arena.NewPlayServiceClient(line).Play(waiting(patience, token)))
	hello := &arena.Hello{Games: []string{"nullern"}, Capacity: 1, Client: "grpc-go"}
	must(0, stream.Send(&arena.PlayRequest{Hello: hello}))
	for report == nil {
		heard := must(stream.Recv())
		said := &arena.PlayRequest{Heartbeat: heard.Heartbeat}
		for _, each := range heard.Invitations {
			said.Ready = append(said.Ready, &arena.Ready{InvitationId: each.InvitationId, Nonce: bytes.Repeat([]byte{7}, 16)})
		}
		for _, due := range heard.Decisions {
			said.Answers = append(said.Answers, &arena.Answer{MatchId: due.MatchId, DecisionId: due.DecisionId, Action: due.Legal[0]})
		}
		answered += len(said.Answers)
		if len(heard.Reports) > 0 {
			report = heard.Reports[0]
		} else if proto.Size(said) > 0 {
			must(0, stream.Send(said))
		}
	}
	must(0, stream.CloseSend())
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			return report, answered
		} else if err != nil {
			must(0, err)
		}
	}
}

func replay(match uint64) int {
	stream := must(arena.NewMatchServiceClient(line).GetReplay(waiting(patience, ""), &arena.GetReplayRequest{MatchId: match}))
	var packed bytes.Buffer
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must(0, err)
		packed.Write(piece.Chunk)
	}
	text := must(io.ReadAll(must(gzip.NewReader(&packed))))
	return bytes.Count(text, []byte("\n"))
}

func knock(token string) []string {
	_, err := must(arena.NewPlayServiceClient(line).Play(waiting(patience, token))).Recv()
	return refusal(err)
}

func main() {
	address, name := os.Args[1], os.Args[2]
	trust := insecure.NewCredentials()
	if len(os.Args) > 4 {
		trust = must(credentials.NewClientTLSFromFile(os.Args[4], "localhost"))
	}
	line = must(grpc.NewClient(address, grpc.WithTransportCredentials(trust)))
	health := grpc_health_v1.NewHealthClient(line)
	check := func(service string) (*grpc_health_v1.HealthCheckResponse, error) {
		return health.Check(waiting(patience, ""), &grpc_health_v1.HealthCheckRequest{Service: service})
	}
	zipped := grpc.UseCompressor(zip.Name)
	bots := arena.NewBotServiceClient(line)
	register := func(name string, how ...grpc.CallOption) (*arena.RegisterBotResponse, error) {
		return bots.RegisterBot(waiting(patience, ""), &arena.RegisterBotRequest{Name: name}, how...)
	}
	refused := func(name string, how ...grpc.CallOption) []string {
		_, err := register(name, how...)
		return refusal(err)
	}

	report, answered := play(must(register(name)).Token)
	own := &arena.ListMatchesRequest{Bot: &name}
	listed := []any{}
	for _, match := range must(arena.NewMatchServiceClient(line).ListMatches(waiting(patience, ""), own)).Matches {
		scores := []*int32{}
		for _, seat := range match.Seats {
			scores = append(scores, seat.Score)
		}
		listed = append(listed, []any{match.MatchId, scores})
	}
	known := false
	for _, each := range must(bots.ListBots(waiting(patience, ""), &arena.ListBotsRequest{}, zipped)).Bots {
		known = known || each.Name == name
	}
	var group sync.WaitGroup
	var atOnce [30]int
	for at := range atOnce {
		group.Go(func() {
			if _, err := check(""); err == nil {
				atOnce[at] = 1
			}
		})
	}
	group.Wait()
	sum := 0
	for _, one := range atOnce {
		sum += one
	}
	watch := must(health.Watch(waiting(200*time.Millisecond, ""), &grpc_health_v1.HealthCheckRequest{}))
	var late error
	for late == nil {
		_, late = watch.Recv()
	}
	_, odd := check("100 % café\n")
	unknown := line.Invoke(waiting(patience, ""), "/arena.v1.PlayService/Cheat", &arena.ListBotsRequest{}, &arena.ListBotsResponse{})
	saw := map[string]any{
		"match": report.MatchId, "answered": answered, "interrupted": report.Interrupted, "scores": report.Scores,
		"listed": listed, "replay": replay(report.MatchId), "health": must(check("arena.v1.PlayService")).Status, "at_once": sum,
		"zipped": known, "zipped_refusal": refused(name+strings.Repeat("x", 3000), zipped), "wrong_token": knock("wrong"), "no_token": knock(""),
		"too_big": refused(strings.Repeat("x", 2<<20)), "too_big_zipped": refused(strings.Repeat("x", 2<<20), zipped),
		"too_late": refusal(late), "odd_text": refusal(odd), "unknown": refusal(unknown), "afterwards": must(check("")).Status,
	}
	must(0, json.NewEncoder(os.Stdout).Encode(saw))
}
