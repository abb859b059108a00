/** portico/testing: tools to test servers and clients in one process. */

export { type TappedMessage, tapTarget } from '../client/tap-target.ts'
export { everythingServer } from './everything.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type Pair, type PairOptions, pair, record, type WireMessage } from './pair.ts'
export { type Rehearsal, type RehearseOptions, rehearse } from './rehearse.ts'
export { type ScriptedOptions, scriptedModel } from './scripted-model/model.ts'
export { Playback } from './transcript/playback.ts'
export { type ProxyOptions, proxyStdio } from './transcript/proxy.ts'
export { type ServePlaybackOptions, servePlayback } from './transcript/serve-playback.ts'
