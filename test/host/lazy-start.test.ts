/** When servers are started, what the person is asked about that, and how long their answer holds. */

import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createHost, type Host, type HostOptions } from '../../src/host/index.ts'
import type { Answer } from '../../src/host/model/question.ts'
import type { Rule } from '../../src/host/policy-tools/index.ts'
import { hosts, NO, type Person, person, script, scriptText, started, textOf, useAll } from './hosts.ts'

const { folder: newFolder } = hosts()

const SERVER = `
const server = createServer({ name: 'tools', version: '1' })
server.tool('say', {}, () => 'said')
await serveStdio(server)
`

const ALWAYS: Answer = { kind: 'allow', scope: 'always' }

/** As the key "y" of the terminal answers: with the scope that the question proposes. */
const agreeing = (): Person => person(({ scopes }) => ({ kind: 'allow', scope: scopes[0] ?? 'once' }))

/** Has settled. No server was used. */
async function open(options: HostOptions): Promise<Host> {
  const host = await createHost({ keychain: false, ...options })
  await host.settled()
  return host
}

/** A server that leaves a file when it is started. */
function marked(home: string): { file: string; mark: string } {
  const mark = join(home, 'started')
  return { mark, file: script(home, `appendFileSync(${JSON.stringify(mark)}, 'x')\n${SERVER}`) }
}

const startRule = (effect: Rule['effect']): NonNullable<HostOptions['policy']> => {
  return { user: [{ id: 'start', effect, match: { action: 'server.launch', server: 'tools' } }] }
}

describe('a server that the person has not agreed to', () => {
  test('a new server is neither started nor asked about until it is used', async () => {
    const home = newFolder()
    const { file, mark } = marked(home)
    const ask = agreeing()
    await using host = await open({ folder: join(home, 'host'), servers: { tools: started(file) }, ask })
    expect(host.health().tools).toEqual({ state: 'not-enabled' })
    expect(ask.asked).toEqual([])
    expect(existsSync(mark)).toBe(false)
    expect(textOf(await host.call('tools__say'))).toBe('said')
    expect(ask.saw('launch')).toHaveLength(1)
  })

  test('a server is asked about once, and its next start asks nothing', async () => {
    const home = newFolder()
    const { file } = marked(home)
    const options = { folder: join(home, 'host'), servers: { tools: started(file) } }
    const ask = agreeing()
    {
      await using host = await open({ ...options, ask })
      await Promise.all([host.call({ server: 'tools', name: 'say' }), host.call({ server: 'tools', name: 'say' })])
      expect(ask.saw('launch')).toHaveLength(1)
    }
    const again = agreeing()
    await using host = await open({ ...options, ask: again })
    expect(host.health().tools?.state).toBe('ready')
    expect(again.asked).toEqual([])
  })

  test('an approved server that is still starting has nothing to approve', async () => {
    const home = newFolder()
    const { file } = marked(home)
    const options = { folder: join(home, 'host'), servers: { tools: started(file) }, keychain: false as const }
    {
      await using host = await open({ ...options, ask: agreeing() })
      await host.enable('tools')
    }
    const ask = agreeing()
    await using host = await createHost({ ...options, ask })
    expect(host.health().tools?.state).not.toBe('ready')
    expect(host.review('tools')).toBeUndefined()
    await host.approve('tools')
    await host.settled()
    expect(host.review('tools')).toBeUndefined()
    expect(ask.asked).toEqual([])
  })

  test('the same name with another command, or a changed file, is asked about again', async () => {
    const home = newFolder()
    const { file, mark } = marked(home)
    const options = { folder: join(home, 'host') }
    {
      await using host = await open({ ...options, servers: { tools: started(file) }, ask: agreeing() })
      await host.enable('tools')
    }
    const other = script(join(home, 'other'), SERVER)
    const ask = agreeing()
    {
      await using host = await open({ ...options, servers: { tools: started(other) }, ask })
      expect(host.health().tools).toEqual({ state: 'not-enabled' })
    }
    writeFileSync(file, `${scriptText(`appendFileSync(${JSON.stringify(mark)}, 'evil')\n${SERVER}`)}`)
    await using host = await open({ ...options, servers: { tools: started(file) }, ask })
    expect(host.health().tools).toEqual({ state: 'not-enabled' })
    await host.enable('tools')
    expect(ask.saw('launch')[0]?.changes.join()).toContain('has changed since you approved it')
  })

  test.each<[string, Answer]>([
    ['a No', NO],
    ['a question that was closed', { kind: 'cancel' }],
  ])('%s holds as long as the host runs, and the error says how to be asked again', async (_name, answer) => {
    const home = newFolder()
    const { file, mark } = marked(home)
    let isAgreed = false
    const ask = person(() => (isAgreed ? ALWAYS : answer))
    await using host = await open({ folder: join(home, 'host'), servers: { tools: started(file) }, ask })
    const call = () => host.call({ server: 'tools', name: 'say' })
    for (let each = 0; each < 3; each++)
      await expect(call()).rejects.toMatchObject({
        code: 'ERR_DENIED',
        message: expect.stringMatching(/^tools was not started: .*\. To be asked again: portico servers enable tools$/),
      })
    expect(ask.asked).toHaveLength(1)
    expect(existsSync(mark)).toBe(false)
    isAgreed = true
    await host.enable('tools')
    expect(textOf(await call())).toBe('said')
  })

  test('a rule that allows the start needs no use, and a rule that denies it refuses at once', async () => {
    const home = newFolder()
    const { file, mark } = marked(home)
    {
      await using host = await open({
        folder: join(home, 'a'),
        servers: { tools: started(file) },
        policy: startRule('deny'),
        ask: agreeing(),
      })
      expect(host.health().tools).toMatchObject({ state: 'refused', error: { code: 'ERR_DENIED' } })
      expect(existsSync(mark)).toBe(false)
    }
    await using host = await open({ folder: join(home, 'b'), servers: { tools: started(file) }, policy: startRule('allow') })
    expect(host.health().tools?.state).toBe('ready')
  })
})

