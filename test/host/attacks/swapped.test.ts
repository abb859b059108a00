/** What starts is what was agreed to: shown whole, started by the path that was found, looked at last. */

import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ServerSpec, StdioTransport } from '../../../src/host/model/server-spec.ts'
import { DEFAULT_ENTRY_FILE_LIMITS } from '../../../src/host/server-command/launch-context.ts'
import { proves } from '../../support/proves.ts'
import { hosts, NO, person, script, scriptText } from '../hosts.ts'

const { folder, host: hostWith } = hosts()
const newFolder = (): string => realpathSync(folder())

const ALWAYS = { kind: 'allow', scope: 'always', width: 'any' } as const
const SERVER = `serveStdio(createServer({ name: 'x', version: '1' }), {})`

const server = (transport: Omit<StdioTransport, 'type'>, spec: Partial<ServerSpec> = {}): Omit<ServerSpec, 'id'> => ({
  tier: 'untrusted',
  provenance: [],
  transport: { type: 'stdio', ...transport },
  ...spec,
})

/** A script that is not a server at all: that it is started is enough. */
const swapped = (home: string, name: string): void => writeFileSync(join(home, name), 'process.exit(1)')

describe('a script that was replaced after a lasting approval is asked about again', () => {
  test.each<[string, (home: string) => Omit<StdioTransport, 'type'>, string]>([
    [
      'loaded by NODE_OPTIONS',
      () => ({ command: process.execPath, args: ['main.mjs'], env: { NODE_OPTIONS: '--import=./x.mjs' } }),
      'x.mjs',
    ],
    [
      'loaded by NODE_OPTIONS in quotes',
      () => ({ command: process.execPath, args: ['main.mjs'], env: { NODE_OPTIONS: '--import="./\\x.mjs"' } }),
      'x.mjs',
    ],
    ['started by env', () => ({ command: 'env', args: [process.execPath, 'x.mjs'], env: {} }), 'x.mjs'],
    ['started by timeout', () => ({ command: 'timeout', args: ['60', process.execPath, 'x.mjs'], env: {} }), 'x.mjs'],
    [
      'after an option whose value is a file',
      () => ({ command: process.execPath, args: ['--conditions', 'package.json', 'x.mjs'], env: {} }),
      'x.mjs',
    ],
    ['started by a shell', () => ({ command: 'sh', args: ['-c', `exec ${process.execPath} x.mjs`], env: {} }), 'x.mjs'],
    [
      'named by what stands in for a variable',
      () => ({ command: process.execPath, args: [`\${env:PORTICO_TEST_UNSET:-x.mjs}`], env: {} }),
      'x.mjs',
    ],
    ['found through an empty entry of PATH', () => ({ command: 'tool', args: [], env: { PATH: `:${process.env.PATH}` } }), 'tool'],
  ])('a script that was replaced after a lasting approval is asked about again: %s', async (_name, transport, file) => {
    const home = newFolder()
    const kept = folder()
    writeFileSync(join(home, 'package.json'), '{}')
    script(home, SERVER, 'main.mjs')
    script(home, file === 'x.mjs' && transport(home).args.includes('main.mjs') ? '' : SERVER, 'x.mjs')
    writeFileSync(join(home, 'tool'), `#!/bin/sh\nexec ${process.execPath} ${join(home, 'main.mjs')}\n`)
    chmodSync(join(home, 'tool'), 0o755)
    const options = { servers: { x: server(transport(home)) }, project: home, folder: kept }
    const first = person(() => ALWAYS)
    const host = await hostWith({ ...options, ask: first })
    expect(host.health().x?.state).toBe('ready')
    expect(first.saw('launch')).toHaveLength(1)
    await host.close()

    const second = person(() => NO)
    const same = await hostWith({ ...options, ask: second })
    expect(second.saw('launch')).toHaveLength(0)
    await same.close()

    swapped(home, file)
    const third = person(() => NO)
    const other = await hostWith({ ...options, ask: third })
    expect(third.saw('launch')).toHaveLength(1)
    expect(third.read()).toContain(`the file ${join(home, file)} has changed since you approved it`)
    expect(third.asked[0]?.reasons[0]).toBe('It changed since you approved it')
    expect(other.health().x?.state).toBe('refused')
  })
})

