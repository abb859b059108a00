// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** One file a client, as somebody who uses it has it, and the servers that come out of it. */

import { describe, expect, test } from 'vitest'
import { readText } from '../../../src/host/config/read-config.ts'
import { placeholdersIn } from '../../../src/host/server-command/placeholder.ts'

const HOME = '/home/ada'
const PROJECT = '/home/ada/shop'

function read(file: string, text: string, { isOurs = false, ...options }: { project?: string; isOurs?: boolean } = { project: PROJECT }) {
  const result = readText(text, { file, isOurs }, { home: HOME, ...options })
  return { ...result, byId: Object.fromEntries(result.servers.map((spec) => [spec.id, spec])) }
}

const textsOf = (problems: readonly { where: string; text: string }[]) => problems.map(({ where, text }) => `${where}: ${text}`)

describe('Claude Desktop', () => {
  const FILE = '/home/ada/.config/Claude/claude_desktop_config.json'
  const text = `{
    "globalShortcut": "Ctrl+Space",
    "mcpServers": {
      "filesystem": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/docs"] },
      "weather": { "command": "uv", "args": ["--directory", "/srv/weather", "run", "weather.py"], "env": { "UNITS": "metric", "PORT": 3000 } },
    }
  }`

  test('servers of Claude Desktop are read, with trailing commas, and other settings are ignored', () => {
    const { byId, problems } = read(FILE, text)
    expect(problems).toEqual([])
    expect(byId.filesystem).toEqual({
      id: 'filesystem',
      transport: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/docs'], env: {} },
      tier: 'untrusted',
      provenance: [{ client: 'Claude Desktop', scope: 'user', file: FILE }],
    })
    expect(byId.weather?.transport).toMatchObject({ env: { UNITS: 'metric', PORT: '3000' } })
  })

  test('text like a placeholder stays text, so a Claude Desktop file cannot read the vault', () => {
    const { servers } = read(FILE, '{ "mcpServers": { "a": { "command": "x", "args": ["${secret:github}", "${env:HOME}", "${HOME}"] } } }')
    expect(servers.flatMap(placeholdersIn)).toEqual([])
  })
})

describe('Claude Code', () => {
  test('Claude Code variables and their defaults are placeholders, and its start hooks are not run', () => {
    const { byId, problems } = read(
      '/home/ada/shop/.mcp.json',
      `{ "mcpServers": {
        "api": { "type": "http", "url": "\${API_BASE:-https://api.example.com}/mcp", "headers": { "Authorization": "Bearer \${API_KEY}" } },
        "old": { "type": "sse", "url": "https://old.example.com/sse", "headersHelper": "/opt/get-headers.sh" },
        "db": { "command": "/usr/bin/db", "args": ["--dsn", "\${secret:db}"], "env": { "CACHE": "\${CACHE_DIR:-/tmp}" }, "timeout": 30000 }
      } }`,
    )
    expect(byId.api?.transport).toEqual({
      type: 'http',
      url: '${env:API_BASE:-https://api.example.com}/mcp',
      headers: { Authorization: 'Bearer ${env:API_KEY}' },
    })
    expect(byId.old?.transport).toMatchObject({ url: 'https://old.example.com/sse' })
    expect(byId.db).toMatchObject({
      timeoutMs: 30_000,
      transport: { args: ['--dsn', '${$}{secret:db}'], env: { CACHE: '${env:CACHE_DIR:-/tmp}' } },
    })
    expect(textsOf(problems)).toEqual(['mcpServers.old.headersHelper: Ignored: the program that creates headers is not run'])
  })

  test('the state of Claude Code has servers of the user, and of projects only those of this one', () => {
    const { servers, problems } = read(
      '/home/ada/.claude.json',
      JSON.stringify({
        numStartups: 42,
        mcpServers: { mine: { type: 'stdio', command: 'mine', args: [], env: {} } },
        projects: {
          '/home/ada/shop': { allowedTools: [], mcpServers: { here: { command: 'here' } } },
          '/home/ada/other': { mcpServers: { elsewhere: { command: 'elsewhere' } } },
        },
      }),
    )
    expect(servers.map(({ id }) => id)).toEqual(['mine', 'here'])
    expect(problems).toEqual([])
  })
})

