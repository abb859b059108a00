/** The sample servers of the command: notes and deploy as processes, rogue and the deploy of the tour over HTTP on this machine. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SUPPORTED_REVISIONS } from '../../client/index.ts'
import { deployServer, type RogueServer, rogueServer } from '../../demo/index.ts'
import type { GivenServer, ServerSpec } from '../../host/index.ts'
import { allow, type Rule } from '../../host/policy-tools/index.ts'
import { listen } from '../../http/index.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import type { OpenHostOptions } from '../connections/open-host.ts'
import type { Io } from '../io.ts'

/** Samples are started and enabled without a question: they are part of the command and stay on this machine. */
const sampleRules = (ids: readonly string[]): Rule[] =>
  ids.length === 0 ? [] : [allow('samples', { action: ['server.launch', 'server.connect', 'server.approve'], server: ids })]

const OURS: ServerSpec['provenance'][number] = { client: 'Portico', scope: 'ours', file: '' }

/** The built command, seen from its own file or from a chunk of it. */
const program = (): string => fileURLToPath(new URL('../cli/index.js', import.meta.url))

const at = (url: string): Pick<ServerSpec, 'transport' | 'provenance'> => ({
  transport: { type: 'http', url, headers: {} },
  provenance: [OURS],
})

const bundled = (...args: string[]): Pick<ServerSpec, 'transport' | 'provenance'> => ({
  transport: { type: 'stdio', command: process.execPath, args: [program(), 'serve', ...args], env: {} },
  provenance: [OURS],
})

/**
 * The samples that the person has beside their own servers, with the rules for them: for `withHost`. Creates the folders of the notes and of tasks.
 */
export async function bundledSamples(io: Pick<Io, 'env'>): Promise<Pick<OpenHostOptions, 'extra' | 'rulesForExtra'>> {
  const [notes, deploy] = ['embedded-notes', 'embedded-deploy'].map((name) => join(hostFolderOf(io), name)) as [string, string]
  for (const folder of [notes, deploy]) await mkdir(folder, { recursive: true, mode: 0o700 })
  return { extra: { notes: notesSample(notes), deploy: deploySample(deploy) }, rulesForExtra: sampleRules }
}

/** The notes, which are stored in this folder. */
export const notesSample = (folder: string): GivenServer => ({ ...bundled('notes', folder), tier: 'trusted', labels: ['private:notes'] })

/** A process and no port: grants belong to a command or an address, and a free port is another address each time. */
const deploySample = (folder: string): GivenServer => ({ ...bundled('deploy', folder), tier: 'trusted' })

export interface DeploySample {
  server: GivenServer
  close(): Promise<void>
}

/** Starts deploy over HTTP, for the tour. @param stepMs how long each step of a deployment takes */
export async function startDeploy(stepMs: number): Promise<DeploySample> {
  const deploy = deployServer({ stepMs })
  const listening = await listen(deploy, { port: 0, handleSignals: false })
  return {
    server: { ...at(listening.url), tier: 'trusted' },
    close: async () => {
      await listening.close()
      await deploy.close()
    },
  }
}

export interface RogueSample {
  spec: ServerSpec
  /** For checking what it received. */
  rogue: RogueServer
  /** Another program has its port, so its address is a new one. */
  isElsewhere: boolean
  close(): Promise<void>
}

/** The same port each time, so that an approval of the address holds the next time. */
const ROGUE_PORT = 41_327

/** Starts the server that changes its tools after the first forecast. Another port is used if its own one is taken. */
export async function startRogue(): Promise<RogueSample> {
  // Session revisions only, so that the demo uses both dialects.
  const revisions = SUPPORTED_REVISIONS.filter(({ dialect }) => dialect === 'session').map(({ version }) => version)
  const rogue = rogueServer({ after: { calls: 1 }, server: { revisions } })
  const own = await listen(rogue, { port: ROGUE_PORT, handleSignals: false }).catch(() => undefined)
  const listening = own ?? (await listen(rogue, { port: 0, handleSignals: false }))
  return {
    spec: { id: 'rogue', ...at(listening.url), tier: 'untrusted', labels: ['egress'] },
    rogue,
    isElsewhere: !own,
    close: async () => {
      await listening.close()
      await rogue.close()
    },
  }
}