describe('a command that runs code it does not name', () => {
  /** A build tool that starts the server. */
  const make = (home: string): Record<string, Omit<ServerSpec, 'id'>> => {
    script(home, SERVER, 'main.mjs')
    writeFileSync(join(home, 'make'), `#!/bin/sh\nexec ${process.execPath} ${join(home, 'main.mjs')}\n`)
    chmodSync(join(home, 'make'), 0o755)
    return { x: server({ command: './make', args: ['serve'], env: {} }) }
  }

  test('a command that runs unnamed code causes a warning, and no lasting approval is offered', async () => {
    const home = newFolder()
    const ask = person(() => NO)
    await hostWith({ servers: make(home), project: home, ask })
    expect(ask.asked[0]?.scopes).toEqual(['session', 'once', 'turn'])
    expect(ask.read()).toContain('! warning: The command runs code that it does not name')
  })

  test('a command that runs unnamed code is asked about again in the next run', async () => {
    const home = newFolder()
    const options = { servers: make(home), project: home, folder: folder() }
    for (const scope of ['always', 'project'] as const) {
      const ask = person(() => ({ ...ALWAYS, scope }))
      const host = await hostWith({ ...options, ask })
      expect(host.health().x?.state).toBe('ready')
      expect(ask.saw('launch')).toHaveLength(1)
      await host.close()
    }
  })
})

describe('a script that is replaced', () => {
  const asking = (home: string): Record<string, Omit<ServerSpec, 'id'>> => ({
    x: server(
      { command: process.execPath, args: [join(home, 'x.mjs')], env: { KEY: `\${input:key}` } },
      { inputs: [{ id: 'key', isSecret: true }] },
    ),
  })

  test('a script that is replaced while the person fills in an input is not started', async () => {
    const home = newFolder()
    script(home, SERVER, 'x.mjs')
    const ask = person(({ subject }) => {
      if (subject.kind !== 'form') return ALWAYS
      writeFileSync(join(home, 'x.mjs'), scriptText(`writeFileSync(${JSON.stringify(join(home, 'ran'))}, ''); ${SERVER}`))
      return { kind: 'allow', scope: 'once', edited: { value: 'secret' } }
    })
    const host = await hostWith({ servers: asking(home), project: home, ask })
    expect(ask.asked.map(({ subject }) => subject.kind)).toEqual(['launch', 'form'])
    expect(host.health().x).toMatchObject({ state: 'refused', error: { code: 'ERR_QUARANTINED' } })
  })

  test('a script that is replaced before the person enters a secret gets no secret', async () => {
    const home = newFolder()
    script(home, SERVER, 'x.mjs')
    const ask = person(() => {
      swapped(home, 'x.mjs')
      return ALWAYS
    })
    const host = await hostWith({ servers: asking(home), project: home, ask })
    expect(ask.asked.map(({ subject }) => subject.kind)).toEqual(['launch'])
    expect(host.health().x).toMatchObject({ state: 'refused', error: { code: 'ERR_QUARANTINED' } })
  })
})

