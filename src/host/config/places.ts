/** Where the clients of a machine keep their configuration. Looking is all that is done. */

import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ConfigProvenance } from '../model/server-spec.ts'
import type { Dialect } from './dialect.ts'
import { claudeCode, claudeCodePlugin, claudeCodeState } from './dialects/claude-code.ts'
import { codex } from './dialects/codex.ts'
import { continueDev } from './dialects/continue.ts'
import { goose } from './dialects/goose.ts'
import { librechat } from './dialects/librechat.ts'
import { amazonQ, antigravity, claudeDesktop, cline, cursor, gemini, kiro, windsurf } from './dialects/mcp-servers.ts'
import { opencode } from './dialects/opencode.ts'
import { devcontainer, vscode, vscodeSettings } from './dialects/vscode.ts'
import { zed } from './dialects/zed.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'

export interface MachinePlaces {
  /** The default is that of the user. */
  home?: string
  /** The folder that the person works in; without it only what is the user's is looked for. */
  project?: string
  /** The default is that of this process. */
  platform?: NodeJS.Platform
  /** `%APPDATA%` of Windows. */
  appData?: string
  /** Where the files of the administrator are; the default is the root of the file system. */
  system?: string
  limits?: Partial<ConfigLimits>
}

export interface FoundConfig {
  file: string
  client: string
  scope: ConfigProvenance['scope']
  dialect: Dialect
}

type Place = [dialect: Dialect, scope: ConfigProvenance['scope'], ...path: string[]]

/** The files that are there, in an order that is always the same: the administrator, the user, the project. */
export async function findClientConfigs(places: MachinePlaces = {}): Promise<FoundConfig[]> {
  const { maxFiles } = withDefaults(DEFAULT_CONFIG_LIMITS, places.limits)
  const home = resolve(places.home ?? homedir())
  const known = [...managedPlaces(places), ...userPlaces(home, places), ...(await pluginPlaces(home, maxFiles))]
  if (places.project !== undefined) known.push(...projectPlaces(resolve(places.project)))
  const found: FoundConfig[] = []
  const seen = new Set<string>()
  for (const [dialect, scope, ...path] of known) {
    const file = join(...path)
    const stats = await stat(file).catch(() => undefined)
    // A home that is also the project has each file twice.
    if (!stats?.isFile() || seen.has(file)) continue
    seen.add(file)
    found.push({ file, client: dialect.client, scope, dialect })
    if (found.length >= maxFiles) break
  }
  return found
}

function managedPlaces({ platform = process.platform, system }: MachinePlaces): Place[] {
  if (platform === 'win32') return [[claudeCode, 'managed', system ?? 'C:\\', 'Program Files', 'ClaudeCode', 'managed-mcp.json']]
  if (platform === 'darwin')
    return [[claudeCode, 'managed', system ?? '/', 'Library', 'Application Support', 'ClaudeCode', 'managed-mcp.json']]
  return [[claudeCode, 'managed', system ?? '/', 'etc', 'claude-code', 'managed-mcp.json']]
}

function userPlaces(home: string, { platform = process.platform, appData }: MachinePlaces): Place[] {
  const isWindows = platform === 'win32'
  const config = join(home, '.config')
  const roaming = appData ?? join(home, 'AppData', 'Roaming')
  const support = isWindows ? roaming : platform === 'darwin' ? join(home, 'Library', 'Application Support') : config
  const editors = ['Code', 'Code - Insiders'].flatMap((name): Place[] => [
    [vscode, 'user', support, name, 'User', 'mcp.json'],
    [vscodeSettings, 'user', support, name, 'User', 'settings.json'],
    [cline, 'user', support, name, 'User', 'globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'],
  ])
  return [
    [claudeDesktop, 'user', support, 'Claude', 'claude_desktop_config.json'],
    [claudeCodeState, 'user', home, '.claude.json'],
    ...editors,
    [cursor, 'user', home, '.cursor', 'mcp.json'],
    [windsurf, 'user', home, '.codeium', 'windsurf', 'mcp_config.json'],
    [kiro, 'user', home, '.kiro', 'settings', 'mcp.json'],
    [gemini, 'user', home, '.gemini', 'settings.json'],
    [antigravity, 'user', home, '.gemini', 'antigravity', 'mcp_config.json'],
    [amazonQ, 'user', home, '.aws', 'amazonq', 'mcp.json'],
    isWindows ? [goose, 'user', roaming, 'Block', 'goose', 'config', 'config.yaml'] : [goose, 'user', config, 'goose', 'config.yaml'],
    [codex, 'user', home, '.codex', 'config.toml'],
    [continueDev, 'user', home, '.continue', 'config.yaml'],
    [opencode, 'user', config, 'opencode', 'opencode.json'],
    [opencode, 'user', config, 'opencode', 'opencode.jsonc'],
    [zed, 'user', isWindows ? join(roaming, 'Zed') : join(config, 'zed'), 'settings.json'],
  ]
}

const projectPlaces = (project: string): Place[] => [
  [claudeCode, 'project', project, '.mcp.json'],
  [vscode, 'project', project, '.vscode', 'mcp.json'],
  [vscodeSettings, 'project', project, '.vscode', 'settings.json'],
  [devcontainer, 'project', project, '.devcontainer', 'devcontainer.json'],
  [devcontainer, 'project', project, '.devcontainer.json'],
  [cursor, 'project', project, '.cursor', 'mcp.json'],
  [kiro, 'project', project, '.kiro', 'settings', 'mcp.json'],
  [gemini, 'project', project, '.gemini', 'settings.json'],
  [amazonQ, 'project', project, '.amazonq', 'mcp.json'],
  [codex, 'project', project, '.codex', 'config.toml'],
  [opencode, 'project', project, 'opencode.json'],
  [opencode, 'project', project, 'opencode.jsonc'],
  [zed, 'project', project, '.zed', 'settings.json'],
  [librechat, 'project', project, 'librechat.yaml'],
]

const MAX_PLUGIN_DEPTH = 6
const MAX_PLUGIN_FOLDERS = 2000
/** What plugins bring along and is not theirs. */
const NOT_LOOKED_INTO = new Set(['node_modules', '.git'])

/** Plugins are somewhere below one folder. Links are not followed, so that the walk ends. */
async function pluginPlaces(home: string, maxFiles: number): Promise<Place[]> {
  const found: Place[] = []
  let level = [join(home, '.claude', 'plugins', 'cache')]
  let seen = 0
  for (let depth = 0; depth < MAX_PLUGIN_DEPTH && level.length > 0; depth++) {
    const next: string[] = []
    for (const folder of level) {
      if (++seen > MAX_PLUGIN_FOLDERS || found.length >= maxFiles) return found
      for (const entry of await namesIn(folder)) {
        if (entry.isDirectory() && !NOT_LOOKED_INTO.has(entry.name)) next.push(join(folder, entry.name))
        else if (entry.isFile() && entry.name === '.mcp.json') found.push([claudeCodePlugin, 'user', folder, entry.name])
      }
    }
    level = next
  }
  return found
}

async function namesIn(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}
