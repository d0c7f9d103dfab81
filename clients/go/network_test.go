package client

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	arenav1 "arena.example/client/v1"
)

const patience = 30 * time.Second

// smallServer is a server that registers every bot and follows a script.
type smallServer struct {
	arenav1.UnimplementedBotServiceServer
	arenav1.UnimplementedPlayServiceServer
	script func(arenav1.PlayService_PlayServer) error
}

func (s *smallServer) RegisterBot(_ context.Context, request *arenav1.RegisterBotRequest) (*arenav1.RegisterBotResponse, error) {
	return &arenav1.RegisterBotResponse{Name: request.Name, Token: request.Token}, nil
}

// UnparkBot accepts the same bot and token as RotateToken.
func (s *smallServer) UnparkBot(ctx context.Context, request *arenav1.UnparkBotRequest) (*arenav1.UnparkBotResponse, error) {
	_, err := s.RotateToken(ctx, &arenav1.RotateTokenRequest{Name: request.Name})
	return &arenav1.UnparkBotResponse{}, err
}

// RotateToken accepts only the bot "mine" with its token.
func (s *smallServer) RotateToken(ctx context.Context, request *arenav1.RotateTokenRequest) (*arenav1.RotateTokenResponse, error) {
	headers, _ := metadata.FromIncomingContext(ctx)
	if shown := headers.Get("authorization"); request.Name != "mine" || len(shown) != 1 || shown[0] != "Bearer old" {
		made, _ := status.New(codes.PermissionDenied, "the token is not the bot's").WithDetails(&errdetails.ErrorInfo{Reason: "NOT_ALLOWED"})
		return nil, made.Err()
	}
	return &arenav1.RotateTokenResponse{Token: "new"}, nil
}

// JoinLadder accepts the code "code" for the ladder "slow".
func (s *smallServer) JoinLadder(ctx context.Context, request *arenav1.JoinLadderRequest) (*arenav1.JoinLadderResponse, error) {
	if request.Ladder != "slow" || request.Invitation != "code" {
		return nil, status.Error(codes.PermissionDenied, "the invitation is not for this ladder")
	}
	_, err := s.RotateToken(ctx, &arenav1.RotateTokenRequest{Name: "mine"})
	return &arenav1.JoinLadderResponse{}, err
}

func (s *smallServer) Play(stream arenav1.PlayService_PlayServer) error { return s.script(stream) }

// serve listens until the test ends, and returns the address.
func serve(t *testing.T, script func(arenav1.PlayService_PlayServer) error) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, small := grpc.NewServer(), &smallServer{script: script}
	arenav1.RegisterBotServiceServer(server, small)
	arenav1.RegisterPlayServiceServer(server, small)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func quiet(t *testing.T) {
	t.Helper()
	for _, name := range []string{"SERVER", "TOKEN", "TOKEN_FILE", "OWNER", "DRAIN"} {
		t.Setenv("ARENA_"+name, "")
	}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(before) })
}

