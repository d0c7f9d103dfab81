package client

// Kind is the kind of a permanent error. After any other error, such as a lost network, the client retries.
type Kind string

const (
	// BadArgument: an argument is invalid, for example a file that cannot be read.
	BadArgument Kind = "BAD_ARGUMENT"
	// BadAnswer: the bot's code returned an invalid answer.
	BadAnswer Kind = "BAD_ANSWER"
	// BotFailed: the bot's code panicked.
	BotFailed Kind = "BOT_FAILED"
	// TokenRefused: the server does not know the token.
	TokenRefused Kind = "TOKEN_REFUSED"
	// NameTaken: another bot on this server has the name.
	NameTaken Kind = "NAME_TAKEN"
	// NameNotAllowed: the server does not accept the name of the bot or of its owner.
	NameNotAllowed Kind = "NAME_NOT_ALLOWED"
	// InvitationNeeded: the server registers new bots only by invitation, or does not accept this invitation.
	InvitationNeeded Kind = "INVITATION_NEEDED"
	// NoGameInCommon: the server plays none of the bot's games.
	NoGameInCommon Kind = "NO_GAME_IN_COMMON"
	// ProtocolMismatch: the other side is not an Arena server, or is newer than this client, or too old for the bot's ladders or events.
	ProtocolMismatch Kind = "PROTOCOL_MISMATCH"
	// TakenOver: the same bot connected from somewhere else; only the newest connection continues.
	TakenOver Kind = "TAKEN_OVER"
	// Refused: the server ended the connection for a permanent reason.
	Refused Kind = "REFUSED"
	// Parked: the bot gets no seats until it is un-parked.
	Parked Kind = "PARKED"
	// Unreachable: there was no connection for too long, or no connection is possible at this address.
	Unreachable Kind = "UNREACHABLE"
)

// Error ends a run, because the bot cannot continue. Its text gives cause and remedy.
type Error struct {
	Kind Kind
	Text string
	// Reason is the server's machine-readable reason, such as "OWNER_BANNED"; empty without one.
	Reason string
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Status returns the program's exit status: 1 error in the bot, 2 wrong command line, 3 refusal, 4 no server reached.
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
