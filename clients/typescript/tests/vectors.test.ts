// The vectors that all clients share: views, decisions, and the file of receipts.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";

import { fromJson, type JsonValue, ScalarType } from "@bufbuild/protobuf";

import { RuleBot } from "../samples/rules.js";
import { type Catalog, catalogOf, type Decision, decisionOf } from "../src/decision.js";
import { logTo } from "../src/log.js";
import * as nullern from "../src/nullern.js";
import { Receipts } from "../src/receipts.js";
import * as sixthSense from "../src/sixth_sense.js";
import { GameCatalogSchema } from "../src/v1/arena/v1/game_pb.js";
import { LogStateSchema } from "../src/v1/arena/v1/log_pb.js";
import { NullernViewSchema } from "../src/v1/arena/v1/nullern_pb.js";
import { DecisionSchema, MatchReportSchema } from "../src/v1/arena/v1/play_pb.js";
import { SixthSenseViewSchema } from "../src/v1/arena/v1/sixth_sense_pb.js";

const read = (name: string): any => JSON.parse(readFileSync(new URL(`../../../../${name}`, import.meta.url), "utf8"));
const games = new Map<string, Catalog>(
  read("clients/conformance/vectors/catalogues.json").map((each: JsonValue) => {
    const catalog = catalogOf(fromJson(GameCatalogSchema, each));
    return [catalog.name, catalog];
  }),
);

function reads({ game, view }: Decision): object {
  if (view.$typeName === "arena.v1.NullernView") {
    const { trick, toCome, unseen } = nullern.read(game, view);
    const wanted = Array.from({ length: view.seats }, (_, seat) => nullern.wantedTricks(view, seat));
    return { trick, toCome, taker: nullern.taker(game, view) ?? null, wanted, unseen: [...unseen].sort((a, b) => a - b) };
  }
  assert.ok(view.$typeName === "arena.v1.SixthSenseView");
  const { trump, trick, toCome, lacks, unseen } = sixthSense.read(game, view);
  const pairs = [...lacks].flatMap(([seat, colours]) => [...colours].map((colour) => [seat, colour]));
  return {
    trump: trump ?? null,
    trick: trick.map(({ seat, place, colour, value }) => [seat, place, colour, value]),
    toCome,
    taker: sixthSense.taker(trick, trump) ?? null,
    lacks: pairs.sort(([a, b], [c, d]) => a - c || b - d),
    unseen,
  };
}

const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};
const small = (values: readonly number[]) => Buffer.concat([Buffer.from("s"), number(values.length), Buffer.from(values)]);
const whole = (value: number) => Buffer.concat([Buffer.from("i"), number(value)]);
const list = (values: readonly Buffer[]) => Buffer.concat([Buffer.from("("), number(values.length), ...values]);

/** The digest of one question as defined in docs/replay-format.md, computed from the message alone. */
function digestOf({ decisionId, legal, view }: Decision): string {
  assert.ok(view.$typeName !== "google.protobuf.Any");
  const schema = view.$typeName === "arena.v1.NullernView" ? NullernViewSchema : SixthSenseViewSchema;
  const values = schema.fields.map((field) => {
    const value: any = (view as any)[field.localName];
    if (field.fieldKind === "map") return small(Array.from({ length: view.seats }, (_, seat) => (value[seat] ?? -1) + 1));
    if (field.fieldKind === "list") {
      return field.listKind === "scalar" && field.scalar === ScalarType.SINT32 ? list(value.map(whole)) : small(value.map(Number));
    }
    if (value === undefined) return ["rounds", "target"].includes(field.name) ? whole(0) : Buffer.from("N");
    return typeof value === "boolean" ? Buffer.from(value ? "T" : "F") : whole(value);
  });
  return createHash("sha256").update(list([whole(decisionId), small(legal), ...values])).digest("hex");
}

it("reads views and plays by the rules as the samples in Python do", () => {
  const vectors = read("clients/conformance/vectors/decisions.json");
  assert.ok(vectors.length > 100);
  for (const vector of vectors) {
    const decision = decisionOf(fromJson(DecisionSchema, vector.decision), games);
    assert.deepEqual(reads(decision), vector.reads);
    assert.equal(digestOf(decision), vector.digest);
    assert.ok("hand" in decision.view);
    assert.deepEqual(decision.hand, decision.view.hand.map((card) => decision.game.cards[card]));
    assert.deepEqual(decision.actions.map(({ name }) => name), decision.legal.map((number) => decision.game.actions[number].name));
    assert.equal(new RuleBot().decide(decision), vector.rules, JSON.stringify(vector.decision));
  }
});

