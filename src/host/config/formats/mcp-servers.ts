/** Clients whose files have `mcpServers` and differ mostly in their placeholders. */

import { braced, editorLike, literal, shellLike } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext } from '../format.ts'
import { type EntryShape, readEntries, readEntry } from '../read-entry.ts'

type Shape = Omit<EntryShape, 'translate'> & {
  client: string
  translate: (reading: FormatContext) => EntryShape['translate']
  /** The file also has other settings of the client, so unknown members are not reported. */
  isAmongSettings?: boolean
}

const mcpServers = ({ client, translate, isAmongSettings, ...shape }: Shape): ConfigFormat => ({
  client,
  read: (document, reading) => {
    const entryShape = { ...shape, translate: translate(reading) }
    readEntries(document.inner('mcpServers'), reading, (entry) => readEntry(entry, entryShape, reading.problem))
    if (!isAmongSettings) document.finish(reading.problem)
  },
})

const editor = ({ folders: places }: FormatContext) => editorLike(places)

export const claudeDesktop = mcpServers({ client: 'Claude Desktop', translate: () => literal, isAmongSettings: true })

export const cursor = mcpServers({ client: 'Cursor', translate: editor, passed: ['name', 'icon'] })

export const windsurf = mcpServers({
  client: 'Windsurf',
  translate: editor,
  urls: ['serverUrl', 'url'],
  passed: ['disabledTools', 'registry', 'serverId'],
})

export const kiro = mcpServers({ client: 'Kiro', translate: () => braced(), passed: ['disabledTools'], isAmongSettings: true })

export const gemini = mcpServers({
  client: 'Gemini CLI',
  translate: () => shellLike,
  urls: ['httpUrl', 'url'],
  passed: ['includeTools', 'excludeTools', 'extension'],
  isAmongSettings: true,
})

export const antigravity = mcpServers({
  client: 'Antigravity',
  translate: () => literal,
  urls: ['serverUrl', 'url'],
  passed: ['disabledTools'],
})

export const amazonQ = mcpServers({ client: 'Amazon Q', translate: editor, passed: ['disabledTools'], isAmongSettings: true })

export const cline = mcpServers({
  client: 'Cline',
  translate: editor,
  timeoutUnitMs: 1000,
  passed: ['networkTimeout', 'remoteConfigured'],
})
