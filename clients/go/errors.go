package client

// Kind says what went wrong for good. Everything else (a lost network, a server that restarts) is tried again and only logged.
type Kind string

const (
	// BadArgument: what a run was told makes no sense, such as a file that cannot be read.
	BadArgument Kind = "BAD_ARGUMENT"
	// BadAnswer: the bot's code gave something that is no answer.
	BadAnswer Kind = "BAD_ANSWER"
	// BotFailed: the bot's code panicked.
	BotFailed Kind = "BOT_FAILED"
	// TokenRefused: the server does not know the token.
	TokenRefused Kind = "TOKEN_REFUSED"
	// NameTaken: another bot on this server has the name.
	NameTaken Kind = "NAME_TAKEN"
	// NameNotAllowed: the server does not accept the name of the bot or of its owner.
	NameNotAllowed Kind = "NAME_NOT_ALLOWED"
	// InvitationNeeded: the server registers new bots by invitation only, or does not accept this one.
	InvitationNeeded Kind = "INVITATION_NEEDED"
	// NoGameInCommon: the server plays none of the bot's games.
	NoGameInCommon Kind = "NO_GAME_IN_COMMON"
	// ProtocolMismatch: the other side is no Arena server, or is newer than this client.
	ProtocolMismatch Kind = "PROTOCOL_MISMATCH"
	// TakenOver: the same bot connected from somewhere else; the newest connection plays on.
	TakenOver Kind = "TAKEN_OVER"
	// Refused: the server ended the connection for a reason that trying again does not change.
	Refused Kind = "REFUSED"
	// Parked: the bot is given no seats until somebody un-parks it.
	Parked Kind = "PARKED"
	// Unreachable: there was no connection for longer than the caller wanted to wait, or there can be none at this address.
	Unreachable Kind = "UNREACHABLE"
)

// Error ends a run: the bot cannot go on. Its text says why and what to do.
type Error struct {
	Kind Kind
	Text string
	// Reason is the server's own for programs, such as "OWNER_BANNED"; empty where it gave none.
	Reason string
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Status returns what a program ends with: 1 the bot's error, 2 a wrong command line, 3 a refusal, 4 nothing was reached.
func (e *Error) Status() int {
	switch e.Kind {
	case BadAnswer, BotFailed:
		return 1
	case BadArgument:
		return 2
	case Unreachable:
		return 4
	default:
		return 3
	}
}