describe('an input whose value the configuration proposes', () => {
  test('an input with a proposed value is asked for before the start, and its file is fingerprinted', async () => {
    const home = newFolder()
    const kept = folder()
    script(home, SERVER, 'x.mjs')
    const spec = server(
      { command: process.execPath, args: [`\${input:script}`], env: {} },
      { inputs: [{ id: 'script', isSecret: false, default: './x.mjs' }] },
    )
    const options = { servers: { x: spec }, project: home, folder: kept, passphrase: 'a passphrase for tests' }
    const ask = person(({ subject }) =>
      subject.kind === 'form' ? { kind: 'allow', scope: 'once', edited: { value: './x.mjs', keep: true } } : ALWAYS,
    )
    const host = await hostWith({ ...options, ask })
    expect(ask.asked.slice(0, 2).map(({ subject }) => subject.kind)).toEqual(['form', 'launch'])
    expect(ask.saw('launch')[0]).toMatchObject({ files: [join(home, 'x.mjs')], fills: [expect.stringContaining('(./x.mjs)')] })
    expect(host.health().x?.state).toBe('ready')
    await host.close()
    swapped(home, 'x.mjs')
    const again = person(() => NO)
    await hostWith({ ...options, ask: again })
    expect(again.saw('launch')).toHaveLength(1)
  })

  test('an input with a proposed value is not asked for where a rule forbids the start', async () => {
    const spec = server({ command: process.execPath, args: [`\${input:script}`], env: {} }, { inputs: [{ id: 'script', isSecret: false }] })
    const ask = person()
    const deny = { id: 'no', effect: 'deny', match: { action: 'server.launch' } } as const
    const host = await hostWith({ servers: { x: spec }, policy: { user: [deny] }, ask })
    expect(ask.asked).toEqual([])
    expect(host.health().x).toMatchObject({ state: 'refused', error: { code: 'ERR_DENIED' } })
  })
})

describe('the question about a start', () => {
  test('the question about a start shows the real program path, every file and every stored value', async () => {
    proves('R-SEC-014')
    const home = newFolder()
    mkdirSync(join(home, 'bin'))
    symlinkSync(process.execPath, join(home, 'bin/tool'))
    script(home, SERVER, 'x.mjs')
    const env = {
      PATH: './bin',
      NODE_OPTIONS: '--no-warnings',
      MODE: 'a b',
      API_KEY: 'abcdefghijkl',
      OTHER_TOKEN: '$(touch /tmp/x)',
      SECRET: `\${secret:mine}`,
    }
    const ask = person(() => NO)
    await hostWith({ servers: { x: server({ command: 'tool', args: ['x.mjs'], env }) }, project: home, ask })
    const [launch] = ask.saw('launch')
    expect(launch).toMatchObject({ program: realpathSync(process.execPath), files: [join(home, 'x.mjs')] })
    expect(launch?.env).toEqual(env)
    expect(launch?.changes).toEqual([
      'The variable PATH can change which program or code runs',
      'The variable NODE_OPTIONS can change which program or code runs',
    ])
    const text = ask.read()
    expect(text).toContain(`program: | ${realpathSync(process.execPath)}`)
    expect(text).toContain(`file: | ${join(home, 'x.mjs')}`)
    expect(text).toContain('variable: | NODE_OPTIONS=--no-warnings')
    expect(text).toContain('! warning: The variable NODE_OPTIONS')
    expect(text).toContain('variable: | API_KEY=abcdefghijkl')
  })

  test('the question about a start shows all values where the command contains code, and says so', async () => {
    const ask = person(() => NO)
    const transport = { command: 'sh', args: ['-c', 'node $TOKEN'], env: { TOKEN: 'abc' } }
    await hostWith({ servers: { x: server(transport) }, ask })
    expect(ask.saw('launch')[0]).toMatchObject({ env: { TOKEN: 'abc' }, changes: [expect.stringContaining('contains code')] })
  })

  test.each<[string, string[]]>([
    ['sh', ['-c', '--', 'eval "$(echo $API_TOKEN|base64 -d)"']],
    ['bash', ['-c', '-x', 'eval "$API_TOKEN"']],
    ['bash', ['-c', '-o', 'errexit', 'eval "$API_TOKEN"']],
    ['python3', ['-cimport os;os.system(os.environ["API_TOKEN"])']],
    ['perl', ['-eexec$ENV{API_TOKEN}']],
    ['node', ['--eval=eval(process.env.API_TOKEN)']],
    ['node', ['--import', 'data:text/javascript,0']],
    ['npm', ['exec', '--call=x']],
    ['awk', ['BEGIN{system(ENVIRON["API_TOKEN"])}']],
    ['git', ['-c', 'alias.x=!x', 'x']],
    ['ssh', ['-o', 'ProxyCommand=x', 'host']],
    ['tar', ['--checkpoint-action=exec=x']],
    ['make', ['--eval=x']],
    ['vim', ['-c', '!x']],
    ['sqlite3', ['x.db', '.shell x']],
    ['docker', ['run', 'image', 'sh', '-c', 'x']],
  ])('the question about a start shows every value and warns of code in the arguments of %s %j', async (command, args) => {
    const ask = person(() => NO)
    await hostWith({ servers: { x: server({ command, args, env: { API_TOKEN: 'dG91Y2ggL3RtcC94' } }) }, ask })
    const [launch] = ask.saw('launch')
    expect(launch?.env).toEqual({ API_TOKEN: 'dG91Y2ggL3RtcC94' })
    expect(launch?.changes).toContainEqual(expect.stringMatching(/code.*which can run files and programs that are not listed here/))
    expect(ask.read()).toContain('API_TOKEN=dG91Y2ggL3RtcC94')
  })

  test('the question about a start does not warn of names, addresses and placeholders', async () => {
    const ask = person(() => NO)
    const args = [
      '-y',
      '@x/y@1.2.3',
      '/home/ada/My Documents',
      'https://x.example/?a=1&b=2',
      `--key=\${secret:k}`,
      '-e',
      'NAME',
      '--port',
      '80',
    ]
    await hostWith({ servers: { x: server({ command: 'npx', args, env: {} }) }, ask })
    expect(ask.saw('launch')[0]?.changes.join()).not.toContain('code')
  })
})