it("knows what a round scores", () => {
  assert.deepEqual([6, 2, 4, 0].map((tricks) => sixthSense.points([4], tricks, false)), [-2, -2, 4, -4]);
  assert.deepEqual([7, 8, 0, 12, 6, 9].map((tricks) => sixthSense.points([6, 9], tricks, false)), [-1, -1, -6, -3, 6, 9]);
  assert.deepEqual([4, 5, 2, 7, 0, 10].map((tricks) => sixthSense.points([4], tricks, true)), [6, 4, 3, 2, 1, 0]);
  assert.deepEqual([[0, 0], [3, 3], [0, 2], [4, 0]].map(([bid, tricks]) => nullern.points(bid, tricks)), [20, 13, -3, -5]);
});

const SEAT = { seat: 1, nonce: new Uint8Array(16), salt: new Uint8Array(32), commitment: new Uint8Array(32) };
const stories = read("clients/conformance/vectors/receipts.json").filter((story: any) => story.without_checks);
assert.ok(stories.length > 10);
for (const { title, steps, kept } of stories) {
  it(`writes the same receipts as the other packages: ${title}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "arena-client-"));
    const file = join(folder, "bots", "bot.receipts");
    const said: string[] = [];
    logTo((level, text) => said.push(`${level}: ${text.replaceAll(file, "FILE")}`));
    let receipts!: Receipts;
    try {
      for (const step of steps) {
        if ("starts" in step) receipts = new Receipts(file);
        else if ("tears" in step) truncateSync(file, statSync(file).size - step.tears);
        else if ("reports" in step) receipts.recordMatch(fromJson(MatchReportSchema, step.reports), SEAT);
        else if (step.shows !== null) receipts.recordLog(fromJson(LogStateSchema, step.shows));
        // The story's warnings only: its errors come from checks that this client does not make.
        assert.deepEqual(said.splice(0), step.says.filter((text: string) => text.startsWith("warn: ")));
      }
      assert.deepEqual(existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [], kept);
      if (existsSync(file)) assert.equal(statSync(file).mode & 0o777, 0o600, "the file is for its owner only");
    } finally {
      logTo(undefined);
      rmSync(folder, { recursive: true });
    }
  });
}

it("prunes the file to the newest receipts, under the newest keys", () => {
  const folder = mkdtempSync(join(tmpdir(), "arena-client-"));
  const file = join(folder, "bot.receipts");
  try {
    const receipts = new Receipts(file);
    const [shown] = stories[0].steps.filter(({ shows }: any) => shows).map(({ shows }: any) => fromJson(LogStateSchema, shows));
    receipts.recordLog(shown);
    const [reported] = stories[0].steps.filter(({ reports }: any) => reports).map(({ reports }: any) => fromJson(MatchReportSchema, reports));
    for (let match = 1n; match <= 2001n; match++) receipts.recordMatch({ ...reported, matchId: match }, undefined);
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    assert.deepEqual(lines[0].keys, shown.keys.map((key: Uint8Array) => Buffer.from(key).toString()));
    assert.ok(lines.length >= 1001 && lines.length <= 1004, `${lines.length} lines`);
    assert.deepEqual(lines.slice(1).map(({ match }) => match), lines.slice(1).map((_, at) => 2001 - (lines.length - 2) + at));
    assert.deepEqual(readdirSync(folder), ["bot.receipts"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("plays on where receipts cannot be written, and says so once", () => {
  const folder = mkdtempSync(join(tmpdir(), "arena-client-"));
  const said: string[] = [];
  logTo((level, text) => said.push(`${level}: ${text}`));
  try {
    const receipts = new Receipts(folder); // a folder takes the place of the file
    const [reported] = stories[0].steps.filter(({ reports }: any) => reports).map(({ reports }: any) => fromJson(MatchReportSchema, reports));
    for (const _ of [1, 2]) receipts.recordMatch(reported, undefined);
    assert.equal(said.length, 1);
    assert.match(said[0], /^warn: receipts cannot be kept in .*; the bot plays on without$/);
  } finally {
    logTo(undefined);
    rmSync(folder, { recursive: true });
  }
});
