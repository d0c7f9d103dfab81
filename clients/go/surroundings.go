package client

import (
	"time"

	"google.golang.org/grpc/status"

	arenav1 "arena.example/client/v1"
)

// clock is a clock with alarms.
type clock interface {
	// now returns the time since a fixed moment.
	now() time.Duration
	// after makes a call later, never immediately. It returns a function that cancels the call.
	after(wait time.Duration, call func()) (callOff func())
}

// call is one gRPC stream. None of its methods waits.
type call interface {
	write(request *arenav1.PlayRequest)
	// end closes the bot's side.
	end()
	// cancel cancels the whole stream.
	cancel()
}

// callEvents are the events on a stream. No event occurs before the call has returned.
type callEvents struct {
	message func(*arenav1.PlayResponse)
	ended   func(*status.Status)
}

// channel is the access to the server for one try. Its answers come later, never during a call.
type channel interface {
	play(token string, events callEvents) call
	register(request *arenav1.RegisterBotRequest, patience time.Duration, answered func(*arenav1.RegisterBotResponse, *status.Status))
	// consistency requests the server's proof that one log is the beginning of another, and waits for the answer.
	consistency(first, second uint64) (proof [][]byte, refused bool, err error)
	close()
}

// inbox receives everything for the bot. There is one numbered session per stream.
type inbox interface {
	// deliver passes on a message from the server. received: its time of arrival. The first message of a session is the
	// welcome.
	deliver(session int, message *arenav1.PlayResponse, questions *questions, received time.Duration)
	// over reports the end of a session. The next session repeats the open decisions.
	over(session int)
}

// surroundings contains everything that a connection needs besides the bot's profile.
type surroundings struct {
	open  func(address string) (channel, error)
	clock clock
	inbox inbox
	// hurry is called when no time is left and the bot must not be called any more.
	hurry func()
	// chance returns a random number from 0 to 1.
	chance func() float64
	// obstacle looks for a permanent obstacle if the first connection fails, and describes it.
	obstacle func(found func(string))
	// done is called once at the end, with the error or nil.
	done func(error)
	// keep: see session; welcomed receives the log of each welcome. Either may be nil.
	keep     func(report *arenav1.MatchReport, seat *seat)
	welcomed func(state *arenav1.LogState, oneOfSeveral bool, channel channel)
	// reportsAfter returns the number of the last report of an earlier run, nil for none. The function may itself be nil.
	reportsAfter func() *uint64
}
