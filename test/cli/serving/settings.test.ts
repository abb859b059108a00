import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Flags, readSettings, type Settings } from '../../../src/cli/serving/read-settings.ts'
import { flagOf, LIMITS, SETTINGS, variableOf } from '../../../src/cli/serving/settings.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/index.ts'
import { DEFAULT_LIMITS } from '../../../src/server/index.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()

interface Case {
  flags?: Record<string, string | boolean>
  env?: Record<string, string>
  /** The text of the file. */
  file?: string
  /** More files in the folder. */
  files?: Record<string, string | Buffer>
}

async function settingsOf({ flags = {}, env = {}, file, files = {} }: Case): Promise<Settings> {
  const cwd = newFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  mkdirSync(join(cwd, 'etc'))
  if (file !== undefined) writeFileSync(join(cwd, 'etc', 'serve.yaml'), file)
  const given: Flags = new Map(Object.entries({ ...flags, ...(file !== undefined && { config: 'etc/serve.yaml' }) }))
  return readSettings(given, { cwd, env })
}

const problemsOf = (given: Case): Promise<string> =>
  settingsOf(given).then(
    () => 'none',
    (error: Error) => error.message,
  )

/** A value of each setting as text, and as the setting has it. */
const VALUES: Record<string, [text: string, value: unknown]> = {
  server: ['notes', 'notes'],
  http: ['true', true],
  host: ['0.0.0.0', '0.0.0.0'],
  port: ['8080', 8080],
  path: ['/x', '/x'],
  workers: ['auto', 'auto'],
  allowedHosts: ['a.example, b.example', ['a.example', 'b.example']],
  allowedOrigins: ['https://a.example', ['https://a.example']],
  dangerouslyAllowAnyHost: ['no', false],
  trustProxy: ['2', 2],
  tlsCertFile: ['/c.pem', '/c.pem'],
  tlsKeyFile: ['/k.pem', '/k.pem'],
  authIssuers: ['https://login.example', ['https://login.example']],
  authResource: ['https://mcp.example/mcp', 'https://mcp.example/mcp'],
  authScopes: ['a,b', ['a', 'b']],
  authAudience: ['x', 'x'],
  cardName: ['com.example/x', 'com.example/x'],
  cardDescription: ['Does x', 'Does x'],
  cardTitle: ['X', 'X'],
  cardUrl: ['https://mcp.example/mcp', 'https://mcp.example/mcp'],
  cardCatalog: ['no', false],
  apiKeys: ['ann=one-key-of-anns-0, bob=two-key-of-bobs-0', ['ann=one-key-of-anns-0', 'bob=two-key-of-bobs-0']],
  store: ['redis://user:pass@host', 'redis://user:pass@host'],
  storePrefix: ['p:', 'p:'],
  keys: ['k'.repeat(32), ['k'.repeat(32)]],
  health: ['1', true],
  metrics: ['on', true],
  metricsToken: ['a-token-of-16-letters', 'a-token-of-16-letters'],
  logFormat: ['json', 'json'],
  graceMs: ['0', 0],
  drainDelayMs: ['5000', 5000],
  sessions: ['false', false],
  legacySse: ['off', false],
  responses: ['sse', 'sse'],
  requireMcpHeaders: ['yes', true],
  browserPage: ['0', false],
  maxConnections: ['5', 5],
  maxConnectionsPerAddress: ['false', false],
  'limits.failedLogins': ['0.5/10', { perSecond: 0.5, burst: 10 }],
  'limits.maxSessionsPerAddress': ['false', false],
  'limits.toolCalls': ['1/20', { perSecond: 1, burst: 20 }],
  'limits.completions': ['false', false],
  'limits.logMessages': ['2/4', { perSecond: 2, burst: 4 }],
  'limits.progressNotices': ['false', false],
}
const valueFor = (name: string): [string, unknown] => VALUES[name] ?? ['7', 7]

