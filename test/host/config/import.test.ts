// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** What the other clients of a machine have: found, merged, flagged, and left as it is. */

import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findClientConfigs } from '../../../src/host/config/find-configs.ts'
import { readClientConfigs } from '../../../src/host/config/read-client-configs.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()
const CANARY = 'ghp_canary8f3kq0Zx7LwP2mN5'

function machine(files: Record<string, unknown>) {
  const root = newFolder()
  for (const [name, content] of Object.entries(files)) {
    const file = join(root, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return {
    root,
    places: { home: join(root, 'home'), project: join(root, 'shop'), system: join(root, 'system'), platform: 'linux' as const },
  }
}

const contentsOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(root, name)).isFile())
      .map((name) => [name, `${statSync(join(root, name)).mtimeMs} ${readFileSync(join(root, name), 'base64')}`]),
  )

const github = { command: 'npx', args: ['-y', 'server-github'], env: { GITHUB_TOKEN: CANARY } }

describe('finding', () => {
  test('the files of every client are found, with their scope', async () => {
    const one = { mcpServers: {} }
    const { places, root } = machine({
      'system/etc/claude-code/managed-mcp.json': one,
      'home/.config/Claude/claude_desktop_config.json': one,
      'home/.claude.json': one,
      'home/.claude/plugins/cache/market/tool/1.0/.mcp.json': {},
      'home/.claude/plugins/cache/market/tool/1.0/node_modules/x/.mcp.json': {},
      'home/.config/Code/User/mcp.json': {},
      'home/.config/Code/User/settings.json': {},
      'home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json': one,
      'home/.cursor/mcp.json': one,
      'home/.codeium/windsurf/mcp_config.json': one,
      'home/.kiro/settings/mcp.json': one,
      'home/.gemini/settings.json': one,
      'home/.gemini/antigravity/mcp_config.json': one,
      'home/.aws/amazonq/mcp.json': one,
      'home/.config/goose/config.yaml': '',
      'home/.codex/config.toml': '',
      'home/.continue/config.yaml': '',
      'home/.config/opencode/opencode.json': {},
      'home/.config/zed/settings.json': {},
      'shop/.mcp.json': one,
      'shop/.vscode/mcp.json': {},
      'shop/.devcontainer/devcontainer.json': {},
      'shop/.cursor/mcp.json': one,
      'shop/opencode.jsonc': {},
      'shop/librechat.yaml': '',
    })
    const found = await findClientConfigs(places)
    expect(found.map(({ file, client, scope }) => `${file.slice(root.length + 1)} ${client}, ${scope}`)).toEqual([
      'system/etc/claude-code/managed-mcp.json Claude Code, managed',
      'home/.config/Claude/claude_desktop_config.json Claude Desktop, user',
      'home/.claude.json Claude Code, user',
      'home/.config/Code/User/mcp.json VS Code, user',
      'home/.config/Code/User/settings.json VS Code, user',
      'home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json Cline, user',
      'home/.cursor/mcp.json Cursor, user',
      'home/.codeium/windsurf/mcp_config.json Windsurf, user',
      'home/.kiro/settings/mcp.json Kiro, user',
      'home/.gemini/settings.json Gemini CLI, user',
      'home/.gemini/antigravity/mcp_config.json Antigravity, user',
      'home/.aws/amazonq/mcp.json Amazon Q, user',
      'home/.config/goose/config.yaml Goose, user',
      'home/.codex/config.toml Codex, user',
      'home/.continue/config.yaml Continue, user',
      'home/.config/opencode/opencode.json opencode, user',
      'home/.config/zed/settings.json Zed, user',
      'home/.claude/plugins/cache/market/tool/1.0/.mcp.json Claude Code, user',
      'shop/.mcp.json Claude Code, project',
      'shop/.vscode/mcp.json VS Code, project',
      'shop/.devcontainer/devcontainer.json VS Code (dev container), project',
      'shop/.cursor/mcp.json Cursor, project',
      'shop/opencode.jsonc opencode, project',
      'shop/librechat.yaml LibreChat, project',
    ])
    expect(await findClientConfigs({ ...places, limits: { maxFiles: 3 } })).toHaveLength(3)
  })

  test('other operating systems have their own places', async () => {
    const { root } = machine({
      'mac/Library/Application Support/Claude/claude_desktop_config.json': {},
      'win/AppData/Roaming/Claude/claude_desktop_config.json': {},
      'win/AppData/Roaming/Code/User/mcp.json': {},
      'win/AppData/Roaming/Block/goose/config/config.yaml': '',
    })
    const on = async (platform: NodeJS.Platform, home: string) =>
      (await findClientConfigs({ home: join(root, home), platform, system: root })).map(({ client }) => client)
    expect(await on('darwin', 'mac')).toEqual(['Claude Desktop'])
    expect(await on('win32', 'win')).toEqual(['Claude Desktop', 'VS Code', 'Goose'])
  })

  test('an empty home, a project that is the home, and plugins that link to themselves cause no error', async () => {
    expect(await findClientConfigs({ home: newFolder(), system: newFolder() })).toEqual([])
    const { root, places } = machine({ 'home/.cursor/mcp.json': { mcpServers: {} }, 'home/.claude/plugins/cache/a/.mcp.json': {} })
    symlinkSync(join(root, 'home'), join(root, 'home/.claude/plugins/cache/a/loop'))
    const found = await findClientConfigs({ ...places, project: places.home })
    expect(found.map(({ client }) => client)).toEqual(['Cursor', 'Claude Code'])
  })
})

