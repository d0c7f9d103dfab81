package client

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// dropped: the connection is lost or was not made; another try may succeed.
type dropped struct {
	text string
	// pause is what the server asks to wait beyond the usual.
	pause time.Duration
}

func (d *dropped) Error() string { return d.text }

// longestPause is what a server may ask to wait: what asks for more is a mistake, or answered sooner.
const longestPause = time.Hour

// comeBack has the reasons for the end of a stream after which another try may succeed.
var comeBack = map[string]bool{
	"NO_HELLO": true, "STOPPING": true, "STORE_UNAVAILABLE": true, "NOT_READING": true, "FLOODING": true, "OVER_BUDGET": true,
}

// details returns the reason of the ErrorInfo and the pause of the RetryInfo in a status, as far as it has them.
func details(ended *status.Status) (reason string, pause time.Duration) {
	for _, detail := range ended.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reason = detail.Reason
		case *errdetails.RetryInfo:
			pause = min(longestPause, max(0, detail.RetryDelay.AsDuration()))
		}
	}
	return reason, pause
}

// playFailure returns what the end of a stream means: an *Error for good, or *dropped.
func playFailure(ended *status.Status) error {
	reason, pause := details(ended)
	text := oneLine(ended.Message())
	refused := func(kind Kind, text string) error { return &Error{kind, text, reason} }
	switch {
	case ended.Code() == codes.OK:
		return &dropped{"the server closed the connection", pause}
	case comeBack[reason]:
		return &dropped{fmt.Sprintf("%s (%s)", text, reason), pause}
	}
	switch ended.Code() {
	case codes.Unauthenticated:
		return refused(TokenRefused, "the server refuses the token: "+text)
	case codes.Aborted:
		return refused(TakenOver, "the bot is connected from somewhere else: "+text)
	case codes.Unimplemented:
		return refused(ProtocolMismatch, "this is no Arena server, or it speaks another version of the protocol: "+text)
	case codes.FailedPrecondition:
		if reason == "NO_CASUAL" {
			return refused(Refused, text+"; leave out Casual (--casual) for rated matches")
		}
		return refused(NoGameInCommon, text)
	case codes.InvalidArgument, codes.PermissionDenied:
		return refused(Refused, "the server refuses the bot: "+text)
	default:
		return &dropped{fmt.Sprintf("%s (%s)", text, ended.Code()), pause}
	}
}

// registrationFailure returns what a failed registration means: an *Error for good, or *dropped.
func registrationFailure(ended *status.Status) error {
	reason, _ := details(ended)
	text := oneLine(ended.Message())
	refused := func(kind Kind, text string) error { return &Error{kind, text, reason} }
	if comeBack[reason] {
		return playFailure(ended)
	}
	switch ended.Code() {
	case codes.AlreadyExists:
		return refused(NameTaken, text+". If the bot is yours, give its token or token file; if it was deleted, or is not yours, register under another name")
	case codes.InvalidArgument:
		if reason == "TOKEN_NOT_ALLOWED" {
			return refused(TokenRefused, text)
		}
		return refused(NameNotAllowed, text)
	case codes.PermissionDenied:
		if reason != "OWNER_BANNED" {
			return refused(InvitationNeeded, text)
		}
		return refused(Refused, "the server refuses the bot: "+text)
	case codes.ResourceExhausted:
		return refused(Refused, "the server refuses the bot: "+text)
	default:
		return playFailure(ended)
	}
}
