import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inboxAsker } from '../../src/host/index.ts'
import { CALL, question } from '../host/consent/ask/questions.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { CLI, type Ended, portico, serve, serveFixture } from './support/cli.ts'
import { answerQuestion, KEY, startTerminal, type TerminalProcess } from './support/terminal.ts'

const newFolder = temporaryFolders()

/** Somebody with nothing yet: their own home, their own folder of the host, their own project. */
function person() {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  return {
    home,
    env,
    host: env.PORTICO_HOME,
    run: (args: string[], input?: string): Promise<Ended> => portico(args, { env, cwd: home, ...(input !== undefined && { input }) }),
    sit: (args: string[]): TerminalProcess => startTerminal([CLI, ...args], { env, cwd: home }),
  }
}

/** Allows everything that is asked about a server, so that a run without a terminal can use it. */
const ALLOW = `rules:
  - { id: launch, effect: allow, match: { action: server.launch, server: ev } }
  - { id: approve, effect: allow, match: { action: server.approve, server: ev } }
  - { id: calls, effect: allow, match: { action: tool.call, server: ev, tier: untrusted } }
`

async function trusting() {
  const anna = person()
  await anna.run(['servers', 'add', 'ev', ...serve('everything')])
  writeFileSync(join(anna.host, 'policy.yaml'), ALLOW)
  return anna
}

