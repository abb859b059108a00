/** Starts the agent with a model that needs no network. Open the printed address in a browser. */

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { scriptedModel } from 'portico/testing'
import { startAgent } from './agent.ts'

const { url } = await startAgent({ model: scriptedModel(), folder: await mkdtemp(`${tmpdir()}/portico-agent-`), port: 4000 })
console.log(`Open ${url}`)
