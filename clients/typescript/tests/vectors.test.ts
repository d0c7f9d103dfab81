// What the package makes of the vectors that all clients share, and of those of the log of results.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";

import { create, fromJson, type JsonValue, ScalarType } from "@bufbuild/protobuf";

import { RuleBot } from "../samples/rules.js";
import { type Catalog, catalogOf, type Decision, decisionOf } from "../src/decision.js";
import { logTo } from "../src/log.js";
import { LogChecker } from "../src/log_check.js";
import { consistent, type Head, included, Keys } from "../src/merkle.js";
import * as nullern from "../src/nullern.js";
import { Receipts } from "../src/receipts.js";
import * as sixthSense from "../src/sixth_sense.js";
import { GameCatalogSchema } from "../src/v1/arena/v1/game_pb.js";
import { LogEntrySchema, LogHeadSchema, LogStateSchema } from "../src/v1/arena/v1/log_pb.js";
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

/** The digest of one question, as docs/replay-format.md says, from the message alone. */
function digestOf({ decisionId, legal, view }: Decision): string {
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

const log = read("arena/log/vectors.json");
const hex = (digits: string) => Buffer.from(digits, "hex");
const headOf = (size: number): Head => {
  const { root, signature } = log.heads.find((each: { size: number }) => each.size === size);
  return create(LogHeadSchema, { size: BigInt(size), root: hex(root), signature: hex(signature) });
};
const changed = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, at) => (at ? byte : byte ^ 1));

it("takes the proofs and signatures of the log's vectors, and no others", () => {
  const keyLeaves = log.leaves.map(({ leaf }: { leaf: string }) => Buffer.from(leaf)).filter((leaf: Buffer) => JSON.parse(leaf.toString()).kind === "key");
  assert.throws(() => new Keys([]), /a log without a key/);
  assert.throws(() => new Keys([keyLeaves[0], Buffer.from(keyLeaves[1].toString().replace(/"signature":"../, '"signature":"00'))]), /did not sign/);
  for (const { size } of log.heads) {
    const head = headOf(size);
    const known = keyLeaves.filter((leaf: Buffer) => JSON.parse(leaf.toString()).number <= size);
    assert.ok(new Keys(known).signed(head));
    assert.ok(!new Keys(known).signed({ ...head, root: changed(head.root) }));
    assert.ok(!new Keys(known).signed({ ...head, signature: changed(head.signature) }));
  }
  for (const { number, size, proof } of log.inclusion) {
    const leaf = Buffer.from(log.leaves[number - 1].leaf);
    const entry = create(LogEntrySchema, { number: BigInt(number), leaf, head: headOf(size), proof: proof.map(hex) });
    assert.ok(included(entry));
    assert.ok(!included({ ...entry, leaf: changed(leaf) }));
    assert.ok(!included({ ...entry, number: entry.number + 1n }));
    if (proof.length) assert.ok(!included({ ...entry, proof: entry.proof.slice(1) }));
  }
  for (const { first, second, proof } of log.consistency) {
    const [one, other] = [headOf(first), headOf(second)];
    assert.ok(consistent(one, other, proof.map(hex)));
    assert.ok(!consistent({ ...one, root: changed(one.root) }, other, proof.map(hex)));
    assert.ok(!consistent(one, { ...other, root: changed(other.root) }, proof.map(hex)));
  }
});

const SEAT = { seat: 1, nonce: new Uint8Array(16), salt: new Uint8Array(32), commitment: new Uint8Array(32) };
for (const { title, steps, kept } of read("clients/conformance/vectors/receipts.json")) {
  it(`keeps and says of a log of results what the others do: ${title}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "arena-client-"));
    const file = join(folder, "bot.receipts");
    const said: string[] = [];
    logTo((level, text) => said.push(`${level}: ${text.replaceAll(file, "FILE")}`));
    let receipts!: Receipts;
    let checker!: LogChecker;
    try {
      for (const step of steps) {
        if ("starts" in step) checker = new LogChecker((receipts = new Receipts(file)));
        else if ("tears" in step) truncateSync(file, statSync(file).size - step.tears);
        else if ("reports" in step) receipts.take(fromJson(MatchReportSchema, step.reports), SEAT);
        else {
          const state = step.shows === null ? undefined : fromJson(LogStateSchema, step.shows);
          await checker.check(state, async (first, second) => {
            const proof = step.proofs[`${first} ${second}`];
            assert.notEqual(proof, undefined, "it asks for what the others ask for");
            return proof?.map((each: string) => Buffer.from(each, "base64"));
          });
        }
        assert.deepEqual(said.splice(0), step.says);
      }
      assert.deepEqual(existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [], kept);
    } finally {
      logTo(undefined);
      rmSync(folder, { recursive: true });
    }
  });
}