describe('VS Code', () => {
  const text = `{
    // Inputs are asked for once
    "inputs": [
      { "type": "promptString", "id": "github-token", "description": "GitHub token", "password": true },
      { "type": "pickString", "id": "region", "options": ["eu", { "label": "US", "value": "us" }], "default": "eu" },
      { "type": "command", "id": "made", "command": "extension.make" }
    ],
    "servers": {
      "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer \${input:github-token}" } },
      "local": {
        "type": "stdio", "command": "\${workspaceFolder}/bin/server", "args": ["--region", "\${input:region}"],
        "env": { "TOKEN": "\${env:LOCAL_TOKEN}", "GONE": null }, "envFile": "\${workspaceFolder}/.env",
        "cwd": "\${workspaceFolder}", "dev": { "watch": "src/**" }
      },
      "socket": { "type": "http", "url": "unix:///run/mcp.sock" },
      "pipe": { "type": "http", "url": "pipe:///pipe/mcp" },
      "setting": { "command": "x", "args": ["\${config:some.setting}"] }
    }
  }`

  test('inputs, variables and folders are supported; sockets, pipes and editor values are reported', () => {
    const { byId, problems, inputs } = read('/home/ada/shop/.vscode/mcp.json', text)
    expect(Object.keys(byId)).toEqual(['github', 'local'])
    expect(byId.github).toMatchObject({
      transport: { headers: { Authorization: 'Bearer ${input:github-token}' } },
      inputs: [{ id: 'github-token', description: 'GitHub token', isSecret: true }],
    })
    expect(byId.local).toMatchObject({
      transport: {
        command: '/home/ada/shop/bin/server',
        args: ['--region', '${input:region}'],
        env: { TOKEN: '${env:LOCAL_TOKEN}' },
        cwd: '/home/ada/shop',
      },
      inputs: [{ id: 'region', isSecret: false, default: 'eu', options: ['eu', 'us'] }],
    })
    expect(inputs.map(({ id }) => id)).toEqual(['github-token', 'region'])
    expect(textsOf(problems)).toEqual([
      'servers.local.envFile: Ignored: the file is not read. Put the variables that the server needs under env',
      'servers.socket.url: Unix sockets (unix:) are not supported: expected an http: or https: URL. The server is ignored',
      'servers.pipe.url: Named pipes (pipe:) are not supported: expected an http: or https: URL. The server is ignored',
      'servers.setting.args[0]: The text uses ${config:…}, which only the client that owns the file can fill in. The server is ignored',
      'inputs[2]: The input gets its value from a VS Code command, which is not run',
    ])
  })

  test('only the servers are read from VS Code settings and development containers', () => {
    const settings = '{ "editor.tabSize": 2, "mcp": { "inputs": [], "servers": { "a": { "command": "a" } } } }'
    expect(read('/home/ada/.config/Code/User/settings.json', settings).servers.map(({ id }) => id)).toEqual(['a'])
    const container = '{ "image": "x", "customizations": { "vscode": { "mcp": { "servers": { "b": { "command": "b" } } } } } }'
    expect(read('/home/ada/shop/.devcontainer/devcontainer.json', container).servers.map(({ id }) => id)).toEqual(['b'])
  })

  test('an unknown folder in a VS Code file is not replaced by an empty text', () => {
    const { servers, problems } = read('/x/.vscode/mcp.json', '{ "servers": { "a": { "command": "${workspaceFolder}/a" } } }', {})
    expect(servers).toEqual([])
    expect(textsOf(problems)[0]).toContain('${workspaceFolder}')
  })
})

