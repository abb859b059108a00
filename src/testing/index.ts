/** portico/testing: tools to test servers and clients in one process. */

export { type TappedMessage, tapTarget } from '../client/tap-target.ts'
export { checkMessage, type MessageFacts, type MessageViolation } from './check-message.ts'
export { type CheckStoreOptions, checkStore } from './check-store.ts'
export { checkTaskStore } from './check-task-store.ts'
export { everythingServer } from './everything.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type Pair, type PairOptions, pair, record, type WireMessage } from './pair.ts'
export { type Rehearsal, type RehearseOptions, rehearse } from './rehearse.ts'
export { type ScriptedOptions, scriptedModel } from './scripted-model/model.ts'
export type { Difference } from './transcript/difference.ts'
export { Playback } from './transcript/playback.ts'
export { type ProxyOptions, proxyStdio } from './transcript/proxy.ts'
export {
  compareTranscripts,
  type RecordedExchange,
  type ReplayedExchange,
  type ReplayOptions,
  type ReplayResult,
  type ReplaySender,
  replayTranscript,
  type TranscriptComparison,
} from './transcript/replay.ts'
export { type ServePlaybackOptions, servePlayback } from './transcript/serve-playback.ts'
export { type Heading, headingLine, messageLine, parseTranscript, type Transcript } from './transcript/transcript-file.ts'
