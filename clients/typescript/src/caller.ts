// Calls the bot's own code for each message and returns its answers, without any input or output.

import { create } from "@bufbuild/protobuf";

import type { Bot } from "./bot.js";
import { type Catalog, Decision, decisionOf } from "./decision.js";
import { ArgumentError, BadAnswerError } from "./errors.js";
import { log } from "./log.js";
import { plain } from "./messages.js";
import type { Questions } from "./questions.js";
import { AnswerSchema, NoticeKind, type PlayRequest, PlayRequestSchema, type PlayResponse } from "./v1/arena/v1/play_pb.js";

/** Maximum milliseconds that finished answers wait for further answers before they are sent. */
export const HOLD = 10;

/** Effect of an error in the bot: end the run, or log it and play the first legal action. */
export type OnError = "raise" | "continue";

/** Thrown instead of calling the bot's own code once the program must stop. */
export class Interrupted extends Error {}

/** Caller of a bot's methods, one call at a time. */
export class Caller {
  #out: PlayRequest | undefined;
  /** The time when the pending message was created, or its last part was sent. */
  #since = 0;
  #mayThink = true;

  /** `clock`: returns the milliseconds of the clock that measures arrivals. `pause` is awaited after the bot's code has run, so that messages
   * can arrive. */
  constructor(
    private readonly bot: Bot,
    private readonly onError: OnError,
    private readonly clock: () => number,
    private readonly pause: () => Promise<void> = async () => {},
  ) {
    if (onError !== "raise" && onError !== "continue") {
      throw new ArgumentError(`onError is ${JSON.stringify(onError)}: it is "raise" or "continue"`);
    }
  }

  /** Stop calling the bot; further calls throw Interrupted. */
  interrupt(): void {
    this.#mayThink = false;
  }

  /**
   * Yield the bot's replies to a message: no reply, one, or several if the bot takes long.
   *
   * `questions`: the open decisions of the stream; the bot is not asked about closed ones. `received`: when the message
   * arrived, by the clock. If `decide` is false, the bot is not asked for decisions. Throws the bot's exceptions (unless it
   * continues after errors), BadAnswerError and ProtocolMismatchError.
   */
  async *react(
    message: PlayResponse, games: ReadonlyMap<string, Catalog>, questions: Questions, received: number, decide = true,
  ): AsyncGenerator<PlayRequest> {
    this.#since = this.clock();
    yield* this.#news(message, questions);
    if (decide && message.decisions.length) {
      const decisions = message.decisions.map((each) => decisionOf(each, games, questions.find(each.matchId, each.decisionId)));
      yield* this.#answers(decisions, questions, received);
    }
    if (this.#out !== undefined) yield this.#take();
    await this.pause();
  }

  *#news(message: PlayResponse, questions: Questions): Generator<PlayRequest> {
    const { welcome } = message;
    if (welcome !== undefined) this.#tell(() => this.bot.onWelcome(plain(welcome)));
    for (const start of message.starts) this.#tell(() => this.bot.onMatchStart(plain(start)));
    for (const round of message.rounds) this.#tell(() => this.bot.onRound(plain(round)));
    for (const report of message.reports) this.#tell(() => this.bot.onMatchEnd(plain(report)));
    for (const notice of message.notices) {
      this.#tell(() => this.bot.onNotice(plain(notice)));
      if (notice.kind === NoticeKind.SUSPENDED && notice.matchId !== undefined && questions.plays(notice.matchId)) {
        this.#reply().resumed.push(notice.matchId); // a bot that receives this notice is back
      }
      if (this.#held()) yield this.#take();
    }
  }

  async *#answers(asked: Decision[], questions: Questions, received: number): AsyncGenerator<PlayRequest> {
    const isOpen = ({ closed }: Decision) => !closed;
    let decisions = asked.filter(isOpen);
    const arrived = new Map(decisions.map((each) => [each, [each.softMs, each.bankMs]]));
    const tellTime = (decision: Decision) => {
      const [soft, bank] = arrived.get(decision)!;
      const passed = Math.max(0, Math.round(this.clock() - received));
      decision.softMs = Math.max(0, soft - passed);
      decision.bankMs = Math.max(0, bank - Math.max(0, passed - soft));
    };
    while (decisions.length) {
      let done = 0;
      decisions.forEach(tellTime);
      try {
        this.#think();
        const given = await this.bot.decideMany(decisions);
        const choices = Symbol.asyncIterator in given ? given[Symbol.asyncIterator]() : given[Symbol.iterator]();
        for (const decision of decisions) {
          tellTime(decision);
          this.#think();
          const choice = await nextOf(choices);
          await this.pause();
          if (choice !== null || isOpen(decision)) {
            this.#answer(decision, checked(decision, choice, done + 1, decisions.length), questions);
          }
          done += 1;
          if (this.#held()) yield this.#take();
        }
        if ((await nextOf(choices)) !== undefined) {
          throw new BadAnswerError(`decideMany() gave more than ${done} answers to ${done} decisions`);
        }
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        const left = decisions.slice(done).filter(isOpen);
        if (error instanceof Error && error.name === "AbortError" && left.length < decisions.length - done) {
          decisions = left; // the bot passed on the signal of a closed decision
          continue;
        }
        const where = whereOf(decisions[Math.min(done, decisions.length - 1)], decisions.length);
        if (this.onError === "raise") {
          // An assignment would fail, because the message of a DOMException is read-only.
          if (error instanceof Error) Object.defineProperty(error, "message", { value: `${error.message}\n${where}`, configurable: true });
          throw error;
        }
        log.error(`the bot failed; its first legal action is played instead: ${stackOf(error)}\n${where}`);
        if (done < decisions.length) {
          this.#answer(decisions[done], decisions[done].legal[0], questions);
          done += 1;
          if (this.#held()) yield this.#take();
        }
      }
      decisions = decisions.slice(done);
    }
  }

  #answer({ decisionId, wireMatchId: matchId, closed }: Decision, action: number, questions: Questions): void {
    if (closed && !questions.plays(matchId)) return; // in a running match a late answer gets a notice that says how late it is
    questions.close(matchId, decisionId);
    this.#reply().answers.push(create(AnswerSchema, { matchId, decisionId, action }));
  }

  /** Call a method of the bot that returns no answer. */
  #tell(call: () => void): void {
    this.#think();
    try {
      call();
    } catch (error) {
      if (this.onError === "raise") throw error;
      log.error(`the bot failed outside a decision: ${stackOf(error)}`);
    }
  }

