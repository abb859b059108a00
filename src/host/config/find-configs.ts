/** Finds the configuration files of the clients on this machine. Files are only looked for, not read. */

import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ConfigProvenance } from '../model/server-spec.ts'
import type { ConfigFormat } from './format.ts'
import { claudeCode, claudeCodePlugin, claudeCodeState } from './formats/claude-code.ts'
import { codex } from './formats/codex.ts'
import { continueDev } from './formats/continue.ts'
import { goose } from './formats/goose.ts'
import { librechat } from './formats/librechat.ts'
import { amazonQ, antigravity, claudeDesktop, cline, cursor, gemini, kiro, windsurf } from './formats/mcp-servers.ts'
import { opencode } from './formats/opencode.ts'
import { devcontainer, vscode, vscodeSettings } from './formats/vscode.ts'
import { zed } from './formats/zed.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'

export interface FindConfigsOptions {
  /** The home directory. Default: the user's. */
  home?: string
  /** The project folder. Default: none; only files of the user and the administrator are found. */
  project?: string
  /** Default: the platform of this process. */
  platform?: NodeJS.Platform
  /** `%APPDATA%` on Windows. Default: `AppData/Roaming` in the home directory. */
  appData?: string
  /** The folder that contains the administrator's files. Default: the root of the file system. */
  system?: string
  limits?: Partial<ConfigLimits>
}

export interface FoundConfig {
  file: string
  client: string
  scope: ConfigProvenance['scope']
  format: ConfigFormat
}

type Place = [format: ConfigFormat, scope: ConfigProvenance['scope'], ...path: string[]]

/**
 * Finds the configuration files of all known clients. The order is fixed: administrator, user, project.
 *
 * @example
 * for (const { client, file } of await findClientConfigs({ project: process.cwd() })) console.log(client, file)
 */
export async function findClientConfigs(places: FindConfigsOptions = {}): Promise<FoundConfig[]> {
  const { maxFiles } = withDefaults(DEFAULT_CONFIG_LIMITS, places.limits)
  const home = resolve(places.home ?? homedir())
  const known = [...managedPlaces(places), ...userPlaces(home, places), ...(await pluginPlaces(home, maxFiles))]
  if (places.project !== undefined) known.push(...projectPlaces(resolve(places.project)))
  const found: FoundConfig[] = []
  const seen = new Set<string>()
  for (const [format, scope, ...path] of known) {
    const file = join(...path)
    const stats = await stat(file).catch(() => undefined)
    // If the project is the home directory, some files are listed twice.
    if (!stats?.isFile() || seen.has(file)) continue
    seen.add(file)
    found.push({ file, client: format.client, scope, format })
    if (found.length >= maxFiles) break
  }
  return found
}

/** A file in which a client keeps its servers, whether it exists or not. */
export interface ConfigPlace {
  client: string
  scope: ConfigProvenance['scope']
  file: string
}

/** The places of the user's files and of the project's files, the preferred file of a client first. */
export function clientConfigPlaces(places: FindConfigsOptions = {}): ConfigPlace[] {
  const home = resolve(places.home ?? homedir())
  const known = [...userPlaces(home, places), ...(places.project === undefined ? [] : projectPlaces(resolve(places.project)))]
  return known.map(([{ client }, scope, ...path]) => ({ client, scope, file: join(...path) }))
}

function managedPlaces({ platform = process.platform, system }: FindConfigsOptions): Place[] {
  if (platform === 'win32') return [[claudeCode, 'managed', system ?? 'C:\\', 'Program Files', 'ClaudeCode', 'managed-mcp.json']]
  if (platform === 'darwin')
    return [[claudeCode, 'managed', system ?? '/', 'Library', 'Application Support', 'ClaudeCode', 'managed-mcp.json']]
  return [[claudeCode, 'managed', system ?? '/', 'etc', 'claude-code', 'managed-mcp.json']]
}

function userPlaces(home: string, { platform = process.platform, appData }: FindConfigsOptions): Place[] {
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
/** Folders inside plugins that never contain a plugin's own configuration. */
const NOT_LOOKED_INTO = new Set(['node_modules', '.git'])

/** Searches for plugins below one folder. Links are not followed, so that the walk ends. */
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