test.each([...SETTINGS, ...LIMITS].map(({ name }) => name))('%s can be a flag, a variable and a line of the file', async (name) => {
  const [text, value] = valueFor(name)
  const limit = /^limits\.(.+)$/.exec(name)?.[1]
  const json = JSON.stringify(value)
  const file = limit === undefined ? `# comment\n${name}: ${json}\n` : `limits:\n  ${limit}: ${json}\n`
  const byFlag = await settingsOf({ flags: { [name]: text } })
  expect([byFlag.get(name), byFlag.sourceOf(name)]).toEqual([value, name === 'server' ? 'argument' : flagOf(name)])
  const byVariable = await settingsOf({ env: { [variableOf(name)]: text } })
  expect([byVariable.get(name), byVariable.sourceOf(name)]).toEqual([value, variableOf(name)])
  const byFile = await settingsOf({ file })
  expect([byFile.get(name), byFile.sourceOf(name)]).toEqual([value, 'etc/serve.yaml:2'])
})

test('a flag counts before a variable, a variable before the file, and the file before the default', async () => {
  const file = 'port: 1\nhost: a\npath: /file\n'
  const settings = await settingsOf({ flags: { port: '3' }, env: { PORTICO_PORT: '2', PORTICO_HOST: 'b', PORTICO_PATH: '' }, file })
  expect(['port', 'host', 'path', 'graceMs'].map((name) => [settings.get(name), settings.sourceOf(name)])).toEqual([
    [3, '--port'],
    ['b', 'PORTICO_HOST'],
    // An empty variable counts as not set.
    ['/file', 'etc/serve.yaml:3'],
    [10_000, 'default'],
  ])
})

test('JSON is a configuration file, too', async () => {
  const settings = await settingsOf({ file: JSON.stringify({ http: true, limits: { maxSessions: 9 } }, undefined, '\t') })
  expect([settings.get('http'), settings.get('limits.maxSessions'), settings.sourceOf('limits.maxSessions')]).toEqual([
    true,
    9,
    'etc/serve.yaml:4',
  ])
})

test('names of flags and variables follow from the name, and every limit is a setting', () => {
  expect([flagOf('allowedHosts'), variableOf('allowedHosts')]).toEqual(['--allowed-hosts', 'PORTICO_ALLOWED_HOSTS'])
  expect([flagOf('limits.maxSessions'), variableOf('limits.maxSessions')]).toEqual(['--limit maxSessions', 'PORTICO_LIMIT_MAX_SESSIONS'])
  expect(LIMITS.map(({ name }) => name.replace('limits.', '')).sort()).toEqual(
    Object.keys({ ...DEFAULT_HTTP_LIMITS, ...DEFAULT_LIMITS }).sort(),
  )
})

test.each([
  ['port: 1\n---\napiKeysFile: keys\n', 'etc/serve.yaml:2: the settings after "---" are not read; remove this line'],
  ['port: 1\n---\n', 'etc/serve.yaml:2: the settings after "---" are not read; remove this line'],
  ['---\nport: 1\nhost: !ENV HOST_OF_PRODUCTION\n', 'etc/serve.yaml:3: tags such as !name are not read; write the value itself'],
  ['port: 1\nport: 2\n', 'etc/serve.yaml:2: the name is there twice'],
])('the file %j is refused', async (file, problem) => {
  const told = await problemsOf({ file })
  expect(told).toBe(problem)
})

test.each(['', '# nothing yet\n', '---\nport: 3000\n', '{ "port": 3000 }'])('the file %j is read', async (file) => {
  expect((await settingsOf({ file })).get('port')).toBe(3000)
})