  #think(): void {
    if (!this.#mayThink) throw new Interrupted("the bot was told to stop");
  }

  #reply(): PlayRequest {
    return (this.#out ??= create(PlayRequestSchema));
  }

  #take(): PlayRequest {
    const reply = this.#reply();
    this.#out = undefined;
    this.#since = this.clock();
    return reply;
  }

  /** Return true if the pending reply has waited long enough. */
  #held(): boolean {
    return this.#out !== undefined && this.clock() - this.#since > HOLD;
  }
}

async function nextOf(choices: Iterator<unknown> | AsyncIterator<unknown>): Promise<unknown> {
  const next = await choices.next();
  return next.done ? undefined : await next.value;
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** Return the choice if it is a valid answer; throws BadAnswerError. */
function checked(decision: Decision, choice: unknown, count: number, of: number): number {
  if (typeof choice !== "number" || !Number.isInteger(choice)) {
    const shown = typeof choice === "string" ? JSON.stringify(choice) : String(choice);
    throw new BadAnswerError(`answer ${count} of ${of} is ${shown}: an answer is an action, one of decision.legal`);
  }
  if (!decision.legal.includes(choice)) {
    throw new BadAnswerError(`answer ${count} of ${of} is ${choice}, which is not legal here; decision.legal is [${decision.legal.join(", ")}]`);
  }
  return choice;
}

/** Describe a decision and the bot's view. */
function whereOf({ matchId, game, view, decisionId, legal }: Decision, of: number): string {
  const { $typeName, ...fields } = view;
  const other = $typeName === "google.protobuf.Any";
  const seen = other
    ? `${view.typeUrl} ${Buffer.from(view.value).toString("hex")}`
    : JSON.stringify(fields, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  const batch = of === 1 ? "" : `, the first unanswered of ${of}`;
  const round = other ? "" : `round ${view.round + 1}, `;
  return `in match ${matchId} of ${game.name}, ${round}decision ${decisionId}${batch}; legal: [${legal.join(", ")}]; view: ${seen}`;
}