describe('a package without a fixed version', () => {
  /** `npx` that installs the version in a file into its cache and runs it, as the real one does. */
  function runner(home: string) {
    const cache = join(home, 'cache')
    const latest = join(home, 'latest')
    const bin = join(home, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'package.json'), '{"type":"module"}')
    writeFileSync(
      join(bin, 'npx'),
      `#!${process.execPath}\n${scriptText(`
        import { createHash } from 'node:crypto'
        import { mkdirSync } from 'node:fs'
        const name = createHash('sha512').update(process.argv.at(-1)).digest('hex').slice(0, 16)
        const folder = ${JSON.stringify(cache)} + '/_npx/' + name + '/node_modules/some-server'
        mkdirSync(folder, { recursive: true })
        writeFileSync(folder + '/package.json', JSON.stringify({ version: readFileSync(${JSON.stringify(latest)}, 'utf8') }))
        ${SERVER}`)}`,
    )
    chmodSync(join(bin, 'npx'), 0o755)
    const env = { PATH: `${bin}:${process.env.PATH}`, npm_config_cache: cache }
    const transport = { type: 'stdio' as const, command: 'npx', args: ['-y', 'some-server'], env }
    return {
      publish: (version: string) => writeFileSync(latest, version),
      options: { folder: join(home, 'host'), project: home, servers: { tools: started('unused', { transport }) } },
    }
  }

  test('its version becomes part of the approval with the first start, and another version is asked about', async () => {
    const { publish, options } = runner(newFolder())
    publish('1.2.3')
    const first = agreeing()
    {
      await using host = await open({ ...options, ask: first })
      await host.enable('tools')
      expect(first.saw('launch')).toMatchObject([{ isLatest: true }])
      expect(first.saw('launch')[0]).not.toHaveProperty('version')
      // A warning is no change.
      expect(first.asked[0]?.reasons[0]).toBe('It runs a program on this computer')
    }
    const second = agreeing()
    {
      await using host = await open({ ...options, ask: second })
      expect(host.health().tools?.state).toBe('ready')
      expect(second.asked).toEqual([])
    }
    publish('1.3.0')
    const third = agreeing()
    await using host = await open({ ...options, ask: third })
    expect(host.health().tools).toEqual({ state: 'not-enabled' })
    expect(third.asked).toEqual([])
    await useAll(host)
    expect(third.saw('launch')).toMatchObject([
      { version: '1.3.0', changes: expect.arrayContaining([expect.stringContaining('1.2.3 → 1.3.0')]) },
    ])
    expect(host.health().tools?.state).toBe('ready')
  })

  test('a package of the same version in the folder of a project is not the approved one', async () => {
    const home = newFolder()
    const { publish, options } = runner(home)
    publish('1.2.3')
    {
      await using host = await open({ ...options, ask: agreeing() })
      await host.enable('tools')
    }
    const fake = join(home, 'node_modules', 'some-server')
    mkdirSync(fake, { recursive: true })
    writeFileSync(join(fake, 'package.json'), '{"version":"1.2.3"}')
    const ask = agreeing()
    await using host = await open({ ...options, ask })
    expect(host.health().tools).toEqual({ state: 'not-enabled' })
  })
})
