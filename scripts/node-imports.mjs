/**
 * A build step: modules that need Node are imported by a name that `imports` in package.json resolves. Bundles for browsers and Workers
 * get something else for these names, so they contain neither undici nor modules of Node.
 */

import { resolve } from 'node:path'

/** The modules that are loaded on use, by the name in `imports`. Each is a file in `dist/node`. */
export const NODE_MODULES = {
  dispatcher: 'src/http/client/dispatcher/undici.ts',
  listen: 'src/http/server/listen.ts',
  'shared-sessions': 'src/http/server/shared/shared-sessions.ts',
  'shared-limits': 'src/http/server/limits/shared-limits.ts',
  'caller-values': 'src/http/server/shared/caller-values.ts',
  'process-metrics': 'src/observability/metrics/process-metrics.ts',
  stdio: 'src/stdio/index.ts',
  'checked-connect': 'src/auth/fetch/node/checked-connect.ts',
  'file-store': 'src/auth/store/node/file-store.ts',
  'keychain-store': 'src/auth/store/node/keychain-store.ts',
  browser: 'src/auth/client/login/node/browser.ts',
  loopback: 'src/auth/client/login/node/loopback.ts',
  skills: 'src/server/skills/support.ts',
  'task-files': 'src/tasks/node/task-files.ts',
}

/** What bundles for browsers and Workers get. Each is a file in `dist/web`. */
export const WEB_MODULES = {
  dispatcher: 'src/http/client/dispatcher/fetch.ts',
  'plain-connect': 'src/auth/fetch/plain-connect.ts',
  'needs-node': 'src/protocol/needs-node.ts',
}

export const nodeImports = (root) => {
  const names = new Map(Object.entries(NODE_MODULES).map(([name, file]) => [resolve(root, file), name]))
  return {
    name: 'node-imports',
    async resolveId(source, importer, { kind }) {
      if (kind !== 'dynamic-import' || importer === undefined || !source.startsWith('.')) return null
      const name = names.get(resolve(importer, '..', source))
      return name === undefined ? null : { id: `#node/${name}`, external: true }
    },
  }
}
