// The thread that talks to the server, so that a bot may compute for any length of time. It runs no code of the bot.

import { parentPort, workerData } from "node:worker_threads";

import { fromBinary } from "@bufbuild/protobuf";

import { Connection, type Inbox } from "./connection.js";
import { ArenaError } from "./errors.js";
import { GrpcChannel } from "./grpc_channel.js";
import { logTo } from "./log.js";
import type { Profile } from "./options.js";
import { obstacle } from "./probe.js";
import { CLOCK, type FromMain, type FromWorker } from "./threads.js";
import { PlayRequestSchema } from "./v1/arena/v1/play_pb.js";

const port = parentPort!;
const profile = workerData as Profile;
const tell = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

logTo((level, text) => tell({ kind: "log", level, text }));
const { address, tls } = profile;
const inbox: Inbox = {
  deliver: (session, bytes, received) => {
    const own = Uint8Array.from(bytes); // gRPC's bytes are part of a larger buffer
    tell({ kind: "deliver", session, bytes: own, received }, [own.buffer]);
  },
  over: (session) => tell({ kind: "over", session }),
  hurry: () => tell({ kind: "hurry" }),
};
const connection = new Connection(profile, (node) => new GrpcChannel(node, tls), CLOCK, inbox, Math.random, () => obstacle(address, tls));
port.on("message", (message: FromMain) => {
  if (message.kind === "say") connection.say(message.session, fromBinary(PlayRequestSchema, message.bytes));
  else if (message.kind === "drain") connection.drain(message.ms);
  else if (message.kind === "leave") connection.leave();
  else connection.end();
});
try {
  await connection.stay();
  tell({ kind: "end", error: undefined });
} catch (error) {
  if (!(error instanceof ArenaError)) throw error;
  const { name, message, reason } = error;
  tell({ kind: "end", error: { name, message, reason } });
}
port.close();
