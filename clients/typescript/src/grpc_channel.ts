// Network access to the server by @grpc/grpc-js, for messages that are encoded here.

import { readFileSync } from "node:fs";

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";

import type { Call, CallEvents, Channel } from "./connection.js";
import { ArgumentError } from "./errors.js";
import { type CallStatus, readDetails } from "./status.js";
import {
  BotService, type RegisterBotRequest, RegisterBotRequestSchema, type RegisterBotResponse, RegisterBotResponseSchema,
} from "./v1/arena/v1/bots_pb.js";
import { type PlayRequest, PlayRequestSchema, PlayService } from "./v1/arena/v1/play_pb.js";

const OPTIONS = {
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.use_local_subchannel_pool": 1, // a new try is a new connection, without the old one's back-off
  "grpc.enable_retries": 0,
};

const pathOf = ({ name, parent }: { name: string; parent: { typeName: string } }) => `/${parent.typeName}/${name}`;

function statusOf({ code, details, metadata }: grpc.StatusObject | grpc.ServiceError): CallStatus {
  const info = metadata?.get("grpc-status-details-bin")[0];
  // grpc-js starts the text with "no connection"; the cause follows
  const text = details.replace(/^No connection established\. Last error: /, "");
  return { status: grpc.status[code], text, ...readDetails(info instanceof Uint8Array ? info : undefined) };
}

/** Open a channel to "host:port", which connects at the first call; throws ArgumentError if a certificate cannot be read. */
export class GrpcChannel implements Channel {
  readonly #client: grpc.Client;

  constructor(address: string, tls: boolean | string) {
    this.#client = new grpc.Client(address, credentialsOf(tls), OPTIONS);
  }

  play(token: string, events: CallEvents): Call {
    const metadata = new grpc.Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    const encode = (request: PlayRequest) => Buffer.from(toBinary(PlayRequestSchema, request));
    const path = pathOf(PlayService.method.play);
    const stream = this.#client.makeBidiStreamRequest<PlayRequest, Uint8Array>(path, encode, (bytes) => bytes, metadata);
    stream.on("data", (bytes: Uint8Array) => events.message(bytes));
    stream.on("error", () => {}); // the status says the same
    stream.on("status", (status) => setImmediate(() => events.ended(statusOf(status)))); // after the last message
    return {
      write: (request) => void (stream.writable && stream.write(request)),
      end: () => void stream.end(),
      cancel: () => stream.cancel(),
    };
  }

  register(request: RegisterBotRequest, patience: number): Promise<RegisterBotResponse> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<RegisterBotRequest, RegisterBotResponse>(
        pathOf(BotService.method.registerBot),
        (message) => Buffer.from(toBinary(RegisterBotRequestSchema, message)),
        (bytes) => fromBinary(RegisterBotResponseSchema, bytes),
        request,
        { deadline: Date.now() + patience },
        (error, answer) => (error ? reject(statusOf(error)) : resolve(answer!)),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

function credentialsOf(tls: boolean | string): grpc.ChannelCredentials {
  if (!tls) return grpc.credentials.createInsecure();
  try {
    return grpc.credentials.createSsl(tls === true ? null : readFileSync(tls));
  } catch (error) {
    throw new ArgumentError(`the file ${tls} cannot be used: ${(error as Error).message}`);
  }
}
