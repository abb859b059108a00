import { expect, onTestFinished, test } from 'vitest'
import { viewOf } from '../../src/apps/index.ts'
import type { Answers, Client, Tool } from '../../src/client/index.ts'
import { PLAN_VIEW_URI } from '../../src/demo/deploy/plan-view.ts'
import { type DeployOptions, type DeployServer, deployServer } from '../../src/demo/deploy/server.ts'
import { toolViewOf } from '../../src/protocol/model/apps.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import type { PairOptions } from '../../src/testing/index.ts'
import { pair, rehearse } from '../../src/testing/index.ts'

const versions = REVISIONS.map(({ version }) => version)
const WISH = { service: 'api', version: '1.4.0', environment: 'staging' }

const status = async (client: Client) => {
  const { contents } = await client.read('deploy://status')
  return JSON.parse((contents[0] as { text: string }).text) as {
    environments: Record<string, Record<string, string>>
    running: unknown[]
    past: { outcome: string; step?: string; reason?: string }[]
  }
}

test.each(versions)('plan changes nothing, deploy runs all steps, rollback restores the previous version (%s)', async (revision) => {
  const server = deployServer({ stepMs: 1 })
  const { client, close } = await pair(server, { revision, cache: false })
  const plan = await client.call<{ steps: string[]; from: string }>('plan', WISH)
  expect(JSON.stringify(plan.content)).toContain('1.0.0')
  expect(server.effects).toBe(0)
  const seen: number[] = []
  await client.call('deploy', { ...WISH, reason: 'a fix' }, { onProgress: ({ progress }) => seen.push(progress) })
  expect(server.effects).toBe(6)
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect((await status(client)).environments.staging?.api).toBe('1.4.0')
  await client.call('rollback', { service: 'api', environment: 'staging' })
  const { environments, past } = await status(client)
  expect(environments.staging?.api).toBe('1.0.0')
  expect(past.map(({ outcome }) => outcome)).toEqual(['rolled back', 'deployed'])
  const again = await client.call('rollback', { service: 'web', environment: 'staging' })
  expect(again.isError).toBe(true)
  await close()
})

async function started(options: DeployOptions = {}, pairing: PairOptions = {}): Promise<{ client: Client; server: DeployServer }> {
  const server = deployServer({ stepMs: 1, ...options })
  const { client, close } = await pair(server, { cache: false, ...pairing })
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  return { client, server }
}

const textOf = async (client: Client, tool: string, args: Record<string, unknown>): Promise<string> => {
  const { content } = await client.call(tool, args)
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

const withForms = versions.slice(2)
const withPages = versions.slice(3)

test.each(withForms)('the person chooses the environment and the reason, or cancels (%s)', async (revision) => {
  let answer: NonNullable<Awaited<ReturnType<NonNullable<Answers['elicit']>>>> = { action: 'decline' }
  const asked: string[] = []
  const { client, server } = await started(
    {},
    {
      revision,
      answer: {
        elicit: ({ message }) => {
          asked.push(message)
          return answer
        },
      },
    },
  )
  expect(await textOf(client, 'deploy', { ...WISH, reason: 'a fix' })).toContain('declined')
  expect(server.effects).toBe(0)
  expect(asked).toEqual(['Deploy api 1.4.0 to staging?'])
  answer = { action: 'accept', content: { environment: 'development', reason: 'try it first' } }
  await client.call('deploy', WISH)
  const { environments, past } = await status(client)
  expect([environments.staging?.api, environments.development?.api]).toEqual(['1.0.0', '1.4.0'])
  expect(past[0]).toMatchObject({ outcome: 'deployed', reason: 'try it first' })
  answer = { action: 'accept', content: { sure: false } }
  expect(await textOf(client, 'rollback', { service: 'api', environment: 'development' })).toContain('did not confirm')
  answer = { action: 'accept', content: { sure: true } }
  await client.call('rollback', { service: 'api', environment: 'development' })
  expect((await status(client)).environments.development?.api).toBe('1.0.0')
})

const CONFIRM: Answers['elicit'] = () => ({ action: 'accept', content: { environment: 'production', reason: 'a <b>fix</b>' } })

test.each(withPages)('a deployment to production waits for approval on the page of the server (%s)', async (revision) => {
  const pages: string[] = []
  const { client, server } = await started(
    {},
    {
      revision,
      answer: {
        elicit: CONFIRM as NonNullable<Answers['elicit']>,
        elicitUrl: ({ href }) => {
          pages.push(href)
          return { action: 'accept' }
        },
      },
    },
  )
  const deploying = client.call('deploy', { ...WISH, environment: 'production' })
  await expect.poll(() => pages.length).toBe(1)
  const [page = ''] = pages
  const shown = await fetch(page)
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await shown.text()).toContain('api 1.4.0 to production: a &#60;b&#62;fix')
  expect(server.effects).toBe(0)
  expect((await fetch(page, { method: 'POST', headers: { origin: 'https://elsewhere.example' } })).status).toBe(403)
  expect((await fetch(`${page}x`, { method: 'POST' })).status).toBe(404)
  expect(server.effects).toBe(0)
  expect((await fetch(page, { method: 'POST', headers: { origin: new URL(page).origin } })).status).toBe(200)
  expect((await deploying).isError).toBeFalsy()
  expect(server.effects).toBe(6)
  expect((await fetch(page)).status).toBe(404)
})