describe('clients with mcpServers', () => {
  test('the servers of Cursor are read', () => {
    const { byId, problems } = read(
      '/home/ada/.cursor/mcp.json',
      '{ "mcpServers": { "remote": { "url": "https://mcp.example.com", "headers": { "X-Key": "${env:KEY}" } }, "tool": { "command": "${userHome}/bin/tool", "autoApprove": ["*"] } } }',
    )
    expect(byId.remote?.transport).toMatchObject({ headers: { 'X-Key': '${env:KEY}' } })
    expect(byId.tool?.transport).toMatchObject({ command: '/home/ada/bin/tool' })
    expect(textsOf(problems)).toEqual(['mcpServers.tool.autoApprove: Ignored: approvals of another client do not apply here'])
  })

  test('the servers of Windsurf are read, with serverUrl', () => {
    const { byId, problems } = read(
      '/home/ada/.codeium/windsurf/mcp_config.json',
      '{ "mcpServers": { "docs": { "serverUrl": "https://docs.example.com/mcp", "disabled": true, "disabledTools": ["x"] } } }',
    )
    expect(byId.docs).toMatchObject({ isDisabled: true, transport: { type: 'http', url: 'https://docs.example.com/mcp' } })
    expect(problems).toEqual([])
  })

  test('the servers of Kiro are read', () => {
    const { byId } = read(
      '/home/ada/.kiro/settings/mcp.json',
      '{ "mcpServers": { "aws": { "command": "uvx", "args": ["aws-docs@latest"], "env": { "LEVEL": "${LOG_LEVEL}" }, "disabled": false } } }',
    )
    expect(byId.aws).toMatchObject({ isDisabled: false, transport: { env: { LEVEL: '${env:LOG_LEVEL}' } } })
  })

  test('the servers of Gemini CLI are read, with httpUrl and variables without braces', () => {
    const { byId, problems } = read(
      '/home/ada/.gemini/settings.json',
      '{ "theme": "dark", "mcpServers": { "x": { "httpUrl": "https://x.example.com/mcp", "headers": { "K": "$X_KEY" }, "trust": true, "includeTools": ["a"] } } }',
    )
    expect(byId.x?.transport).toMatchObject({ url: 'https://x.example.com/mcp', headers: { K: '${env:X_KEY}' } })
    expect(textsOf(problems)).toEqual(['mcpServers.x.trust: Ignored: approvals of another client do not apply here'])
  })

  test('the servers of Antigravity and Amazon Q are read', () => {
    const text = '{ "mcpServers": { "a": { "command": "a", "args": ["1"] } } }'
    expect(read('/home/ada/.gemini/antigravity/mcp_config.json', text).servers[0]?.provenance[0]?.client).toBe('Antigravity')
    expect(read('/home/ada/.aws/amazonq/mcp.json', text).servers[0]?.provenance[0]?.client).toBe('Amazon Q')
  })

  test('the servers of Cline are read, with timeouts in seconds', () => {
    const { byId } = read(
      '/x/settings/cline_mcp_settings.json',
      '{ "mcpServers": { "a": { "command": "a", "timeout": 60, "alwaysAllow": [] } } }',
    )
    expect(byId.a).toMatchObject({ timeoutMs: 60_000 })
  })
})

test('Goose: extensions in YAML are read, built-in ones skipped, and keychain values asked for', () => {
  const { byId, problems } = read(
    '/home/ada/.config/goose/config.yaml',
    `GOOSE_PROVIDER: anthropic
extensions:
  developer: { type: builtin, name: developer, enabled: true, timeout: 300 }
  github:
    type: stdio
    name: GitHub
    cmd: npx
    args: ["-y", "@modelcontextprotocol/server-github"]
    envs: { LOG: debug }
    env_keys: [GITHUB_TOKEN]
    enabled: false
    timeout: 300
  remote: { type: streamable_http, uri: "https://r.example.com/mcp", headers: { X-Key: "$R_KEY" }, enabled: true }
`,
  )
  expect(Object.keys(byId)).toEqual(['github', 'remote'])
  expect(byId.github).toMatchObject({
    title: 'GitHub',
    isDisabled: true,
    timeoutMs: 300_000,
    transport: { command: 'npx', env: { LOG: 'debug', GITHUB_TOKEN: '${input:GITHUB_TOKEN}' } },
    inputs: [{ id: 'GITHUB_TOKEN', isSecret: true }],
  })
  expect(byId.remote?.transport).toEqual({ type: 'http', url: 'https://r.example.com/mcp', headers: { 'X-Key': '${env:R_KEY}' } })
  expect(problems).toEqual([])
})