describe('secrets', () => {
  const KEY = 'a'.repeat(40)

  test('are read from files that flags, variables and the file name', async () => {
    const files = { one: `${KEY}\n`, two: `${'b'.repeat(32)}\n${'c'.repeat(32)}\n` }
    const byFlag = await settingsOf({ flags: { keysFile: 'one' }, files })
    expect([byFlag.get('keys'), byFlag.sourceOf('keys')]).toEqual([[KEY], '--keys-file'])
    const byVariable = await settingsOf({ env: { PORTICO_KEYS_FILE: 'two' }, files })
    expect([byVariable.get('keys'), byVariable.sourceOf('keys')]).toEqual([['b'.repeat(32), 'c'.repeat(32)], 'PORTICO_KEYS_FILE'])
    // Paths in the file begin at its own folder.
    expect((await settingsOf({ file: 'metricsTokenFile: ../one\n', files })).get('metricsToken')).toBe(KEY)
    // A higher level counts, however it gives the secret.
    expect((await settingsOf({ env: { PORTICO_KEYS_FILE: 'one' }, file: `keys: [${'d'.repeat(32)}]`, files })).get('keys')).toEqual([KEY])
  })

  test('that are wrong are not shown in the error', async () => {
    const told = await problemsOf({
      env: { PORTICO_KEYS: 'too-short-secret', PORTICO_METRICS_TOKEN_FILE: 'none' },
      file: 'store: [redis://secret-password@host]\n',
    })
    expect(told).toContain('PORTICO_KEYS: keys must be a list of secrets of at least 32 characters (openssl rand -base64 32)')
    expect(told).toContain('PORTICO_METRICS_TOKEN_FILE: none cannot be read: ENOENT')
    expect(told).toContain('etc/serve.yaml:1: store must be a text')
    expect(told).not.toMatch(/too-short-secret|secret-password/)
    expect(await problemsOf({ file: `keys: [${KEY}\nport: 1` })).not.toContain(KEY)
  })

  test('a wrong line of API keys is named by its number, without a part of it, and comments are no keys', async () => {
    const good = `# the callers\n\n ci=${KEY}\n  # ops=${KEY}\nops = ${KEY}=\n`
    expect((await settingsOf({ flags: { apiKeysFile: 'good' }, files: { good } })).get('apiKeys')).toEqual([`ci=${KEY}`, `ops = ${KEY}=`])
    const told = (text: string): Promise<string> => problemsOf({ flags: { apiKeysFile: 'k1' }, files: { k1: text } })
    const expected = '--api-keys-file (k1): apiKeys must be a list of name=key, with 16 to 1024 visible ASCII characters in each key'
    expect(await told(`\n# callers\nci=${KEY}\nops=hunter2\n`)).toBe(`${expected}; line 4: the key must have 16 to 1024 characters; got 7`)
    expect(await told(`ci=${KEY}\n${KEY}\n`)).toBe(`${expected}; line 2: not name=key`)
    expect(await told(`=${KEY}\n`)).toBe(`${expected}; line 1: no name before the "="`)
    expect(await told(`ci=${'ä'.repeat(20)}\n`)).toBe(
      `${expected}; line 1: the key has characters that a header cannot have, or spaces around it`,
    )
    expect(await told('ci=sha256:1234\n')).toBe(`${expected}; line 1: the key must have 64 hexadecimal digits after "sha256:"`)
    expect(await told('# nobody yet\n')).toBe(expected)
    expect(await problemsOf({ env: { PORTICO_API_KEYS: `ci=${KEY},ops=hunter2` } })).toMatch(
      /; entry 2: the key must have 16 to 1024 characters; got 7$/,
    )
    expect(await problemsOf({ file: `apiKeys: [ci=${KEY}, 5]` })).toMatch(/; entry 2: not name=key$/)
  })

  test.each([
    ['random bytes', Buffer.alloc(48, 0xfe)],
    ['UTF-16', Buffer.from(KEY, 'utf16le')],
  ])('in a file with %s are refused, because different secrets could become the same text', async (_kind, bytes) => {
    const told = await problemsOf({ flags: { keysFile: 'bytes' }, files: { bytes } })
    expect(told).toBe('--keys-file: bytes cannot be read: The file is not UTF-8 text')
  })

  test('are given once', async () => {
    expect(await problemsOf({ env: { PORTICO_KEYS: KEY, PORTICO_KEYS_FILE: 'x' } })).toBe(
      'PORTICO_KEYS_FILE: PORTICO_KEYS gives the same setting; remove one of them',
    )
  })
})

