// What the end of a call means: the statuses of the protocol, and which of them another try may change.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

import {
  ArenaError, DroppedError, InvitationNeededError, NameNotAllowedError, NameTakenError, NoGameInCommonError,
  ProtocolMismatchError, RefusedError, TakenOverError, TokenRefusedError,
} from "./errors.js";

/** How a call ended. */
export interface CallStatus {
  /** gRPC's word for it, such as "UNAVAILABLE". */
  status: string;
  /** Words for people. */
  text: string;
  /** The reason of its `google.rpc.ErrorInfo`; empty where the server gave none. */
  reason: string;
}

/** Reasons for the end of a stream after which another try may succeed. */
const COME_BACK = new Set(["NO_HELLO", "STOPPING", "STORE_UNAVAILABLE", "NOT_READING", "FLOODING", "OVER_BUDGET"]);
const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";

/** Read the fields of a message that are bytes or texts, by number. */
function lengthDelimited(bytes: Uint8Array): [number, Uint8Array][] {
  const reader = new BinaryReader(bytes);
  const found: [number, Uint8Array][] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) found.push([number, reader.bytes()]);
    else reader.skip(type, number);
  }
  return found;
}

/** Return the reason in the bytes of a `google.rpc.Status`; empty where there is none. */
export function errorReason(details: Uint8Array | undefined): string {
  const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? "" : Buffer.from(bytes).toString("utf8"));
  try {
    for (const [number, any] of details === undefined ? [] : lengthDelimited(details)) {
      if (number !== 3) continue;
      const fields = new Map(lengthDelimited(any));
      const value = fields.get(2);
      if (text(fields.get(1)) === ERROR_INFO && value !== undefined) return text(new Map(lengthDelimited(value)).get(1));
    }
  } catch {
    return ""; // somebody else's details
  }
  return "";
}

const oneLine = (text: string) => text.split(/\s+/).filter(Boolean).join(" ") || "no reason given";

/** Return the error that the end of a stream means. */
export function playFailure({ status, text, reason }: CallStatus): ArenaError | DroppedError {
  return withReason(playError(status, oneLine(text), reason), reason);
}

/** Return the error that a failed registration means. */
export function registrationFailure({ status, text, reason }: CallStatus): ArenaError | DroppedError {
  return withReason(registrationError(status, oneLine(text), reason), reason);
}

function withReason(error: ArenaError | DroppedError, reason: string): ArenaError | DroppedError {
  if (error instanceof ArenaError) error.reason = reason;
  return error;
}

function playError(status: string, text: string, reason: string): ArenaError | DroppedError {
  if (status === "OK") return new DroppedError("the server closed the connection");
  if (COME_BACK.has(reason)) return new DroppedError(`${text} (${reason})`);
  switch (status) {
    case "UNAUTHENTICATED":
      return new TokenRefusedError(`the server refuses the token: ${text}`);
    case "ABORTED":
      return new TakenOverError(`the bot is connected from somewhere else: ${text}`);
    case "UNIMPLEMENTED":
      return new ProtocolMismatchError(`this is no Arena server, or it speaks another version of the protocol: ${text}`);
    case "FAILED_PRECONDITION":
      if (reason === "NO_CASUAL") return new RefusedError(`${text}; leave out casual (--casual) for rated matches`);
      return new NoGameInCommonError(text);
    case "INVALID_ARGUMENT":
    case "PERMISSION_DENIED":
      return new RefusedError(`the server refuses the bot: ${text}`);
    default:
      return new DroppedError(`${text} (${status})`);
  }
}

function registrationError(status: string, text: string, reason: string): ArenaError | DroppedError {
  if (COME_BACK.has(reason)) return playError(status, text, reason);
  switch (status) {
    case "ALREADY_EXISTS":
      return new NameTakenError(
        `${text}. If the bot is yours, give its token or token file; if it was deleted, or is not yours, register under another name`,
      );
    case "INVALID_ARGUMENT":
      return reason === "TOKEN_NOT_ALLOWED" ? new TokenRefusedError(text) : new NameNotAllowedError(text);
    case "PERMISSION_DENIED":
      if (reason !== "OWNER_BANNED") return new InvitationNeededError(text);
      return new RefusedError(`the server refuses the bot: ${text}`);
    case "RESOURCE_EXHAUSTED":
      return new RefusedError(`the server refuses the bot: ${text}`);
    default:
      return playError(status, text, reason);
  }
}