test('Codex: tables in TOML are read, with variables given by name', () => {
  const { byId, problems } = read(
    '/home/ada/.codex/config.toml',
    `model = "x"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-server"]
env_vars = ["DOCS_TOKEN", { name = "OTHER" }]
tool_timeout_sec = 30.5
[mcp_servers.docs.env]
LOG = "1"
[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "us" }
env_http_headers = { "X-Team" = "TEAM" }
enabled = false
`,
  )
  expect(byId.docs).toMatchObject({
    timeoutMs: 30_500,
    transport: { command: 'npx', env: { LOG: '1', DOCS_TOKEN: '${env:DOCS_TOKEN}', OTHER: '${env:OTHER}' } },
  })
  expect(byId.figma).toMatchObject({
    isDisabled: true,
    transport: { headers: { 'X-Region': 'us', 'X-Team': '${env:TEAM}', Authorization: 'Bearer ${env:FIGMA_TOKEN}' } },
  })
  expect(problems).toEqual([])
})

test('Continue: a list in YAML is read, and its secrets are asked for', () => {
  const { byId } = read(
    '/home/ada/.continue/config.yaml',
    `name: mine
version: 1.0.0
mcpServers:
  - name: Browser search
    command: npx
    args: ["@playwright/mcp@latest"]
    env:
      KEY: \${{ secrets.SEARCH_KEY }}
  - name: remote
    type: streamable-http
    url: https://c.example.com/mcp
    requestOptions: { headers: { Authorization: "Bearer \${{ secrets.C_KEY }}" } }
`,
  )
  expect(byId['Browser-search']).toMatchObject({
    title: 'Browser search',
    transport: { env: { KEY: '${input:SEARCH_KEY}' } },
    inputs: [{ id: 'SEARCH_KEY', isSecret: true }],
  })
  expect(byId.remote?.transport).toMatchObject({ headers: { Authorization: 'Bearer ${input:C_KEY}' } })
})

test('opencode: a command is read as a list with its arguments', () => {
  const { byId, problems } = read(
    '/home/ada/shop/opencode.json',
    `{ "$schema": "https://opencode.ai/config.json", "mcp": {
      "local": { "type": "local", "command": ["bun", "x", "server"], "environment": { "K": "{env:MY_KEY}" }, "enabled": true },
      "remote": { "type": "remote", "url": "https://o.example.com/mcp", "headers": { "A": "{file:./secret}" } },
      "off": { "enabled": false }
    } }`,
  )
  expect(byId.local).toMatchObject({ isDisabled: false, transport: { command: 'bun', args: ['x', 'server'], env: { K: '${env:MY_KEY}' } } })
  expect(byId.remote).toBeUndefined()
  expect(textsOf(problems)).toEqual([expect.stringContaining('mcp.remote.headers.A: The text uses {file:…}')])
})

test('Zed: context_servers are read in both shapes, and servers of extensions are reported', () => {
  const { byId, problems } = read(
    '/home/ada/.config/zed/settings.json',
    `{ // Zed
      "context_servers": {
        "new": { "source": "custom", "command": "n", "args": ["1"], "env": {} },
        "old": { "source": "custom", "command": { "path": "o", "args": ["2"], "env": { "A": "b" } } },
        "ext": { "source": "extension", "settings": { "k": 1 } },
      } }`,
  )
  expect(byId.new?.transport).toMatchObject({ command: 'n', args: ['1'] })
  expect(byId.old?.transport).toMatchObject({ command: 'o', args: ['2'], env: { A: 'b' } })
  expect(textsOf(problems)).toEqual([expect.stringContaining('context_servers.ext: The entry has no command or URL')])
})

test('LibreChat: values that it asks its users for are asked for here too', () => {
  const { byId, problems } = read(
    '/home/ada/shop/librechat.yaml',
    `version: 1.2.1
endpoints: {}
mcpServers:
  jira:
    type: streamable-http
    url: https://jira.example.com/mcp
    headers: { X-Key: "{{JIRA_KEY}}", X-Env: "\${JIRA_ENV}" }
    customUserVars: { JIRA_KEY: { title: "Jira key", description: "From your profile" } }
    timeout: 60000
  who: { url: "https://w.example.com", headers: { X-User: "{{LIBRECHAT_USER_ID}}" } }
`,
  )
  expect(byId.jira).toMatchObject({
    timeoutMs: 60_000,
    transport: { headers: { 'X-Key': '${input:JIRA_KEY}', 'X-Env': '${env:JIRA_ENV}' } },
    inputs: [{ id: 'JIRA_KEY', description: 'Jira key', isSecret: true }],
  })
  expect(textsOf(problems)).toEqual([expect.stringContaining('mcpServers.who.headers.X-User: The text uses a value of the LibreChat user')])
})

