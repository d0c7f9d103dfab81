package client

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// dropped means that the connection is lost or was never open; another try may succeed.
type dropped struct {
	text string
	// pause is the additional pause that the server requests.
	pause time.Duration
}

func (d *dropped) Error() string { return d.text }

// longestPause is the maximum pause that a server may request. A longer pause must be a mistake.
const longestPause = time.Hour

// comeBack has the statuses after which another try may succeed. All other statuses with a reason are final.
var comeBack = map[codes.Code]bool{codes.Unavailable: true, codes.ResourceExhausted: true, codes.DeadlineExceeded: true}

// final has the statuses that are final even without a reason, besides those with errors of their own.
var final = map[codes.Code]bool{codes.InvalidArgument: true, codes.PermissionDenied: true, codes.FailedPrecondition: true}

// details returns the reason in a status's ErrorInfo and the pause in its RetryInfo, if there are any.
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

// playFailure returns the error for the end of a stream: a permanent *Error, or *dropped.
func playFailure(ended *status.Status) error {
	reason, pause := details(ended)
	text := oneLine(ended.Message())
	refused := func(kind Kind, text string) error { return &Error{kind, text, reason} }
	switch {
	case ended.Code() == codes.OK:
		return &dropped{"the server closed the connection", pause}
	case ended.Code() == codes.ResourceExhausted && reason == "": // raised by gRPC in this process
		return refused(ProtocolMismatch, "a message from the server is larger than this client accepts: "+text)
	case comeBack[ended.Code()]:
		if reason == "" {
			reason = ended.Code().String()
		}
		return &dropped{fmt.Sprintf("%s (%s)", text, reason), pause}
	}
	switch reason {
	case "TAKEN_OVER":
		return refused(TakenOver, "the bot is connected from somewhere else: "+text)
	case "NO_SUCH_GAME":
		return refused(NoGameInCommon, text)
	case "NO_CASUAL":
		return refused(Refused, text+"; leave out Casual (--casual) for rated matches")
	}
	switch {
	case ended.Code() == codes.Unauthenticated:
		return refused(TokenRefused, "the server refuses the token: "+text)
	case ended.Code() == codes.Unimplemented:
		return refused(ProtocolMismatch, "this is no Arena server, or it speaks another version of the protocol: "+text)
	case reason != "", final[ended.Code()]:
		return refused(Refused, "the server refuses the bot: "+text)
	default:
		return &dropped{fmt.Sprintf("%s (%s)", text, ended.Code()), pause}
	}
}

// registrationFailure returns the error for a failed registration: a permanent *Error, or *dropped.
func registrationFailure(ended *status.Status) error {
	reason, _ := details(ended)
	text := oneLine(ended.Message())
	refused := func(kind Kind, text string) error { return &Error{kind, text, reason} }
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
	}
	return playFailure(ended)
}
