// Permanent errors. After any other error (a lost network, a restarting server) the client retries.

/** Error after which the bot cannot continue; the message gives the cause and the remedy. */
export class ArenaError extends Error {
  /** The server's machine-readable reason, such as "OWNER_BANNED"; empty without one. */
  reason = "";
  /** The program's exit status: 1 error in the bot, 2 wrong command line, 3 refusal, 4 no server reached. */
  status = 3;
  override get name(): string {
    return this.constructor.name;
  }
}

/** An argument is invalid, for example a file that cannot be read. */
export class ArgumentError extends ArenaError {
  override status = 2;
}
/** The server does not know the token. */
export class TokenRefusedError extends ArenaError {}
/** Another bot on this server already has this name. */
export class NameTakenError extends ArenaError {}
/** The server does not accept the name of the bot or of its owner. */
export class NameNotAllowedError extends ArenaError {}
/** The server registers new bots only by invitation, or does not accept this invitation. */
export class InvitationNeededError extends ArenaError {}
/** The server plays none of the bot's games. */
export class NoGameInCommonError extends ArenaError {}
/** The other side is not an Arena server, or is newer than this client. */
export class ProtocolMismatchError extends ArenaError {}
/** The same bot connected from somewhere else; only the newest connection continues. */
export class TakenOverError extends ArenaError {}
/** The server ended the connection for a permanent reason. */
export class RefusedError extends ArenaError {}
/** The bot is parked: it gets no seats until it is un-parked. */
export class ParkedError extends ArenaError {}
/** There was no connection for too long, or no connection is possible at this address. */
export class UnreachableError extends ArenaError {
  override status = 4;
}
/** `decide` or `decideMany` returned an invalid answer. */
export class BadAnswerError extends ArenaError {
  override status = 1;
}

/** Error classes by name, so that an error from another thread can be recreated. */
export const ERRORS: Readonly<Record<string, new (message: string) => ArenaError>> = {
  ArgumentError, TokenRefusedError, NameTakenError, NameNotAllowedError, InvitationNeededError, NoGameInCommonError,
  ProtocolMismatchError, TakenOverError, RefusedError, ParkedError, UnreachableError, BadAnswerError,
};

/** The connection is lost or was never open; another try may succeed. */
export class DroppedError extends Error {
  /** Additional pause that the server asks for, in milliseconds. */
  pause = 0;
}