describe('a limit is switched off', () => {
  test.each(['false', ' Off '])('by %j', async (text) => {
    expect((await settingsOf({ flags: { 'limits.toolCalls': text } })).get('limits.toolCalls')).toBe(false)
  })

  test.each(['0', 'no'])('not by %j', async (text) => {
    const given = { flags: { 'limits.toolCalls': text }, env: { PORTICO_LIMIT_MAX_STREAMS_PER_ADDRESS: text } }
    expect(await problemsOf(given)).toBe(
      `PORTICO_LIMIT_MAX_STREAMS_PER_ADDRESS: limits.maxStreamsPerAddress must be false, or a whole number, at least 1, not "${text}"\n` +
        `--limit toolCalls: limits.toolCalls must be false, or perSecond and burst (in a flag or a variable: perSecond/burst, such as 0.2/10), not "${text}"`,
    )
  })
})

describe('mistakes', () => {
  test.each<[string, Case, string]>([
    ['a wrong type', { file: 'host: x\nport: "80"\n' }, 'etc/serve.yaml:2: port must be a port from 0 to 65535, not "80"'],
    ['a wrong number', { env: { PORTICO_PORT: '70000' } }, 'PORTICO_PORT: port must be a port from 0 to 65535, not "70000"'],
    ['a wrong flag', { flags: { workers: 'many' } }, '--workers: workers must be auto, or a whole number from 0 to 256, not "many"'],
    ['an unknown name', { file: '\n\nprot: 1\n' }, 'etc/serve.yaml:3: unknown setting "prot"; did you mean "port"?'],
    ['an unknown limit', { file: 'limits:\n  maxSession: 1\n' }, 'unknown setting "limits.maxSession"; did you mean "limits.maxSessions"?'],
    ['a limit without a name', { file: 'limits: 5\n' }, 'etc/serve.yaml:1: unknown setting "limits"'],
    [
      'a misspelled variable',
      { env: { PORTICO_ALOWED_HOSTS: 'a' } },
      'PORTICO_ALOWED_HOSTS: unknown variable; did you mean PORTICO_ALLOWED_HOSTS?',
    ],
    [
      'a URL in place of a host',
      { flags: { allowedHosts: 'https://a.example/' } },
      '--allowed-hosts: allowedHosts must be a list of host names such as mcp.example.com; no wildcards; IPv6 in brackets',
    ],
    [
      'a host in place of an origin',
      { file: 'allowedOrigins: [a.example]\n' },
      'etc/serve.yaml:1: allowedOrigins must be a list of origins such as https://app.example.com',
    ],
    ['a variable without one letter', { env: { PORTICO_PRT: '1' } }, 'PORTICO_PRT: unknown variable; did you mean PORTICO_PORT?'],
    ['a name twice', { file: 'port: 1\nhost: a\nport: 2\n' }, 'etc/serve.yaml:3: the name is there twice'],
    ['no names', { file: '- port\n' }, 'etc/serve.yaml:1: expected names with values'],
    ['a file that is missing', { flags: { config: 'none.yaml' } }, 'none.yaml: cannot be read: ENOENT'],
    ['a prefix with braces', { env: { PORTICO_STORE_PREFIX: 'a{b}' } }, 'PORTICO_STORE_PREFIX: storePrefix must be a text without braces'],
    [
      'a value that is missing',
      { file: 'host:\n' },
      'etc/serve.yaml:1: host must be an IP address or the name of a machine, such as 127.0.0.1, not null',
    ],
    ['a variable of Kubernetes', { env: { PORTICO_PORT: 'tcp://10.0.0.7:80' } }, 'Kubernetes sets it for a Service named "portico"'],
  ])('%s is an error that names its place', async (_what, given, told) => {
    expect(await problemsOf(given)).toContain(told)
  })

  test.each([
    ['port: 1\nlimits:\n  maxSessions: 5\n   maxStreams: 6\n', '4: the line begins further right than the one before it'],
    ['http: true\nhost: a\n  port: 3000\n', '3: the line begins further right than the one before it'],
    ['limits:\n    maxSessions: 5\n  maxStreams: 6\n', '3: names of one level must begin in the same column'],
    ['limits:\n\tmaxSessions: 5\n', '2: lines must begin with spaces, not with tabs'],
    ['port: [1\nhost: }', '1: a "[" or "{" is not closed'],
    ['allowedHosts: [a, b\n\nport: 3\n', '1: a "[" or "{" is not closed'],
    ['{"port": 3000,\n\n', '1: a "[" or "{" is not closed'],
    ['{"port": 3000\n "host": "a"}', '1: a comma or a closing bracket is missing'],
    ['{"port": 3000,\n "host" "a"}', '2: a comma or a colon is missing'],
    ['port 3000\nhost: a\n', '1: expected a name, a colon and a space, such as "port: 3000"'],
    ['host: a\nport:3000\n', '2: expected a name, a colon and a space, such as "port: 3000"'],
    ['port: 1\nhost: "a\npath: /x\n', '2: a quote is not closed'],
    ["port: 1\nlimits:\n  maxSessions: 'a\n", '3: a quote is not closed'],
    ['port: 1\nstorePrefix: a: b\n', '2: a value that contains ": " needs quotes'],
    ['host: @x\n', '1: a value that begins with @, % or ` needs quotes'],
    ['path: "\\q"\n', '1: a backslash in double quotes must be doubled'],
    ['host: "a"#x\n', '1: a space is missing before "#"'],
    ['port: 1\nallowedHosts: - a\n', '2: not valid YAML or JSON; quotes or a bracket may be missing'],
    ['a: &a &b 1\n', '1: not valid YAML or JSON'],
  ])('YAML that cannot be read is told once, in words and with its line: %j', async (file, told) => {
    const problems = await problemsOf({ file })
    expect(problems.split('\n')).toEqual([expect.stringContaining(`etc/serve.yaml:${told}`)])
    expect(problems).not.toMatch(/[A-Z]_[A-Z]/)
  })

  test('are all told at once', async () => {
    const told = await problemsOf({ env: { PORTICO_PORT: 'x' }, file: 'prot: 1\nhost: 5\n' })
    expect(told.split('\n')).toHaveLength(3)
  })

  test('variables that belong to others are no mistakes', async () => {
    const others = { PORTICO_HOME: '/x', PORTICO_OWNER: 'x', PORTICO_API: 'x', PORTICO_SERVICE_HOST: 'x', PORTICO_PORT_80_TCP_ADDR: 'x' }
    expect(await problemsOf({ env: others })).toBe('none')
  })
})

test('docs/cli.md lists every setting with its flag, its variable and its default', () => {
  const shown = (value: unknown): string => (value === undefined ? '-' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``)
  const flagFor = (setting: (typeof SETTINGS)[number]): string => {
    if (setting.name === 'server') return 'the argument'
    const flag = flagOf(setting.name)
    return setting.isSecret ? [...(setting.hasFlag ? [`\`${flag}\``] : []), `\`${flag}-file\``].join(', ') : `\`${flag}\``
  }
  const rows = SETTINGS.map((setting) => {
    const variable = variableOf(setting.name)
    const variables = setting.isSecret ? `\`${variable}\`, \`${variable}_FILE\`` : `\`${variable}\``
    return `| \`${setting.name}\` | ${flagFor(setting)} | ${variables} | ${shown(setting.default)} | ${setting.help} |`
  })
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  const table = page.split('| setting | flag | variable | default | meaning |\n|---|---|---|---|---|\n')[1]?.split('\n\n')[0]
  expect(table).toBe(rows.join('\n'))
})
