import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { logTo } from "../src/log.js";
import { check, conversations } from "./corpus.js";

const folder = mkdtempSync(join(tmpdir(), "arena-client-"));
logTo(() => {});
after(() => rmSync(folder, { recursive: true }));

for (const [topic, all] of conversations()) {
  describe(topic, () => {
    for (const [at, conversation] of all.entries()) {
      it(conversation.title, () => check(conversation, join(folder, `${topic}-${at}`, "bot.token")));
    }
  });
}