test.each(versions.slice(0, 3))('a client without pages passes the id of a given approval, which is valid once (%s)', async (revision) => {
  const { client, server } = await started({}, { revision })
  const wish = { ...WISH, environment: 'production', reason: 'a fix' }
  const said = await textOf(client, 'deploy', wish)
  const [, url = '', approval = ''] = /at (\S+) ; .*approval "(\S+)"/.exec(said) ?? []
  expect(await textOf(client, 'deploy', { ...wish, approval })).toContain('not given')
  await fetch(url, { method: 'POST' })
  expect(await textOf(client, 'deploy', { ...wish, version: '6.6.6', approval })).toContain('for another deployment')
  expect(server.effects).toBe(0)
  expect((await client.call('deploy', { ...wish, approval })).isError).toBeFalsy()
  expect(await textOf(client, 'deploy', { ...wish, approval })).toContain('already used')
  expect(server.effects).toBe(6)
})

test('an expired or declined approval request deploys nothing', async () => {
  let action: 'accept' | 'decline' = 'accept'
  const answer: Answers = { elicit: CONFIRM as NonNullable<Answers['elicit']>, elicitUrl: () => ({ action }) }
  const { client, server } = await started({ approvalTimeoutMs: 100 }, { answer })
  expect(await textOf(client, 'deploy', { ...WISH, environment: 'production' })).toContain('not given in time')
  action = 'decline'
  expect(await textOf(client, 'deploy', { ...WISH, environment: 'production' })).toContain('declined')
  expect(server.effects).toBe(0)
})

test('the number of pending approvals is limited', async () => {
  const { client, server } = await started({ maxApprovals: 2 })
  const wish = { ...WISH, environment: 'production', reason: 'a fix' }
  for (let i = 0; i < 2; i++) expect(await textOf(client, 'deploy', wish)).toContain('must first approve')
  expect(await textOf(client, 'deploy', wish)).toContain('maxApprovals')
  expect(server.pending).toHaveLength(2)
})

test.each(versions)('a cancelled deployment stops between two steps and records the step (%s)', async (revision) => {
  const logs: unknown[] = []
  const { client, server } = await started({ stepMs: 50 }, { revision, logLevel: 'info', onLog: ({ data }) => logs.push(data) })
  const cancel = new AbortController()
  const call = client.call(
    'deploy',
    { ...WISH, reason: 'a fix' },
    {
      signal: cancel.signal,
      onProgress: ({ progress }) => {
        if (progress === 3) cancel.abort()
      },
    },
  )
  await expect(call).rejects.toThrow()
  await expect.poll(async () => (await status(client)).past[0]?.outcome).toBe('stopped')
  const { past, running, environments } = await status(client)
  expect(past[0]?.step).toBe('step 3 of 6: start it next to the old version')
  expect(running).toEqual([])
  expect(environments.staging?.api).toBe('1.0.0')
  expect(server.effects).toBe(2)
  expect(logs).toContainEqual({ service: 'api', environment: 'staging', step: 'check its signature' })
})

test.each(versions)('a subscriber to the status is notified during a deployment (%s)', async (revision) => {
  const { client } = await started({ stepMs: 10 }, { revision })
  const changes = client.watch('deploy://status')
  const next = changes.next()
  const deploying = (async () => {
    for (let i = 0; i < 5; i++) await client.call('deploy', { ...WISH, reason: 'a fix' })
  })()
  expect((await next).value).toEqual({ uri: 'deploy://status' })
  await deploying
  await changes.return(undefined)
})

test('two deployments of one service to one environment do not run at the same time', async () => {
  const { client } = await started({ stepMs: 20 })
  const [one, two] = await Promise.all([1, 2].map(() => client.call('deploy', { ...WISH, reason: 'a fix' })))
  expect([one?.isError ?? false, two?.isError ?? false].sort()).toEqual([false, true])
})

test('completion suggests environments, and an unknown environment is not found', async () => {
  const { client } = await started()
  const ref = { type: 'ref/resource', uri: 'deploy://environments/{environment}' } as const
  expect((await client.complete({ ref, argument: { name: 'environment', value: 'st' } })).values).toEqual(['staging'])
  await expect(client.read('deploy://environments/nowhere')).rejects.toThrow('not found')
})

test('a deployment runs once, even if its questions take several rounds', async () => {
  const server = deployServer({ stepMs: 1, approvalUrl: (id) => `https://approve.example/${id}` })
  const effects = { steps: () => server.effects }
  const confirm = { environment: 'staging', reason: 'a fix' }
  const staging = await rehearse(server, 'deploy', WISH, { confirm }, { effects })
  expect(staging.rounds).toEqual([['confirm']])
  expect(server.effects).toBe(6)
  const back = await rehearse(server, 'rollback', { service: 'api', environment: 'staging' }, { confirm: { sure: true } }, { effects })
  expect(back.rounds).toEqual([['confirm']])
  const wish = { ...WISH, environment: 'production' }
  const answers = { confirm: { environment: 'production', reason: 'a fix' }, approve: { action: 'accept' } }
  const approving = setInterval(() => server.pending.map((id) => server.approve(id)), 5)
  const production = await rehearse(server, 'deploy', wish, answers, { effects })
  clearInterval(approving)
  expect(production.rounds).toEqual([['confirm'], ['approve']])
  expect(production.result.isError).toBeUndefined()
  expect(server.effects).toBe(15)
  await server.close()
})

test('a client that shows views gets the page of the plan, which loads nothing from elsewhere', async () => {
  const server = deployServer({ stepMs: 1 })
  const { client, close } = await pair(server, {
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  })
  const plan = (await client.tools().all()).find(({ name }) => name === 'plan')
  expect(toolViewOf(plan as Tool).resourceUri).toBe(PLAN_VIEW_URI)
  const { html, domains } = viewOf(PLAN_VIEW_URI, await client.read(PLAN_VIEW_URI), 100_000)
  expect(Object.values(domains).flat()).toEqual([])
  expect(html).not.toMatch(/https?:|innerHTML|src=/)
  await close()
  await server.close()
})
