// A bot and an onlooker on google.golang.org/grpc: plays one match, looks it up, and provokes every status it can.
//
// go run . ADDRESS NAME PROTOS [ROOTS]; prints what it saw as one object of JSON. Messages are made from the protocol's
// files at run time: nothing here is generated.
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

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	zip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

const patience = 60 * time.Second

var (
	files = map[string]protoreflect.FileDescriptor{}
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

func compile(protos string) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{protos}}),
	}
	for _, name := range []string{"bots", "matches", "play"} {
		found := must(compiler.Compile(context.Background(), "arena/v1/"+name+".proto"))
		files[name] = found[0]
	}
}

// A message of a file, with what JSON says in it.
func message(file, name string, fields map[string]any) *dynamicpb.Message {
	if fields == nil {
		fields = map[string]any{}
	}
	made := dynamicpb.NewMessage(files[file].Messages().ByName(protoreflect.Name(name)))
	must(0, protojson.Unmarshal(must(json.Marshal(fields)), made))
	return made
}

func fields(made *dynamicpb.Message) map[string]any {
	found := map[string]any{}
	must(0, json.Unmarshal(must(protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(made)), &found))
	return found
}

func waiting(limit time.Duration, token string) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	time.AfterFunc(limit+time.Second, stop)
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	return ctx
}

func unary(file, method, request, answer string, said map[string]any, how ...grpc.CallOption) (map[string]any, error) {
	heard := message(file, answer, nil)
	err := line.Invoke(waiting(patience, ""), method, message(file, request, said), heard, how...)
	return fields(heard), err
}

func open(ctx context.Context, method string) grpc.ClientStream {
	shape := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	return must(line.NewStream(ctx, shape, method))
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

func list(value any) []any {
	found, _ := value.([]any)
	return found
}

// Plays until the report of one match comes.
func play(token string) (report map[string]any, answered int) {
	stream := open(waiting(patience, token), "/arena.v1.PlayService/Play")
	say := func(said map[string]any) { must(0, stream.SendMsg(message("play", "PlayRequest", said))) }
	say(map[string]any{"hello": map[string]any{"games": []string{"nullern"}, "capacity": 1, "client": "grpc-go"}})
	for report == nil {
		heard := message("play", "PlayResponse", nil)
		must(0, stream.RecvMsg(heard))
		found := fields(heard)
		ready, answers := []any{}, []any{}
		for _, each := range list(found["invitations"]) {
			ready = append(ready, map[string]any{"invitation_id": each.(map[string]any)["invitation_id"], "nonce": bytes.Repeat([]byte{7}, 16)})
		}
		for _, each := range list(found["decisions"]) {
			due := each.(map[string]any)
			answers = append(answers, map[string]any{"match_id": due["match_id"], "decision_id": due["decision_id"], "action": list(due["legal"])[0]})
		}
		answered += len(answers)
		said := map[string]any{"ready": ready, "answers": answers}
		if beat, asked := found["heartbeat"]; asked && beat != nil {
			said["heartbeat"] = beat
		}
		if reports := list(found["reports"]); len(reports) > 0 {
			report = reports[0].(map[string]any)
		} else if len(said) > 2 || len(ready)+len(answers) > 0 {
			say(said)
		}
	}
	must(0, stream.CloseSend())
	for {
		if err := stream.RecvMsg(message("play", "PlayResponse", nil)); errors.Is(err, io.EOF) {
			return report, answered
		} else if err != nil {
			must(0, err)
		}
	}
}

func number(value any) json.Number { return json.Number(fmt.Sprint(value)) }

func replay(match any) int {
	stream := open(waiting(patience, ""), "/arena.v1.MatchService/GetReplay")
	must(0, stream.SendMsg(message("matches", "GetReplayRequest", map[string]any{"match_id": match})))
	must(0, stream.CloseSend())
	var packed bytes.Buffer
	for {
		piece := message("matches", "GetReplayResponse", nil)
		if err := stream.RecvMsg(piece); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			must(0, err)
		}
		packed.Write(piece.Get(piece.Descriptor().Fields().ByName("chunk")).Bytes())
	}
	text := must(io.ReadAll(must(gzip.NewReader(&packed))))
	return bytes.Count(text, []byte("\n"))
}

func knock(token string) []string {
	stream := open(waiting(patience, token), "/arena.v1.PlayService/Play")
	return refusal(stream.RecvMsg(message("play", "PlayResponse", nil)))
}

func main() {
	address, name := os.Args[1], os.Args[2]
	compile(os.Args[3])
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
	register := func(name string, how ...grpc.CallOption) (map[string]any, error) {
		return unary("bots", "/arena.v1.BotService/RegisterBot", "RegisterBotRequest", "RegisterBotResponse", map[string]any{"name": name}, how...)
	}
	refused := func(name string, how ...grpc.CallOption) []string {
		_, err := register(name, how...)
		return refusal(err)
	}

	report, answered := play(must(register(name))["token"].(string))
	found := must(unary("matches", "/arena.v1.MatchService/ListMatches", "ListMatchesRequest", "ListMatchesResponse", map[string]any{"bot": name}))
	listed := []any{}
	for _, each := range list(found["matches"]) {
		scores := []any{}
		for _, seat := range list(each.(map[string]any)["seats"]) {
			scores = append(scores, seat.(map[string]any)["score"])
		}
		listed = append(listed, []any{number(each.(map[string]any)["match_id"]), scores})
	}
	bots := must(unary("bots", "/arena.v1.BotService/ListBots", "ListBotsRequest", "ListBotsResponse", nil, zipped))
	known := false
	for _, each := range list(bots["bots"]) {
		known = known || each.(map[string]any)["name"] == name
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
	nothing := message("bots", "ListBotsRequest", nil)
	unknown := line.Invoke(waiting(patience, ""), "/arena.v1.PlayService/Cheat", nothing, nothing)
	saw := map[string]any{
		"match": number(report["match_id"]), "answered": answered, "interrupted": report["interrupted"], "scores": report["scores"],
		"listed": listed, "replay": replay(report["match_id"]), "health": must(check("arena.v1.PlayService")).Status, "at_once": sum,
		"zipped": known, "zipped_refusal": refused(name+strings.Repeat("x", 3000), zipped), "wrong_token": knock("wrong"), "no_token": knock(""),
		"too_big": refused(strings.Repeat("x", 2<<20)), "too_big_zipped": refused(strings.Repeat("x", 2<<20), zipped),
		"too_late": refusal(late), "odd_text": refusal(odd), "unknown": refusal(unknown), "afterwards": must(check("")).Status,
	}
	must(0, json.NewEncoder(os.Stdout).Encode(saw))
}