describe('reading', () => {
  const { root, places } = machine({
    'home/.cursor/mcp.json': { mcpServers: { github, docs: { url: 'https://docs.example.com' } } },
    'home/.codeium/windsurf/mcp_config.json': {
      mcpServers: { 'github-mcp': { env: { GITHUB_TOKEN: CANARY }, args: ['-y', 'server-github'], command: 'npx' } },
    },
    'home/.claude.json': { mcpServers: { docs: { command: 'docs', disabled: true } }, projects: {} },
    'home/.claude/plugins/cache/m/p/1/.mcp.json': { search: { command: '${CLAUDE_PLUGIN_ROOT}/run', args: ['${KEY}'] } },
    'shop/.mcp.json': '{ "mcpServers": ',
    'shop/.vscode/mcp.json': { servers: { db: { command: '${workspaceFolder}/db', colour: 1 } } },
  })

  test('one server from two clients has two provenances, and two servers of one name stay two', async () => {
    const { servers } = await readClientConfigs(places)
    const seen = servers.map(({ spec }) => [spec.id, spec.provenance.map(({ client, scope }) => `${client}, ${scope}`).join(' + ')])
    expect(seen).toEqual([
      ['docs', 'Claude Code, user'],
      ['github', 'Cursor, user + Windsurf, user'],
      ['docs-cursor', 'Cursor, user'],
      ['search', 'Claude Code, user'],
      ['db', 'VS Code, project'],
    ])
    expect(servers.every(({ spec }) => spec.tier === 'untrusted')).toBe(true)
    expect(servers.map(({ spec }) => spec.transport)).toMatchObject([
      { command: 'docs' },
      { command: 'npx' },
      { url: 'https://docs.example.com' },
      { command: join(root, 'home/.claude/plugins/cache/m/p/1/run'), args: ['${env:KEY}'] },
      { command: join(root, 'shop/db') },
    ])
  })

  test('an import leaves the files unchanged and creates no new ones', async () => {
    const before = contentsOf(root)
    await readClientConfigs(places)
    expect(contentsOf(root)).toEqual(before)
  })

  test('secrets and mistakes in imported files are reported by place, without their values', async () => {
    const { servers, problems } = await readClientConfigs(places)
    expect(servers.flatMap(({ spec, plainSecrets }) => plainSecrets.map(({ where }) => `${spec.id} ${where}`))).toEqual([
      'github env.GITHUB_TOKEN',
    ])
    expect(problems.map(({ file, where }) => `${file.slice(root.length + 1)} ${where}`)).toEqual([
      'shop/.mcp.json ',
      'shop/.vscode/mcp.json servers.db.colour',
    ])
    expect(JSON.stringify([problems, servers.map(({ plainSecrets }) => plainSecrets)])).not.toContain(CANARY)
  })

  test('servers over maxServers are left out, and a problem reports it', async () => {
    const { servers, problems } = await readClientConfigs({ ...places, limits: { maxServers: 2 } })
    expect(servers).toHaveLength(2)
    expect(problems.some(({ text }) => text.includes('maxServers'))).toBe(true)
  })
})
