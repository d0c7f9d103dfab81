// Write a bot for the Arena: extend Bot, call run. README.md is the introduction.

export { Bot, type Choices } from "./bot.js";
export type { OnError } from "./caller.js";
export { main } from "./command.js";
export { type Action, type Card, type Catalog, Decision, GAMES, type View } from "./decision.js";
export * from "./errors.js";
export { type Level, type Logger, logFrom, logTo } from "./log.js";
export { type Conduct, conductOf, type MatchReport, type MatchStart, type Notice, type RoundReport, type Welcome } from "./messages.js";
export * as nullern from "./nullern.js";
export type { Options } from "./options.js";
export { run } from "./running.js";
export * as sixthSense from "./sixth_sense.js";
export type { NullernRound, NullernView } from "./v1/arena/v1/nullern_pb.js";
export { Interruption, MatchKind, NoticeKind } from "./v1/arena/v1/play_pb.js";
export type { SixthSenseRound, SixthSenseView } from "./v1/arena/v1/sixth_sense_pb.js";
export { VERSION } from "./version.js";
