package client

import (
	"log/slog"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A pause that the server asks for is added to the usual one.
func TestRetryInfoIsHeeded(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(before) })
	token := "given"
	p := &performance{T: t, tokens: map[string]string{}, spec: botSpec{Capacity: 8, Version: "1", Token: &token}}
	p.begin()
	stopping, err := status.New(codes.Unavailable, "later").WithDetails(
		&errdetails.ErrorInfo{Reason: "STOPPING"}, &errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	p.must(err)
	next[*scriptedCall](p).events.ended(stopping)
	p.clock.pass(time.Hour, p.settle, func() bool { return len(p.tries) > 0 })
	if p.clock.time != firstWait+7*time.Second {
		t.Errorf("it comes back after %v", p.clock.time)
	}
}