test('the program is started by the resolved path, in the folder that was shown', async () => {
  const home = newFolder()
  mkdirSync(join(home, 'inside'))
  const seen = join(home, 'seen')
  writeFileSync(
    join(home, 'inside/tool'),
    `#!${process.execPath}\n${scriptText(`writeFileSync(${JSON.stringify(seen)}, [process.argv[1], process.cwd()].join(' '))\n${SERVER}`)}`,
  )
  writeFileSync(join(home, 'inside/package.json'), '{"type":"module"}')
  chmodSync(join(home, 'inside/tool'), 0o755)
  const transport = { command: 'tool', args: [], env: { PATH: `.:${process.env.PATH}` }, cwd: 'inside' }
  const host = await hostWith({ servers: { x: server(transport) }, project: home, ask: person() })
  expect(host.health().x?.state).toBe('ready')
  expect(readFileSync(seen, 'utf8')).toBe(`${join(home, 'inside/tool')} ${join(home, 'inside')}`)
})

test('a missing command is not started, and the error names it', async () => {
  const host = await hostWith({ servers: { x: server({ command: 'portico-no-such-program', args: [], env: {} }) }, ask: person() })
  expect(host.health().x).toMatchObject({
    lastError: { code: 'ERR_SPAWN', message: 'Cannot start "portico-no-such-program": there is no such command (ENOENT)' },
  })
})

test('a command that names too many files is not started, and the error names the limit', async () => {
  const ask = person()
  const transport = {
    command: process.execPath,
    args: [Array.from({ length: DEFAULT_ENTRY_FILE_LIMITS.maxLookups }, (_, i) => `a${i}`).join(',')],
    env: {},
  }
  const host = await hostWith({ servers: { x: server(transport) }, ask })
  expect(host.health().x).toMatchObject({ lastError: { code: 'ERR_LIMIT', message: expect.stringContaining('maxLookups') } })
  expect(ask.asked).toEqual([])
})
