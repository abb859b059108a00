/** Attacks through the configuration of a project: it starts nothing without a yes, and the question shows the whole command. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createHost, readAudit } from '../../../src/host/index.ts'
import { proves } from '../../support/proves.ts'
import { hosts, NO, person, script, until } from '../hosts.ts'

const { folder, host: hostWith } = hosts()

const project = (args: readonly string[] = [], env: Record<string, string> = {}) => {
  const home = folder()
  const marker = join(home, 'marker')
  const file = script(
    home,
    `writeFileSync(${JSON.stringify(marker)}, 'started')
     serveStdio(createServer({ name: 'x', version: '1' }), {})`,
  )
  const config = join(home, '.mcp.json')
  writeFileSync(config, JSON.stringify({ mcpServers: { cloned: { command: process.execPath, args: [file, ...args], env } } }))
  return { home, config, file, wasStarted: () => existsSync(marker) }
}

describe('a server in the configuration of a project', () => {
  test('a server of a project is not started without a person to ask: no process, and ERR_CONSENT', async () => {
    const { home, config, wasStarted } = project()
    const host = await hostWith({ config, project: home })
    expect(host.health().cloned).toMatchObject({ state: 'refused', error: { code: 'ERR_CONSENT' } })
    await expect(host.call({ server: 'cloned', name: 'any' })).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
    expect(wasStarted()).toBe(false)
  })

  test('a server of a project is not started by bypass or by a policy of the project', async () => {
    const { home, config, wasStarted } = project()
    const policy = join(home, 'policy.yaml')
    writeFileSync(policy, 'rules:\n  - id: mine\n    effect: allow\n    match: { action: server.launch }\n')
    const host = await hostWith({ config, project: home, isBypassing: true, policy: { project: policy } })
    expect(host.health().cloned).toMatchObject({ state: 'refused' })
    expect(wasStarted()).toBe(false)
  })

  test('a server of a project is not started after a denial, which is logged', async () => {
    proves('R-SEC-013')
    const { home, config, wasStarted } = project()
    const kept = folder()
    const host = await hostWith({ config, project: home, folder: kept, ask: person(() => NO) })
    expect(host.health().cloned).toMatchObject({ state: 'refused', error: { code: 'ERR_DENIED' } })
    expect(wasStarted()).toBe(false)
    await host.close()
    const kinds: string[] = []
    for await (const record of readAudit(join(kept, 'audit'))) if ('entry' in record) kinds.push(`${record.kind} ${record.entry.action}`)
    expect(kinds).toEqual(['refusal server.launch'])
  })

  test('a server of a project is not started before the person answers', async () => {
    const { home, config, wasStarted } = project()
    let answer = (_: undefined): void => {}
    const thinking = new Promise<undefined>((resolve) => {
      answer = resolve
    })
    const ask = person(() => thinking)
    const host = await createHost({ config, project: home, folder: folder(), keychain: false, ask })
    await host.settled()
    expect(ask.asked).toEqual([])
    const using = host.enable('cloned')
    await until(() => ask.asked.length === 1)
    expect(wasStarted()).toBe(false)
    answer(undefined)
    await using.catch(() => {})
    expect(wasStarted()).toBe(true)
    await host.close()
  })

  test('a server of a project is shown with all its arguments, with invisible characters made visible', async () => {
    proves('R-SEC-013')
    const long = `${'x'.repeat(50_000)} the end of a long argument`
    const args = ['--flag', 'two words', "it's", long, '', 'a\u001b[2Kb\u202Ec\u200Bd', '; rm -rf /']
    const { home, config, file } = project(args, { WORD: 'a value that is in the file' })
    const ask = person(() => NO)
    await hostWith({ config, project: home, ask })
    expect(ask.saw('launch')[0]).toMatchObject({ command: process.execPath, args: [file, ...args], cwd: home, envNames: ['WORD'] })
    const text = ask.read()
    expect(text).toContain(long)
    expect(text).toContain('the program runs on this computer with your permissions')
    expect(text).toContain("'two words'")
    expect(text).toContain("'; rm -rf /'")
    for (const acting of ['\u001b', '\u202E', '\u200B']) expect(text).not.toContain(acting)
    expect(text).toContain('WORD')
    expect(text).toContain(home)
    expect(text).toContain(file)
  })

  test('the value of a variable is in the question about the start, and a secret variable as code is refused', async () => {
    vi.stubEnv('PORTICO_TEST_CODE', 'run this')
    onTestFinished(() => void vi.unstubAllEnvs())
    const shown = project([`\${PORTICO_TEST_CODE}`])
    const ask = person(() => NO)
    await hostWith({ config: shown.config, project: shown.home, ask })
    expect(ask.read()).toContain('your environment variable PORTICO_TEST_CODE (= run this) goes into argument 2')
    const hiding = project([], { NODE_OPTIONS: `\${PORTICO_TEST_TOKEN:-x}` })
    const host = await hostWith({ config: hiding.config, project: hiding.home, ask: person() })
    expect(host.health().cloned).toMatchObject({ error: { code: 'ERR_CONFIG' } })
    expect(hiding.wasStarted()).toBe(false)
  })

  test('several servers are asked about one by one, and each needs its own approval', async () => {
    const [one, two] = [project(), project()]
    const config = join(one.home, 'both.json')
    const entry = (file: string) => ({ command: process.execPath, args: [file] })
    writeFileSync(config, JSON.stringify({ mcpServers: { one: entry(one.file), two: entry(two.file) } }))
    const ask = person(({ server }) => (server.id === 'two' ? NO : { kind: 'allow', scope: 'always', width: 'any' }))
    const host = await hostWith({ config, ask })
    expect(host.health()).toMatchObject({ one: { state: 'ready' }, two: { state: 'refused' } })
    expect([one.wasStarted(), two.wasStarted()]).toEqual([true, false])
  })
})