test('a server.json of the registry is read: packages, remotes and values to fill in', () => {
  const { servers, problems } = read(
    '/tmp/server.json',
    JSON.stringify({
      name: 'io.github.ada/weather',
      title: 'Weather',
      description: 'Forecasts',
      version: '1.2.0',
      packages: [
        {
          registryType: 'npm',
          identifier: '@ada/weather',
          version: '1.2.0',
          transport: { type: 'stdio' },
          packageArguments: [
            { type: 'named', name: '--units', value: 'metric' },
            { type: 'named', name: '--verbose' },
            { type: 'positional', valueHint: 'city', isRequired: true, description: 'Where you live' },
          ],
          environmentVariables: [
            { name: 'WEATHER_KEY', isSecret: true, isRequired: true, description: 'The key' },
            { name: 'REGION', default: 'eu', choices: ['eu', 'us'] },
            { name: 'OPTIONAL' },
          ],
        },
        { registryType: 'mcpb', identifier: 'x', transport: { type: 'stdio' } },
      ],
      remotes: [
        {
          type: 'streamable-http',
          url: 'https://{tenant}.example.com/mcp',
          variables: { tenant: { isRequired: true } },
          headers: [{ name: 'Authorization', value: 'Bearer {key}', variables: { key: { isSecret: true } } }],
        },
      ],
    }),
  )
  expect(servers.map(({ id, title, transport, inputs }) => ({ id, title, transport, inputs }))).toEqual([
    {
      id: 'io.github.ada-weather',
      title: 'Weather',
      transport: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', '@ada/weather@1.2.0', '--units', 'metric', '--verbose', '${input:city}'],
        env: { WEATHER_KEY: '${input:WEATHER_KEY}', REGION: '${input:REGION}' },
      },
      inputs: [
        { id: 'city', description: 'Where you live', isSecret: false },
        { id: 'WEATHER_KEY', description: 'The key', isSecret: true },
        { id: 'REGION', isSecret: false, default: 'eu', options: ['eu', 'us'] },
      ],
    },
    {
      id: 'io.github.ada-weather-2',
      title: 'Weather',
      transport: { type: 'http', url: 'https://${input:tenant}.example.com/mcp', headers: { Authorization: 'Bearer ${input:key}' } },
      inputs: [
        { id: 'tenant', isSecret: false },
        { id: 'key', isSecret: true },
      ],
    },
  ])
  expect(textsOf(problems)).toEqual([expect.stringContaining('packages[1].registryType')])
})

test('our own format is read: the common members and those that only this host uses', () => {
  const { byId, problems } = read(
    '/home/ada/mcp.json',
    JSON.stringify({
      mcpServers: {
        mail: {
          command: 'mail',
          env: { TOKEN: '${secret:mail/token}' },
          tier: 'trusted',
          labels: ['private:mail'],
          roots: ['/home/ada/mail'],
          asserted: { list: { readOnlyHint: true }, '*': { openWorldHint: false } },
          disabled: true,
          timeoutMs: 5000,
        },
        odd: { command: 'odd', colour: 'red' },
        wrong: { command: 'x', tier: 'best' },
        misspelt: { command: 'x', asserted: { '*': { readonlyHint: true } } },
      },
    }),
    { isOurs: true },
  )
  expect(byId.mail).toMatchObject({
    tier: 'trusted',
    labels: ['private:mail'],
    roots: ['/home/ada/mail'],
    asserted: { list: { readOnlyHint: true }, '*': { openWorldHint: false } },
    isDisabled: true,
    timeoutMs: 5000,
    transport: { env: { TOKEN: '${secret:mail/token}' } },
  })
  expect(Object.keys(byId)).toEqual(['mail', 'odd'])
  expect(textsOf(problems)).toEqual([
    'mcpServers.odd.colour: Unknown member: it has no effect',
    'mcpServers.wrong.tier: Expected trusted or untrusted. The server is ignored',
    expect.stringMatching(/^mcpServers\.misspelt\.asserted\.\*\.readonlyHint: Unknown hint: expected one of .*\. The server is ignored$/),
  ])
})

