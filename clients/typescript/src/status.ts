// Interpretation of a call's end: a permanent error, or a reason to try again.

import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema, DurationSchema } from "@bufbuild/protobuf/wkt";

import {
  ArenaError, DroppedError, InvitationNeededError, NameNotAllowedError, NameTakenError, NoGameInCommonError,
  ProtocolMismatchError, RefusedError, TakenOverError, TokenRefusedError,
} from "./errors.js";

/** The status of an ended call. */
export interface CallStatus {
  /** gRPC's name of the status, such as "UNAVAILABLE". */
  status: string;
  /** Text for human readers. */
  text: string;
  /** The reason in the call's `google.rpc.ErrorInfo`; empty if the server gave none. */
  reason: string;
  /** Milliseconds in the call's `google.rpc.RetryInfo`; 0 if the server gave none. */
  pause: number;
}

/** Statuses after which another try may succeed. All other statuses with a reason are final. */
const COME_BACK = new Set(["UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"]);
/** Statuses that are final even without a reason, in addition to those with their own errors. */
const FINAL = new Set(["INVALID_ARGUMENT", "PERMISSION_DENIED", "FAILED_PRECONDITION"]);
/** Maximum pause that a server may request, in milliseconds. A longer pause must be a mistake. */
const LONGEST_PAUSE = 3_600_000;

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

/** Return the reason and the pause in the bytes of a `google.rpc.Status`; unreadable details count as absent. */
export function readDetails(details: Uint8Array | undefined): Pick<CallStatus, "reason" | "pause"> {
  const found = { reason: "", pause: 0 };
  try {
    for (const [number, packed] of details === undefined ? [] : lengthDelimited(details)) {
      if (number !== 3) continue;
      const any = fromBinary(AnySchema, packed);
      const first = new Map(lengthDelimited(any.value)).get(1);
      if (first === undefined) continue;
      if (any.typeUrl.endsWith("/google.rpc.ErrorInfo")) found.reason = Buffer.from(first).toString("utf8");
      if (any.typeUrl.endsWith("/google.rpc.RetryInfo")) {
        const { seconds, nanos } = fromBinary(DurationSchema, first);
        found.pause = Math.min(LONGEST_PAUSE, Math.max(0, Number(seconds) * 1e3 + nanos / 1e6));
      }
    }
  } catch {
    return found; // details of another service
  }
  return found;
}

const oneLine = (text: string) => text.split(/\s+/).filter(Boolean).join(" ") || "no reason given";

/** Return the error for the end of a stream. */
export function playFailure({ status, text, reason, pause }: CallStatus): ArenaError | DroppedError {
  return withDetails(playError(status, oneLine(text), reason), reason, pause);
}

/** Return the error for a failed registration. */
export function registrationFailure({ status, text, reason, pause }: CallStatus): ArenaError | DroppedError {
  return withDetails(registrationError(status, oneLine(text), reason), reason, pause);
}

function withDetails(error: ArenaError | DroppedError, reason: string, pause: number): ArenaError | DroppedError {
  if (error instanceof ArenaError) error.reason = reason;
  else error.pause = pause;
  return error;
}

function playError(status: string, text: string, reason: string): ArenaError | DroppedError {
  if (status === "OK") return new DroppedError("the server closed the connection");
  if (status === "RESOURCE_EXHAUSTED" && reason === "") { // raised by gRPC in this process
    return new ProtocolMismatchError(`a message from the server is larger than this client accepts: ${text}`);
  }
  if (COME_BACK.has(status)) return new DroppedError(`${text} (${reason || status})`);
  switch (reason) {
    case "TAKEN_OVER":
      return new TakenOverError(`the bot is connected from somewhere else: ${text}`);
    case "NO_SUCH_GAME":
      return new NoGameInCommonError(text);
    case "NO_CASUAL":
      return new RefusedError(`${text}; leave out casual (--casual) for rated matches`);
  }
  if (status === "UNAUTHENTICATED") return new TokenRefusedError(`the server refuses the token: ${text}`);
  if (status === "UNIMPLEMENTED") {
    return new ProtocolMismatchError(`this is no Arena server, or it speaks another version of the protocol: ${text}`);
  }
  if (reason !== "" || FINAL.has(status)) {
    return new RefusedError(`the server refuses the bot: ${text}`);
  }
  return new DroppedError(`${text} (${status})`);
}

function registrationError(status: string, text: string, reason: string): ArenaError | DroppedError {
  switch (status) {
    case "ALREADY_EXISTS":
      return new NameTakenError(
        `${text}. If the bot is yours, give its token or token file; if it was deleted, or is not yours, register under another name`,
      );
    case "INVALID_ARGUMENT":
      return reason === "TOKEN_NOT_ALLOWED" ? new TokenRefusedError(text) : new NameNotAllowedError(text);
    case "PERMISSION_DENIED":
      if (reason !== "OWNER_BANNED") return new InvitationNeededError(text);
  }
  return playError(status, text, reason);
}
