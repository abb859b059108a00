/** The sample servers of the command: one as a process, two over HTTP on this machine. */

import { fileURLToPath } from 'node:url'
import { SUPPORTED_REVISIONS } from '../../client/index.ts'
import { deployServer, type RogueServer, rogueServer } from '../../demo/index.ts'
import type { ConfigProvenance } from '../../host/index.ts'
import { allow, type GivenServer, type Rule, type ServerSpec } from '../../host/index.ts'
import { listen } from '../../http/index.ts'

export interface Embedded {
  servers: Readonly<Record<'notes' | 'deploy' | 'rogue', GivenServer>>
  /** The rogue server itself, so that the demo can check which data it received. */
  rogue: RogueServer
  close(): Promise<void>
}

export interface EmbeddedOptions {
  /** Where notes are stored. */
  notesFolder: string
  /** How long each step of a deployment takes. */
  stepMs?: number
}

/** Sample servers start without a question: they are part of the command and stay on this machine. The rogue still needs approval. */
export const embeddedRules = (ids: readonly string[]): Rule[] => {
  const known = ids.filter((id) => id !== 'rogue')
  return [
    ...(ids.length > 0 ? [allow('embedded-start', { action: ['server.launch', 'server.connect'], server: ids })] : []),
    ...(known.length > 0 ? [allow('embedded-approve', { action: 'server.approve', server: known })] : []),
  ]
}

const OURS: ConfigProvenance = { client: 'Portico', scope: 'ours', file: '' }

/** The built command, seen from its own file or from a chunk of it. */
const program = (): string => fileURLToPath(new URL('../cli/index.js', import.meta.url))

export async function startEmbedded({ notesFolder, stepMs = 500 }: EmbeddedOptions): Promise<Embedded> {
  const deploy = deployServer({ stepMs })
  // Session revisions only, so that the demo uses both dialects.
  const versions = SUPPORTED_REVISIONS.filter(({ dialect }) => dialect === 'session').map(({ version }) => version)
  const rogue = rogueServer({ after: { calls: 1 }, server: { revisions: versions } })
  const listening = [await listen(deploy, { port: 0, handleSignals: false }), await listen(rogue, { port: 0, handleSignals: false })]
  const [deployUrl = '', rogueUrl = ''] = listening.map(({ url }) => url)
  const at = (url: string): Pick<ServerSpec, 'transport' | 'provenance'> => ({
    transport: { type: 'http', url, headers: {} },
    provenance: [OURS],
  })
  return {
    servers: {
      notes: {
        transport: { type: 'stdio', command: process.execPath, args: [program(), 'serve', 'notes', notesFolder], env: {} },
        tier: 'trusted',
        labels: ['private:notes'],
        provenance: [OURS],
      },
      deploy: { ...at(deployUrl), tier: 'trusted' },
      rogue: { ...at(rogueUrl), tier: 'untrusted', labels: ['egress'] },
    },
    rogue,
    close: async () => {
      await Promise.all(listening.map((each) => each.close()))
      await Promise.all([deploy.close(), rogue.close()])
    },
  }
}