describe('a file in our own format from another source', () => {
  const OURS = {
    tier: 'trusted',
    roots: ['/'],
    asserted: { '*': { readOnlyHint: true } },
    dataFiles: ['x.js'],
    provenance: [{ client: 'Portico', scope: 'ours', file: '/home/ada/mcp.json' }],
  }

  test.each(['/home/ada/shop/mcp.json', '/home/ada/shop/servers.json', '/home/ada/mcp.json', '/home/ada/shop/portico.yaml'])(
    'trust, folders, hints and provenance of a file of another source are ignored: %s',
    (file) => {
      const entry = { command: 'x', args: ['x.js'], labels: ['private:mail'], timeoutMs: 5000, ...OURS }
      const { byId, problems } = read(file, JSON.stringify({ mcpServers: { a: entry } }))
      const scope = file.startsWith(PROJECT) ? 'project' : 'user'
      expect(byId.a).toEqual({
        id: 'a',
        transport: { type: 'stdio', command: 'x', args: ['x.js'], env: {} },
        tier: 'untrusted',
        labels: ['private:mail'],
        timeoutMs: 5000,
        provenance: [{ client: 'mcpServers', scope, file }],
      })
      expect(textsOf(problems)).toEqual(
        Object.keys(OURS).map((name) => `mcpServers.a.${name}: Ignored: only your own list of servers can set this`),
      )
    },
  )

  test.each([{ env: { KEY: '${secret:mail/token}' } }, { args: ['--key=${secret:mail/token}'] }, { cwd: '${secret:mail/token}' }])(
    'a file of another source cannot name a secret of the vault: %j',
    (more) => {
      const { servers, problems } = read('/home/ada/shop/mcp.json', JSON.stringify({ mcpServers: { a: { command: 'x', ...more } } }))
      expect(servers).toEqual([])
      expect(textsOf(problems)).toEqual([expect.stringContaining('The text uses a secret of your vault: only your own list')])
    },
  )

  test('a file of another source may use variables and inputs', () => {
    const args = ['${env:A:-b}', '${input:c}']
    const { byId } = read('/home/ada/shop/mcp.json', JSON.stringify({ mcpServers: { a: { command: 'x', args } } }))
    expect(byId.a).toMatchObject({ transport: { args }, inputs: [{ id: 'c', isSecret: true }] })
  })
})

describe('a file at an unknown place', () => {
  const CASES: [file: string, text: string, client: string][] = [
    ['a.json', '{ "mcpServers": { "a": { "command": "a" } } }', 'mcpServers'],
    ['b.json', '{ "servers": { "a": { "command": "a" } } }', 'VS Code'],
    ['c.json', '{ "mcp": { "servers": { "a": { "command": "a" } } } }', 'VS Code'],
    ['d.json', '{ "mcp": { "a": { "type": "local", "command": ["a"] } } }', 'opencode'],
    ['e.json', '{ "context_servers": { "a": { "command": "a" } } }', 'Zed'],
    ['f.yaml', 'extensions: { a: { type: stdio, cmd: a } }', 'Goose'],
    ['g.yml', 'mcpServers: [{ name: a, command: a }]', 'Continue'],
    ['h.yaml', 'mcpSettings: {}\nmcpServers: { a: { command: a } }', 'LibreChat'],
    ['i.toml', 'mcp_servers.a.command = "a"', 'Codex'],
    ['j.json', '{ "projects": {}, "mcpServers": { "a": { "command": "a" } } }', 'Claude Code'],
    ['k.json', '{ "server": { "name": "a", "remotes": [{ "type": "sse", "url": "https://a.example" }] } }', 'MCP Registry'],
    ['l.json', '{ "customizations": { "vscode": { "mcp": { "servers": { "a": { "command": "a" } } } } } }', 'VS Code (dev container)'],
  ]
  test.each(CASES)('the format of %s is recognised by its shape', (file, text, client) => {
    const { servers } = read(`/somewhere/${file}`, text)
    expect(servers.map(({ id, provenance }) => [id, provenance[0]?.client])).toEqual([['a', client]])
  })
})
