// A bot and a spectator on @grpc/grpc-js: plays one match, looks it up, and provokes as many statuses as
// possible.
//
// node client.mjs PACKAGES ADDRESS NAME PROTOS [ROOTS]; prints its observations as one JSON object.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync } from "node:zlib";

const [packages, address, name, protos, roots] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const HEALTH = {
  nested: {
    grpc: { nested: { health: { nested: { v1: { nested: {
      HealthCheckRequest: { fields: { service: { type: "string", id: 1 } } },
      HealthCheckResponse: { fields: { status: { type: "uint32", id: 1 } } },
      Health: { methods: {
        Check: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse" },
        Watch: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse", responseStream: true },
      } },
    } } } } } },
  },
};
const files = ["bots", "matches", "play", "ladder"].map((file) => `arena/v1/${file}.proto`);
const arena = grpc.loadPackageDefinition(
  loader.loadSync(files, { includeDirs: [protos], longs: Number, defaults: true }),
).arena.v1;
const { Health } = grpc.loadPackageDefinition(loader.fromJSON(HEALTH)).grpc.health.v1;

const credentials = roots ? grpc.credentials.createSsl(readFileSync(roots)) : grpc.credentials.createInsecure();
const options = roots ? { "grpc.ssl_target_name_override": "localhost" } : {};
const gzip = { ...options, "grpc.default_compression_algorithm": 2 };
const channel = new grpc.Channel(address, credentials, options);
const client = (Service, how = { channelOverride: channel }) => new Service(address, credentials, how);
const patience = (milliseconds = 60_000) => ({ deadline: Date.now() + milliseconds });

const unary = (stub, method, request, ...more) =>
  new Promise((resolve, reject) => {
    stub[method](request, ...more, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
const refusal = (promise) => promise.then(() => null, ({ code, details }) => [grpc.status[code], details]);
const bearer = (token) => {
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
};
const whole = (call) =>
  new Promise((resolve, reject) => {
    const heard = [];
    call.on("data", (message) => heard.push(message)).on("end", () => resolve(heard)).on("error", reject);
  });

/** Plays until it has the report of one match. */
function play(token) {
  return new Promise((resolve, reject) => {
    let answered = 0;
    let report = null;
    const stream = client(arena.PlayService).Play(bearer(token), patience());
    stream.on("error", reject);
    stream.on("end", () => (report ? resolve({ report, answered }) : reject(new Error("the stream ended too soon"))));
    stream.on("data", (message) => {
      const said = {
        ready: message.invitations.map(({ invitationId }) => ({ invitationId, nonce: Buffer.alloc(16, 7) })),
        answers: message.decisions.map(({ matchId, decisionId, legal }) => ({ matchId, decisionId, action: legal[0] })),
      };
      if (message._heartbeat) said.heartbeat = message.heartbeat;
      answered += said.answers.length;
      if (!report && (said.ready.length || said.answers.length || message._heartbeat)) stream.write(said);
      if (message.reports.length) {
        report = message.reports[0];
        stream.end();
      }
    });
    stream.write({ hello: { games: ["nullern"], capacity: 1, client: "grpc-js" } });
  });
}

const bots = client(arena.BotService);
const matches = client(arena.MatchService);
const health = client(Health);
const { token } = await unary(bots, "RegisterBot", { name }, patience());
const { report, answered } = await play(token);
const listed = await unary(matches, "ListMatches", { bot: name }, patience());
const replay = Buffer.concat((await whole(matches.GetReplay({ matchId: report.matchId }, patience()))).map(({ chunk }) => chunk));
const zipped = client(arena.BotService, gzip);

console.log(JSON.stringify({
  match: report.matchId,
  answered,
  interrupted: report.interrupted,
  scores: report.scores,
  listed: listed.matches.map(({ matchId, seats }) => [matchId, seats.map(({ score }) => score)]),
  replay: gunzipSync(replay).toString().split("\n").length - 1,
  health: (await unary(health, "Check", { service: "arena.v1.PlayService" }, patience())).status,
  at_once: (await Promise.all(Array.from({ length: 30 }, () => unary(health, "Check", {}, patience())))).length,
  zipped: (await unary(zipped, "ListBots", {}, patience())).bots.some((bot) => bot.name === name),
  zipped_refusal: await refusal(unary(zipped, "RegisterBot", { name: name.padEnd(3000, "x") }, patience())),
  wrong_token: await refusal(whole(client(arena.PlayService).Play(bearer("wrong"), patience()))),
  no_token: await refusal(whole(client(arena.PlayService).Play(patience()))),
  too_big: await refusal(unary(bots, "RegisterBot", { name: "x".repeat(2 << 20) }, patience())),
  too_big_zipped: await refusal(unary(zipped, "RegisterBot", { name: "x".repeat(2 << 20) }, patience())),
  too_late: await refusal(whole(health.Watch({}, patience(200)))),
  odd_text: await refusal(unary(health, "Check", { service: "100 % café\n" }, patience())),
  unknown: await refusal(new Promise((resolve, reject) => {
    const same = (bytes) => bytes;
    health.makeUnaryRequest("/arena.v1.PlayService/Cheat", same, same, Buffer.alloc(0), patience(), (error) => (error ? reject(error) : resolve()));
  })),
  afterwards: (await unary(health, "Check", {}, patience())).status,
}));
process.exit(0);