// A bot registers, stores its token privately, plays, and leaves when the context is done, even while its code
// computes.
func TestPlayEndsWithItsContext(t *testing.T) {
	quiet(t)
	ctx, stop := context.WithCancel(t.Context())
	computes, noticed, left := make(chan struct{}), make(chan struct{}), make(chan *arenav1.PlayRequest, 1)
	var shown []string
	address := serve(t, func(stream arenav1.PlayService_PlayServer) error {
		headers, _ := metadata.FromIncomingContext(stream.Context())
		shown = headers.Get("authorization")
		if _, err := stream.Recv(); err != nil {
			return err
		}
		view := &arenav1.Decision_SixthSense{SixthSense: &arenav1.SixthSenseView{Seats: 2}}
		stream.Send(&arenav1.PlayResponse{
			Welcome:   &arenav1.Welcome{Bot: "bot", Games: []*arenav1.GameCatalog{{Name: "sixth_sense"}}},
			Decisions: []*arenav1.Decision{{MatchId: 1, DecisionId: 1, Legal: []uint32{0}, View: view}},
		})
		<-computes
		stop()
		said, err := stream.Recv()
		left <- said
		return err
	})
	file := filepath.Join(t.TempDir(), "tokens", "bot")
	bot := Bot{Version: "1", Decide: func(decision *Decision) int {
		close(computes)
		<-decision.Context().Done()
		close(noticed)
		select {}
	}}
	over := make(chan error, 1)
	go func() { over <- Play(ctx, bot, address, Options{TokenFile: file}) }()
	select {
	case err := <-over:
		if err != context.Canceled {
			t.Errorf("it returns %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it plays on")
	}
	select {
	case <-noticed:
	case <-time.After(patience):
		t.Error("the decision's context is not done")
	}
	if said := <-left; !proto.Equal(said, &arenav1.PlayRequest{Leave: true}) {
		t.Errorf("it says %v", said)
	}
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(shown) != 1 || shown[0] != "Bearer "+strings.TrimSpace(string(token)) {
		t.Errorf("it shows %q, and keeps %q", shown, token)
	}
	if about, _ := os.Stat(file); about.Mode().Perm() != 0o600 {
		t.Errorf("the token is kept with mode %v", about.Mode())
	}
}

func TestVersionIsADigestOfProgramAndFiles(t *testing.T) {
	quiet(t)
	file := filepath.Join(t.TempDir(), "weights")
	versions := map[string]bool{}
	for _, weights := range []string{"one", "two", "one"} {
		if err := os.WriteFile(file, []byte(weights), 0o600); err != nil {
			t.Fatal(err)
		}
		bot := &Bot{Files: []string{file}, Decide: func(*Decision) int { return 0 }}
		made, err := profileOf(bot, "", Options{Token: "given"})
		if err != nil {
			t.Fatal(err)
		}
		versions[made.version] = true
		if len(made.version) != 12 {
			t.Errorf("the version is %s", made.version)
		}
	}
	if len(versions) != 2 {
		t.Errorf("the versions are %v", versions)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	quiet(t)
	decide := func(*Decision) int { return 0 }
	for name, each := range map[string]struct {
		bot     Bot
		address string
		options Options
		text    string
	}{
		"no code":  {Bot{}, "", Options{}, "the bot has neither Decide nor DecideMany"},
		"address":  {Bot{Decide: decide}, "arena", Options{}, "the address 'arena' is not of the form HOST:PORT"},
		"port":     {Bot{Decide: decide}, "arena:70000", Options{}, "the address 'arena:70000' is not of the form HOST:PORT"},
		"matches":  {Bot{Decide: decide}, "", Options{Matches: -1}, "Matches is -1: it takes 1 or more"},
		"capacity": {Bot{Decide: decide, Capacity: -2}, "", Options{}, "the bot's capacity is -2: it takes 1 or more"},
		"token":    {Bot{Decide: decide}, "", Options{Token: "two\nlines"}, "the token is not one line of printable characters"},
		"version":  {Bot{Decide: decide, Version: strings.Repeat("x", 41)}, "", Options{}, "at most 40 printable characters"},
		"files":    {Bot{Decide: decide, Files: []string{"/nowhere"}}, "", Options{}, "the file /nowhere cannot be used"},
		"roots":    {Bot{Decide: decide, Version: "1"}, "", Options{Token: "t", TLSRoots: "/nowhere"}, "the file /nowhere cannot be used"},
	} {
		err := Play(t.Context(), each.bot, each.address, each.options)
		failure, ours := err.(*Error)
		if !ours || failure.Status() != 2 || !strings.Contains(failure.Text, each.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A bot un-parks itself, enters a ladder, and gets a new token, which replaces the token in its
// file.
func TestABotIsManagedWithItsToken(t *testing.T) {
	quiet(t)
	file := filepath.Join(t.TempDir(), "bot.token")
	if err := os.WriteFile(file, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serve(t, nil)
	bot, options := Bot{Name: "mine"}, Options{TokenFile: file}
	if err := Unpark(t.Context(), bot, address, options); err != nil {
		t.Error(err)
	}
	if err := JoinLadder(t.Context(), bot, address, "slow", "code", options); err != nil {
		t.Error(err)
	}
	if err := JoinLadder(t.Context(), bot, address, "slow", "other", options); err == nil || err.(*Error).Kind != Refused {
		t.Errorf("with a wrong code it returns %v", err)
	}
	token, err := RotateToken(t.Context(), bot, address, options)
	if kept, _ := readToken(file); err != nil || token != "new" || kept != "new" {
		t.Errorf("it has %q, and its file %q: %v", token, kept, err)
	}
	for kind, each := range map[Kind]struct {
		address string
		options Options
	}{
		BadArgument: {address, Options{TokenFile: file + ".other"}},
		Refused:     {address, Options{Token: "wrong"}},
		Unreachable: {"127.0.0.1:1", options},
	} {
		failure, ours := Unpark(t.Context(), bot, each.address, each.options).(*Error)
		if !ours || failure.Kind != kind {
			t.Errorf("the error is %v, not %s", failure, kind)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := Unpark(ended, bot, address, options); err != context.Canceled {
		t.Errorf("with a context that is done it returns %v", err)
	}
}
