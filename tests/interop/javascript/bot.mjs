// A bot on @grpc/grpc-js that plays at random until it is stopped, and reconnects when the connection breaks.
//
// node bot.mjs PACKAGES PROTOS; ARENA_SERVER is the server's address and ARENA_TOKEN_FILE the file of its token.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [packages, protos] = process.argv.slice(2);
const { ARENA_SERVER: address, ARENA_TOKEN_FILE: tokenFile } = process.env;
const require = createRequire(`${packages}/`);
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

// 64-bit numbers stay strings, because a double cannot represent them all.
const how = { includeDirs: [protos], longs: String, defaults: true, oneofs: true };
const arena = grpc.loadPackageDefinition(loader.loadSync(["bots", "play"].map((file) => `arena/v1/${file}.proto`), how)).arena.v1;
const LONGEST_WAIT = 1000;
const LAST = [grpc.status.FAILED_PRECONDITION, grpc.status.UNAUTHENTICATED, grpc.status.PERMISSION_DENIED, grpc.status.INVALID_ARGUMENT];
const ILLEGAL = 1;
const SUSPENDED = 6;
const KEEPALIVE = { "grpc.keepalive_time_ms": 20_000, "grpc.keepalive_timeout_ms": 10_000 };
let reportsAfter; // The number of the last report's leaf in the server's log.
let leaving = false;
let stream = null;
let wait = 50;

async function token(client) {
  if (existsSync(tokenFile)) return readFileSync(tokenFile, "utf8").trim();
  const made = await new Promise((resolve, reject) => {
    client.RegisterBot({ name: "javascript" }, (error, answer) => (error ? reject(error) : resolve(answer.token)));
  });
  writeFileSync(tokenFile, made);
  return made;
}

function hear(message, say) {
  const said = { ready: [], answers: [], resumed: [] };
  for (const { invitationId } of message.invitations) said.ready.push({ invitationId, nonce: randomBytes(16) });
  for (const { matchId, decisionId, legal } of message.decisions) {
    said.answers.push({ matchId, decisionId, action: legal[Math.floor(Math.random() * legal.length)] });
  }
  for (const { kind, matchId, decisionId, legal } of message.notices) {
    if (kind === SUSPENDED) said.resumed.push(matchId);
    else if (kind === ILLEGAL && legal.length) said.answers.push({ matchId, decisionId, action: legal[0] });
  }
  for (const { entry } of message.reports) reportsAfter = entry.number;
  if (message._heartbeat) said.heartbeat = message.heartbeat;
  if (said.ready.length || said.answers.length || said.resumed.length || message._heartbeat) say(said);
}

/** Plays until the stream ends; returns its status. */
async function play() {
  const options = { ...KEEPALIVE, "grpc.use_local_subchannel_pool": 1, "grpc.enable_retries": 0 };
  const trust = grpc.credentials.createInsecure();
  const clients = [new arena.BotService(address, trust, options), new arena.PlayService(address, trust, options)];
  try {
    const metadata = new grpc.Metadata();
    metadata.set("authorization", `Bearer ${await token(clients[0])}`);
    const call = clients[1].Play(metadata);
    stream = call;
    call.on("data", (message) => {
      if (message.welcome) {
        const { size } = message.welcome.log.head;
        wait = 50;
        if (reportsAfter === undefined || BigInt(size) < BigInt(reportsAfter)) reportsAfter = size;
      }
      hear(message, (said) => call.write(said));
    });
    const status = new Promise((resolve) => {
      call.on("error", (error) => resolve(error.code)).on("end", () => resolve(grpc.status.OK));
    });
    const games = ["sixth_sense", "nullern"];
    call.write({ hello: { games, capacity: 8, client: "grpc-js", version: "1", reportsAfter } });
    return await status;
  } catch (error) {
    return error.code ?? grpc.status.UNKNOWN;
  } finally {
    stream = null;
    for (const client of clients) client.close();
  }
}

process.on("SIGTERM", () => {
  leaving = true;
  if (stream) stream.write({ leave: true });
  else process.exit(0);
});

while (!leaving) {
  const status = await play();
  if (LAST.includes(status)) process.exit(3);
  if (!leaving) await new Promise((resolve) => setTimeout(resolve, Math.random() * wait));
  wait = Math.min(LONGEST_WAIT, wait * 2);
}
process.exit(0);