describe('servers by name', () => {
  test('servers are added, listed and removed, and a name can be used once', async () => {
    const anna = person()
    const added = await anna.run(['servers', 'add', 'ev', ...serve('everything')])
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('To start it, after your approval: portico servers enable ev') })
    expect((await anna.run(['servers', 'add', 'far', 'https://server.example/mcp', '--trusted'])).code).toBe(0)
    expect(JSON.parse((await anna.run(['servers', 'list', '--json'])).stdout)).toMatchObject([
      { id: 'ev', tier: 'untrusted', state: 'not enabled' },
      { id: 'far', where: 'https://server.example/mcp', tier: 'trusted' },
    ])
    expect((await anna.run(['servers', 'add', 'ev', 'https://other.example/mcp'])).code).toBe(8)
    const wrong = await anna.run(['servers', 'remove', 'fra'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "far"?') })
    expect((await anna.run(['servers', 'remove', 'far'])).code).toBe(0)
    expect((await anna.run(['servers', 'list'])).stdout).not.toContain('far')
  })

  test('the protocol revision and the HTTP transport of a server are shown and set', async () => {
    const anna = person()
    await anna.run(['servers', 'add', 'far', 'https://server.example/mcp', '--revision', '2025-06-18', '--transport', 'sse'])
    await anna.run(['servers', 'add', 'ev', ...serve('everything')])
    expect((await anna.run(['servers', 'protocol', 'far'])).stdout).toBe('revision   2025-06-18\ntransport  sse\n')
    expect(JSON.parse((await anna.run(['servers', 'list', '--json'])).stdout)).toMatchObject([
      { id: 'far', revisions: ['2025-06-18'], transport: 'sse' },
      { id: 'ev' },
    ])
    const changed = await anna.run(['servers', 'protocol', 'far', '--revision', 'automatic', '--transport', 'streamable-http', '--json'])
    expect(JSON.parse(changed.stdout)).toEqual({ server: 'far', revision: 'automatic', transport: 'streamable-http' })
    expect((await anna.run(['servers', 'protocol', 'ev', '--revision', '2025-11-25'])).stdout).toBe('revision   2025-11-25\n')
    expect(await anna.run(['servers', 'protocol', 'ev', '--revision', '2025-11-26'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2025-11-25'),
    })
    expect((await anna.run(['servers', 'protocol', 'ev', '--transport', 'sse'])).stderr).toContain('ev is a command')
    expect((await anna.run(['servers', 'protocol', 'none'])).code).toBe(2)
  })

  test('secrets in headers and variables go to the vault, and neither the list nor the file has them', async () => {
    const anna = person()
    const secret = 'sk-abcdefghijklmnop12345'
    const { stderr } = await anna.run(['servers', 'add', 'mail', 'https://mail.example/mcp', '-H', `Authorization: Bearer ${secret}`])
    expect(stderr).toContain('looks like a secret')
    expect(stderr).not.toContain(secret)
    expect((await anna.run(['secrets', 'list'])).stdout).toContain('mail/Authorization')
    const files = readdirSync(anna.host, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const entry of files) expect(readFileSync(join(entry.parentPath, entry.name), 'utf8')).not.toContain(secret)
  })

  test('servers of other clients are found with their source, and imported only on request', async () => {
    const anna = person()
    mkdirSync(join(anna.home, '.cursor'), { recursive: true })
    const file = join(anna.home, '.cursor', 'mcp.json')
    writeFileSync(
      file,
      JSON.stringify({
        mcpServers: {
          mail: { command: 'npx', args: ['mail', '--password', 'hunter2secret'], env: { API_KEY: 'sk-abcdefghijklmnop12345' } },
        },
      }),
    )
    const before = readFileSync(file, 'utf8')
    const looked = await anna.run(['servers', 'import'])
    expect(looked.stdout).toContain('Cursor, user')
    expect(looked.stdout).toContain('secret in plain text: args[2], env.API_KEY')
    expect(looked.stdout).toContain("npx mail --password '[13 characters hidden]'")
    expect((await anna.run(['servers', 'import', '--whole'])).stdout).toContain('npx mail --password hunter2secret')
    expect(looked.stderr).toContain('Nothing was imported')
    expect((await anna.run(['servers', 'list'])).stdout).toBe('')
    await anna.run(['servers', 'import', '--all', '--yes'])
    expect((await anna.run(['servers', 'list'])).stdout).toMatch(/npx mail --password \$\{secret:mail\/args2\}/)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  const withServers = (mcpServers: object) => {
    const anna = person()
    mkdirSync(join(anna.home, '.cursor'), { recursive: true })
    writeFileSync(join(anna.home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers }))
    return anna
  }

  test('an imported server keeps one folder, so that a yes holds in all folders', async () => {
    const anna = withServers({ mail: { command: 'mail' }, docs: { command: 'docs', cwd: '/tmp' } })
    await anna.run(['servers', 'import', '--all'])
    const { mcpServers } = JSON.parse(readFileSync(join(anna.host, 'servers.json'), 'utf8'))
    expect(mcpServers).toMatchObject({ mail: { cwd: anna.home }, docs: { cwd: '/tmp' } })
    expect((await anna.run(['servers', 'import', '--all'])).stderr).toContain('Nothing new')
  })

  test('no secret is moved to the vault without consent, and nothing that is executed is moved', async () => {
    const script = 'token=x; touch pwned; exec cat'
    const anna = withServers({
      docs: { command: 'sh', args: ['-c', script] },
      mail: { command: 'mail', args: ['send', '--token', 'hunter2secret'] },
    })
    const listed = await anna.run(['servers', 'import', '--all'])
    expect(listed.stdout).toContain(`sh -c '${script}'`)
    expect(listed.stderr).toContain('mail: args[2] looks like a secret and was not moved; --yes moves it to the vault')
    expect(listed.stderr).toContain('you must be able to read it when you are asked to start the server')
    expect(listed.stderr).toContain('Imported 2 servers: docs, mail.')
    expect((await anna.run(['secrets', 'list'])).stdout).toBe('')
    // The advice is followed: the entry that is there loses its plain secret.
    expect((await anna.run(['servers', 'import', '--all', '--yes'])).stderr).toContain('Updated 1 server: mail.')
    expect(readFileSync(join(anna.host, 'servers.json'), 'utf8')).not.toContain('hunter2secret')
    expect((await anna.run(['servers', 'import', '--all', '--yes'])).stderr).toContain('Nothing new')
    expect((await anna.run(['secrets', 'list'])).stdout).toBe('mail/args2\n')
    expect(JSON.parse((await anna.run(['servers', 'list', '--json'])).stdout)).toMatchObject([
      { id: 'docs', where: `sh -c '${script}'` },
      { id: 'mail', where: `mail send --token \${secret:mail/args2}` },
    ])
  })

  test('the list shows the file, the variables that are not secrets, and which of them change what runs', async () => {
    const anna = withServers({
      mail: { command: 'mail', env: { CITY: 'Rome', API_KEY: 'sk-abcdefghijklmnop12345', NODE_OPTIONS: '--require=/tmp/x.js' } },
      far: { url: 'https://far.example/mcp', headers: { 'X-Team': 'a' } },
    })
    const { stdout } = await anna.run(['servers', 'import'])
    expect(stdout).toContain(join(anna.home, '.cursor', 'mcp.json'))
    for (const each of [
      'CITY=Rome',
      'NODE_OPTIONS=--require=/tmp/x.js',
      'The variable NODE_OPTIONS can change which program or code runs',
      'X-Team',
    ])
      expect(stdout).toContain(each)
    expect(stdout).toContain('API_KEY=[24 characters hidden]')
    expect((await anna.run(['servers', 'import', '--whole'])).stdout).toContain('API_KEY=sk-abcdefghijklmnop12345')
    const [mail] = JSON.parse((await anna.run(['servers', 'import', '--json'])).stdout).servers
    expect(mail).toMatchObject({
      fromFiles: [join(anna.home, '.cursor', 'mcp.json')],
      env: { CITY: 'Rome' },
      warnings: [expect.any(String)],
    })
    expect(JSON.stringify(mail)).not.toContain('sk-abc')
  })

  test('a person at a terminal is asked before a secret is moved, and may look at it first', async () => {
    const anna = withServers({ mail: { command: 'mail', args: ['send', '--token', 'hunter2secret'] } })
    const terminal = anna.sit(['servers', 'import', 'mail'])
    await terminal.until('● Move them')
    expect(terminal.text()).toContain('mail: args[2], 13 characters')
    expect(terminal.text()).not.toContain('hunter2')
    terminal.type(KEY.down + KEY.enter)
    await terminal.until(/args\[2\] is hunter2secret[\s\S]*● Move them/)
    terminal.type(KEY.enter)
    await answerQuestion(terminal, 'Start mail?', 'n')
    expect(await terminal.exit, terminal.text()).toBe(0)
    expect((await anna.run(['secrets', 'list'])).stdout).toBe('mail/args2\n')
  })

  test('a command longer than the screen is listed to its end', async () => {
    const long = Array.from({ length: 60 }, (_, i) => `word${i}`)
    const anna = withServers({ mail: { command: 'mail', args: [...long, 'the-end'] } })
    const terminal = anna.sit(['servers', 'import', 'mail'])
    await terminal.until('Imported 1 server: mail.')
    expect(terminal.text()).toContain('the-end')
    await answerQuestion(terminal, 'Start mail', 'n')
    expect(await terminal.exit, terminal.text()).toBe(0)
    expect(terminal.text()).toContain('Not enabled: mail. To be asked again: portico servers enable mail')
  })

  test('without a person to ask, a named server is not started, and the exit code says why', async () => {
    const anna = person()
    const mark = join(anna.home, 'started')
    await anna.run(['servers', 'add', 'ev', '--', process.execPath, '-e', `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`])
    const { code, stderr } = await anna.run(['tools', 'ev'])
    expect(code).toBe(3)
    expect(stderr).toContain('Starting ev needs your approval')
    expect(existsSync(mark)).toBe(false)
  })

  test('a person at a terminal approves the command, which enables the offering, and then the call', async () => {
    proves('T-TOOL-003')
    const anna = person()
    await anna.run(['servers', 'add', 'ask', ...serveFixture('asking.mjs')])
    const terminal = anna.sit(['call', 'ask/slow'])
    for (const title of ['Start ask?', 'Call ask/slow?']) await answerQuestion(terminal, title, 'y')
    expect(await terminal.exit, terminal.text()).toBe(0)
    expect(terminal.text()).toContain('ask enabled: 5 tools')
    expect(terminal.text()).toContain('all three done')
    // The yes to the start was remembered.
    const again = anna.sit(['call', 'ask/slow'])
    await answerQuestion(again, 'Call ask/slow?', 'y')
    expect(await again.exit, again.text()).toBe(0)
    expect(again.text()).not.toContain('Start ask?')
  }, 40_000)
})

describe('with a policy that allows it', () => {
  test('an allowed call runs without a question and is logged, and tampering with the log is detected', async () => {
    const anna = await trusting()
    expect(await anna.run(['call', 'ev/test_simple_text'])).toMatchObject({
      code: 0,
      stdout: 'This is a simple text response for testing.\n',
    })
    const shown = (await anna.run(['audit', 'show'])).stdout
    expect(shown).toContain('allowed tool.call ev/test_simple_text')
    expect(shown).toMatch(/ \d+ done in \d+ ms, \d+ bytes$/m)
    expect(shown).not.toContain('durationMs')
    expect((await anna.run(['audit', 'verify'])).code).toBe(0)
    const folder = join(anna.host, 'audit')
    const segment = readdirSync(folder).find((name) => readFileSync(join(folder, name), 'utf8').includes('test_simple_text')) as string
    writeFileSync(join(folder, segment), readFileSync(join(folder, segment), 'utf8').replace('test_simple_text', 'test_simple_texx'))
    const broken = await anna.run(['audit', 'verify'])
    expect(broken.code).toBe(7)
    expect(broken.stdout).toMatch(/✗ record \d+ /)
  })

  test('records cut off at the end are detected with an anchor, and a missing log without one', async () => {
    const anna = await trusting()
    await anna.run(['call', 'ev/test_simple_text'])
    const folder = join(anna.host, 'audit')
    const segment = join(folder, 'audit-000001.jsonl')
    const short = readFileSync(segment)
    await anna.run(['call', 'ev/test_simple_text'])
    const anchors = join(anna.home, 'anchors')
    expect(await anna.run(['audit', 'anchor', anchors])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('now covers the log up to record'),
    })
    const whole = await anna.run(['audit', 'verify', '--anchors', anchors])
    expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is missing up to the newest checkpoint') })
    writeFileSync(segment, short)
    expect(await anna.run(['audit', 'verify'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Not checked: whether records were cut off/),
    })
    const cut = await anna.run(['audit', 'verify', '--anchors', anchors])
    expect(cut).toMatchObject({ code: 7, stdout: expect.stringMatching(/\(audit-\d+\.jsonl\): the log ends before this record/) })
    writeFileSync(segment, '')
    for (const args of [
      ['audit', 'verify'],
      ['audit', 'anchor', anchors],
    ])
      expect(await anna.run(args)).toMatchObject({ code: 7, stdout: expect.stringContaining('has a key but no records') })
    expect((await anna.run(['audit', 'verify', '--help'])).stdout).toMatch(/cut\s+off\s+at\s+the\s+end\s+are\s+found\s+only\s+with/)
  }, 60_000)

  test('the log reports an unfinished action after a crash, and a zero byte in it stops everything', async () => {
    const anna = await trusting()
    await anna.run(['call', 'ev/test_simple_text'])
    const folder = join(anna.host, 'audit')
    const segment = join(folder, 'audit-000001.jsonl')
    appendFileSync(segment, '{"at":12,"entry":{"acti')
    expect((await anna.run(['call', 'ev/test_simple_text'])).code).toBe(0)
    expect((await anna.run(['audit', 'show'])).stdout).toContain('set aside 23 bytes of an incomplete record')
    const mended = await anna.run(['audit', 'verify'])
    expect(mended).toMatchObject({ code: 0, stdout: expect.stringContaining('The last record was incomplete once') })
    const bytes = readFileSync(segment)
    bytes[bytes.indexOf('test_simple_text')] = 0
    writeFileSync(segment, bytes)
    const refused = await anna.run(['call', 'ev/test_simple_text'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('is damaged')
    expect((await anna.run(['audit', 'verify'])).code).toBe(7)
    expect((await anna.run(['audit', 'show'])).stderr).toContain('is not a record')
    expect(readFileSync(segment).equals(bytes)).toBe(true)
  })

  test('approved tools are listed and completed', async () => {
    const anna = await trusting()
    await anna.run(['tools', 'ev'])
    expect((await anna.run(['pins', 'list', 'ev'])).stdout).toContain('test_simple_text')
    expect(await anna.run(['pins', 'diff', 'ev'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('No changes since your approval'),
    })
    expect((await anna.run(['__complete', 'zsh', 'call', 'ev/test_simple_t'])).stdout).toBe('ev/test_simple_text\n')
    expect((await anna.run(['__complete', 'zsh', 'tools', 'e'])).stdout).toBe('ev\n')
  })

  test('the scripted model may use an allowed server', async () => {
    const anna = await trusting()
    const { code, stdout, stderr } = await anna.run(['chat', '--json', 'call test_simple_text'])
    expect(code, stderr).toBe(0)
    const parts = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(parts.at(-1)).toMatchObject({ type: 'end', reason: 'done' })
  })
})

describe('policy', () => {
  test('policy explain prints the decision and its rule', async () => {
    const anna = await trusting()
    expect((await anna.run(['policy', 'explain', 'ev/test_simple_text'])).stdout).toContain('allow')
    const unknown = await anna.run(['policy', 'explain', 'nobody/x', '--json'])
    expect(JSON.parse(unknown.stdout)).toMatchObject({ decision: { effect: 'deny' } })
  })

  test('policy rules about the project folder are judged like in a host there, links resolved', async () => {
    const anna = person()
    await anna.run(['servers', 'add', 'files', '--trusted', ...serve('files', anna.home)])
    const file = join(anna.home, 'rules.yaml')
    const within = '$' + '{root:project}'
    writeFileSync(
      file,
      `rules:\n  - { id: here, effect: allow, match: { action: tool.call, server: files, tier: trusted }, args: { /path: { within: '${within}' } } }\n`,
    )
    symlinkSync('/etc/hosts', join(anna.home, 'link'))
    const effectOf = async (path: string): Promise<unknown> => {
      const { stdout } = await anna.run(['policy', 'explain', 'files/read', `path=${path}`, '--json', '--with', file])
      return JSON.parse(stdout).decision.effect
    }
    expect(await effectOf(join(anna.home, 'rules.yaml'))).toBe('allow')
    expect(await effectOf(join(anna.home, 'link'))).toBe('ask')
    expect(await effectOf('/etc/hosts')).toBe('ask')
    expect((await anna.run(['policy', 'lint', '--with', file])).stdout).not.toContain('no root')
  })

  test('policy lint finds a rule about an unknown server', async () => {
    const anna = await trusting()
    writeFileSync(join(anna.home, 'odd.yaml'), 'rules:\n  - { id: odd, effect: allow, match: { action: tool.call, server: evv } }\n')
    const { stdout } = await anna.run(['policy', 'lint', '--with', 'odd.yaml'])
    expect(stdout).toContain('odd')
    expect((await anna.run(['policy', 'lint'])).code).toBe(0)
  })

  test('an invalid policy file is refused, with the place', async () => {
    const anna = person()
    writeFileSync(join(anna.home, 'odd.yaml'), 'rules:\n  - { id: odd, effect: perhaps, match: {} }\n')
    const { code, stderr } = await anna.run(['policy', 'lint', '--with', 'odd.yaml'])
    expect(code).toBe(8)
    expect(stderr).toContain('odd.yaml')
  })

  test('policy test runs cases, and policy replay lists decisions that would change', async () => {
    const anna = await trusting()
    mkdirSync(join(anna.home, 'cases'))
    const cases = (expected: string): string =>
      `cases:\n  - { name: a call, action: { kind: tool.call, server: ev, tool: test_simple_text, tier: untrusted }, expect: ${expected} }\n`
    writeFileSync(join(anna.home, 'cases', 'one.yaml'), cases('allow'))
    expect((await anna.run(['policy', 'test', 'cases'])).code).toBe(0)
    writeFileSync(join(anna.home, 'cases', 'one.yaml'), cases('deny'))
    expect((await anna.run(['policy', 'test', 'cases'])).code).toBe(9)
    await anna.run(['call', 'ev/test_simple_text'])
    expect((await anna.run(['policy', 'replay'])).code).toBe(0)
    writeFileSync(join(anna.home, 'strict.yaml'), 'rules:\n  - { id: no, effect: deny, match: { action: tool.call } }\n')
    const changed = await anna.run(['policy', 'replay', '--with', 'strict.yaml'])
    expect(changed.code).toBe(9)
    expect(changed.stdout).toContain('allow → deny')
  })
})

test('a question without a terminal waits in the inbox, and another process answers it', async () => {
  const anna = await trusting()
  writeFileSync(join(anna.host, 'policy.yaml'), ALLOW.replace(/.*calls.*\n/, ''))
  const running = anna.run(['call', '--inbox', 'ev/test_simple_text'])
  await expect.poll(async () => (await anna.run(['inbox', 'list'])).stdout, { timeout: 10_000 }).toContain('Call ev/test_simple_text?')
  expect((await anna.run(['inbox', 'answer', '--allow'])).code).toBe(0)
  expect(await running).toMatchObject({ code: 0, stdout: 'This is a simple text response for testing.\n' })
  // The answer counts as a question: a rule that saves it is a change.
  expect(await anna.run(['policy', 'replay'])).toMatchObject({ code: 0, stderr: expect.stringContaining(' 0 changed') })
  writeFileSync(join(anna.home, 'open.yaml'), ALLOW)
  expect(await anna.run(['policy', 'replay', '--with', 'open.yaml'])).toMatchObject({
    code: 9,
    stdout: expect.stringContaining('tool.call ev/test_simple_text: ask → allow'),
    stderr: expect.stringContaining(' 1 changed'),
  })
  const refused = anna.run(['call', '--inbox', 'ev/test_simple_text'])
  await expect.poll(async () => (await anna.run(['inbox', 'list'])).stdout, { timeout: 10_000 }).toContain('test_simple_text')
  await anna.run(['inbox', 'answer', '--deny', 'not today'])
  expect(await refused).toMatchObject({ code: 4, stderr: expect.stringContaining('not today') })
}, 60_000)

test("a question in the inbox is shown in full, with the person's secrets folded by default", async () => {
  const anna = person()
  const args = { password: 'hunter2hunter2', body: `first line\n${'word '.repeat(100)}the end` }
  const parked = question({ subject: { ...CALL, args, isOwn: true } })
  const answer = inboxAsker({ folder: join(anna.host, 'inbox') }).ask(parked, new AbortController().signal)
  await expect
    .poll(async () => (await anna.run(['inbox', 'list'])).stdout, { timeout: 10_000 })
    .toContain('The model wants to call mail/send. Allow it?')
  const { stdout: short } = await anna.run(['inbox', 'show'])
  expect(short).toContain('argument password: │ [14 characters hidden]')
  expect(short).toContain('not shown: 14 characters')
  expect(short).toMatch(/│ first line\n {2}│ word .* the end\n/)
  expect((await anna.run(['inbox', 'show', parked.id, '--whole'])).stdout).toContain('argument password: │ hunter2hunter2')
  expect(await anna.run(['inbox', 'show', 'nothing'])).toMatchObject({ code: 2 })
  await anna.run(['inbox', 'answer', '--deny'])
  expect(await answer).toMatchObject({ kind: 'deny' })
}, 60_000)

test('secrets are read from standard input, listed by name only, and can be deleted', async () => {
  const anna = person()
  expect((await anna.run(['secrets', 'set', 'mail/key'], 'hunter2\n')).code).toBe(0)
  expect((await anna.run(['secrets', 'list'])).stdout).toBe('mail/key\n')
  expect((await anna.run(['secrets', 'remove', 'mail/kez'])).stderr).toContain('Did you mean "mail/key"?')
  expect((await anna.run(['secrets', 'remove', 'mail/key'])).code).toBe(0)
  expect((await anna.run(['secrets', 'list'])).stdout).toBe('')
})
