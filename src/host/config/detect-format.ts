/** Detects which client a configuration file belongs to, first by its path, then by its content. */

import { basename, dirname, extname } from 'node:path'
import type { ConfigFormat } from './format.ts'
import { claudeCode, claudeCodeState } from './formats/claude-code.ts'
import { codex } from './formats/codex.ts'
import { continueDev } from './formats/continue.ts'
import { goose } from './formats/goose.ts'
import { librechat } from './formats/librechat.ts'
import { amazonQ, antigravity, claudeDesktop, cline, cursor, gemini, kiro, windsurf } from './formats/mcp-servers.ts'
import { opencode } from './formats/opencode.ts'
import { mcpServersFile } from './formats/portico.ts'
import { registry } from './formats/registry.ts'
import { devcontainer, vscode, vscodeSettings } from './formats/vscode.ts'
import { zed } from './formats/zed.ts'
import type { Syntax } from './parse-document.ts'
import { isObject } from './read-members.ts'

export function detectSyntax(file: string): Syntax {
  const extension = extname(file).toLowerCase()
  if (extension === '.toml') return 'toml'
  return extension === '.yaml' || extension === '.yml' ? 'yaml' : 'json'
}

/** File names, and file names with their folder, that only one client uses. */
const BY_PATH: ReadonlyMap<string, ConfigFormat> = new Map([
  ['.mcp.json', claudeCode],
  ['managed-mcp.json', claudeCode],
  ['.claude.json', claudeCodeState],
  ['claude_desktop_config.json', claudeDesktop],
  ['cline_mcp_settings.json', cline],
  ['devcontainer.json', devcontainer],
  ['.devcontainer.json', devcontainer],
  ['.cursor/mcp.json', cursor],
  ['.vscode/mcp.json', vscode],
  ['User/mcp.json', vscode],
  ['.vscode/settings.json', vscodeSettings],
  ['User/settings.json', vscodeSettings],
  ['windsurf/mcp_config.json', windsurf],
  ['antigravity/mcp_config.json', antigravity],
  ['settings/mcp.json', kiro],
  ['.gemini/settings.json', gemini],
  ['amazonq/mcp.json', amazonQ],
  ['.amazonq/mcp.json', amazonQ],
  ['zed/settings.json', zed],
  ['.zed/settings.json', zed],
])

export function detectFormat(file: string, document: unknown): ConfigFormat {
  const name = basename(file)
  return BY_PATH.get(name) ?? BY_PATH.get(`${basename(dirname(file))}/${name}`) ?? detectByShape(document)
}

/**
 * Never returns our own format: a project may contain a file of that shape, and it must not be trusted. A file of unknown shape is read
 * as the most common format, so that the reader can report what is wrong with it.
 */
function detectByShape(document: unknown): ConfigFormat {
  if (!isObject(document)) return mcpServersFile
  const { mcpServers, mcp } = document
  if (isObject(document.mcp_servers)) return codex
  if (isObject(document.extensions)) return goose
  if (Array.isArray(mcpServers)) return continueDev
  if (isObject(document.context_servers)) return zed
  if (isObject(mcpServers)) {
    if (isObject(document.projects)) return claudeCodeState
    return isLibreChat(document) ? librechat : mcpServersFile
  }
  if (isObject(document.servers)) return vscode
  if (isObject(document.customizations)) return devcontainer
  if (isObject(mcp)) return isObject(mcp.servers) || Array.isArray(mcp.inputs) ? vscodeSettings : opencode
  const inner = isObject(document.server) ? document.server : document
  return Array.isArray(inner.packages) || Array.isArray(inner.remotes) ? registry : mcpServersFile
}

const isLibreChat = (document: Record<string, unknown>): boolean =>
  ['endpoints', 'registration', 'interface', 'mcpSettings'].some((name) => name in document)
