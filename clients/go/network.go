package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	arenav1 "arena.example/client/v1"
)

// machineClock is the machine's own clock.
type machineClock struct{ began time.Time }

func (m machineClock) now() time.Duration { return time.Since(m.began) }

func (m machineClock) after(wait time.Duration, call func()) func() {
	timer := time.AfterFunc(wait, call)
	return func() { timer.Stop() }
}

// network accesses a server through grpc-go, with one connection per try.
type network struct{ line *grpc.ClientConn }

// openNetwork opens a channel, which connects at the first call. BadArgument if a certificate cannot be read.
func openNetwork(profile *profile, address string) (channel, error) {
	trust := insecure.NewCredentials()
	if profile.tls {
		roots, err := rootsOf(profile.tlsRoots)
		if err != nil {
			return nil, err
		}
		trust = credentials.NewTLS(&tls.Config{RootCAs: roots})
	}
	line, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(trust),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
	)
	if err != nil {
		return nil, badArgument("the address '%s' cannot be used: %v", address, err)
	}
	return &network{line}, nil
}

// rootsOf returns the authorities in a PEM file; without a file nil, for the system's authorities.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, unusable(file, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, unusable(file, errors.New("it has no certificate"))
	}
	return roots, nil
}

func (n *network) close() { n.line.Close() }

func (n *network) register(request *arenav1.RegisterBotRequest, patience time.Duration, answered func(*arenav1.RegisterBotResponse, *status.Status)) {
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		answer, err := arenav1.NewBotServiceClient(n.line).RegisterBot(ctx, request)
		if err != nil {
			answered(nil, status.Convert(err))
		} else {
			answered(answer, nil)
		}
	}()
}

func (n *network) consistency(first, second uint64) (proof [][]byte, refused bool, err error) {
	ctx, stop := context.WithTimeout(context.Background(), answerTime)
	defer stop()
	answer, err := arenav1.NewLogServiceClient(n.line).GetConsistency(ctx, &arenav1.GetConsistencyRequest{First: first, Second: second})
	switch status.Code(err) {
	case codes.OK:
		return answer.Proof, false, nil
	case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.OutOfRange, codes.Unimplemented:
		return nil, true, nil // statuses from a server that refuses to prove its log
	default:
		return nil, false, fmt.Errorf("%s", oneLine(status.Convert(err).Message()))
	}
}

// stream is one gRPC stream. It queues outgoing messages, so that callers never wait for the network.
type stream struct {
	stop    context.CancelFunc
	mutex   sync.Mutex
	changed *sync.Cond
	unsaid  []*arenav1.PlayRequest
	ended   bool
	gone    bool
}

func (n *network) play(token string, events callEvents) call {
	ctx, stop := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token))
	made := &stream{stop: stop}
	made.changed = sync.NewCond(&made.mutex)
	go func() {
		defer made.cancel()
		line, err := arenav1.NewPlayServiceClient(n.line).Play(ctx)
		if err != nil {
			events.ended(status.Convert(err))
			return
		}
		go made.speak(line)
		for {
			message, err := line.Recv()
			if errors.Is(err, io.EOF) {
				err = nil
			} else if err == nil {
				events.message(message)
				continue
			}
			events.ended(status.Convert(err))
			return
		}
	}()
	return made
}

// speak sends the queued messages until the end. If it fails, the stream's status gives the reason.
func (s *stream) speak(line grpc.BidiStreamingClient[arenav1.PlayRequest, arenav1.PlayResponse]) {
	for {
		s.mutex.Lock()
		for len(s.unsaid) == 0 && !s.ended && !s.gone {
			s.changed.Wait()
		}
		due, ended, gone := s.unsaid, s.ended, s.gone
		s.unsaid = nil
		s.mutex.Unlock()
		if gone {
			return
		}
		for _, each := range due {
			if line.Send(each) != nil {
				return
			}
		}
		if ended && len(due) == 0 {
			line.CloseSend()
			return
		}
	}
}

func (s *stream) change(how func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	how()
	s.changed.Signal()
}

func (s *stream) write(request *arenav1.PlayRequest) {
	s.change(func() { s.unsaid = append(s.unsaid, request) })
}

func (s *stream) end() { s.change(func() { s.ended = true }) }

func (s *stream) cancel() {
	s.change(func() { s.gone = true })
	s.stop()
}
