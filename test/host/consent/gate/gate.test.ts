/** The gate where things go wrong, or go on, between a question, its answer and what is done about it. */

import { describe, expect, test, vi } from 'vitest'
import type { ActionRequest, RequestedAction } from '../../../../src/host/consent/gate/gate.ts'
import type { Answer, Question } from '../../../../src/host/model/question.ts'
import type { Policy } from '../../../../src/host/model/rule.ts'
import { type GateInMemoryOptions, gateInMemory } from './gate-in-memory.ts'

const ADD: RequestedAction = {
  kind: 'tool.call',
  run: 'run',
  turn: 0,
  initiator: 'model',
  server: { id: 'notes', fingerprint: 'f', tier: 'trusted', isKnown: true, labels: [] },
  primitive: { kind: 'tool', name: 'add', pin: 'p', state: 'pinned' },
  claimed: {},
  asserted: { destructiveHint: false, openWorldHint: false },
  args: { text: 'milk' },
  labels: [],
}

const wanting = (
  action: Partial<RequestedAction> | (() => Partial<RequestedAction>) = {},
  rest: Partial<ActionRequest> = {},
): ActionRequest => ({
  describe: () => ({ ...ADD, ...(typeof action === 'function' ? action() : action) }),
  subject: () => ({ kind: 'read', uri: 'a:b', isSubscription: false }),
  server: { id: 'notes', title: 'Notes', where: 'here' },
  chain: ['you'],
  ...rest,
})

/** Says yes this once, unless told otherwise. */
const gateWith = async (answer: (question: Question) => Answer | undefined = () => undefined, options: GateInMemoryOptions = {}) => {
  const asked: Question[] = []
  const all = await gateInMemory(async (question) => {
    asked.push(question)
    return answer(question) ?? { kind: 'allow', scope: 'once' }
  }, options)
  return { ...all, asked }
}

const done = async () => 'done'

test('nothing of a finished action is kept', async () => {
  const { gate } = await gateWith(({ askedAt: _, ...question }) => (question.run === 'no' ? { kind: 'deny' } : undefined))
  const runs = Array.from({ length: 300 }, (_, at) => [
    gate.run(wanting({ args: { at } }), done),
    gate.run(wanting({ args: { at }, run: 'no' }), done),
    gate.run(wanting({ args: { at } }), () => Promise.reject(new Error('broken'))),
  ]).flat()
  expect(gate.underway).toBe(runs.length)
  await Promise.allSettled(runs)
  await gate.settled(1_000)
  expect(gate.underway).toBe(0)
})

describe('the reasons of a question', () => {
  const rules: Policy = { layers: { project: [{ id: 'p', effect: 'ask', match: {}, reason: 'You approved this yesterday' }] }, roots: {} }

  test('a claim of the server against the call is first, and replaces the default', async () => {
    const { gate, asked } = await gateWith()
    await gate.run(wanting({ claimed: { destructiveHint: true }, asserted: {} }), done)
    expect(asked[0]?.reasons).toEqual(['This tool can delete or overwrite things, as its server says'])
  })

  test('without a rule or a guard, the first reason says what the action can do', async () => {
    const { gate, asked } = await gateWith()
    await gate.run(wanting({ claimed: {}, asserted: {} }), done)
    expect(asked[0]?.reasons).toEqual(['This tool can change things', 'You have no rule for this tool'])
    await gate.run(wanting({ claimed: { readOnlyHint: true }, asserted: {} }), done)
    expect(asked[1]?.reasons[0]).toBe('The server says that this tool only reads, and you have not accepted that')
    await gate.run(wanting({ claimed: { openWorldHint: true }, asserted: {}, args: { other: 1 } }), done)
    expect(asked[2]?.reasons).toEqual(['This tool can reach the outside, as its server says'])
  })

  test('a rule of a project is quoted, and follows the reasons of the host', async () => {
    const { gate, asked } = await gateWith(undefined, { policy: rules })
    await gate.run(wanting({ claimed: { destructiveHint: true }, asserted: {} }), done)
    const quoted = 'A rule of this project says: "You approved this yesterday"'
    expect(asked[0]?.reasons).toEqual(['This tool can delete or overwrite things, as its server says', quoted])
    await gate.run(wanting(), done)
    expect(asked[1]?.reasons).toEqual([quoted])
  })
})

test('an action is described when it is decided, answered and done, and grants are looked up twice', async () => {
  const { gate, grants } = await gateWith()
  const live = vi.spyOn(grants, 'live')
  const describe = vi.fn(() => ADD)
  await gate.run({ ...wanting(), describe }, done)
  expect(describe).toHaveBeenCalledTimes(3)
  expect(live).toHaveBeenCalledTimes(2)
})

describe('between the decision and the action', () => {
  test('an action that its caller aborts after the decision is not performed, and that is logged', async () => {
    const gone = new AbortController()
    const { gate, outcomes } = await gateWith(undefined, { onIntent: () => gone.abort(new Error('gone')) })
    const perform = vi.fn(done)
    await expect(gate.run(wanting({}, { signal: gone.signal }), perform)).rejects.toThrow('gone')
    expect(perform).not.toHaveBeenCalled()
    expect(outcomes).toMatchObject([{ kind: 'cancelled' }])
  })

  test.each<[string, Partial<RequestedAction>]>([
    ['another definition', { primitive: { kind: 'tool', name: 'add', pin: 'another', state: 'pinned' } }],
    ['a definition that was withdrawn', { primitive: { kind: 'tool', name: 'add', pin: 'p', state: 'changed' } }],
    ['another server', { server: { ...ADD.server, fingerprint: 'another' } }],
    ['a server that is configured no longer', { server: { ...ADD.server, isKnown: false } }],
  ])('%s after the decision stops the action', async (_, change) => {
    let now: Partial<RequestedAction> = {}
    const { gate, outcomes } = await gateWith(undefined, {
      onIntent: () => {
        now = change
      },
    })
    const perform = vi.fn(done)
    await expect(
      gate.run(
        wanting(() => now),
        perform,
      ),
    ).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    expect(perform).not.toHaveBeenCalled()
    expect(outcomes).toMatchObject([{ kind: 'failed', error: 'ERR_QUARANTINED' }])
  })

  test('a limit is checked again at the moment of the action', async () => {
    const { gate } = await gateWith(undefined, {
      policy: {
        layers: { user: [{ id: 'two', effect: 'allow', match: { action: 'tool.call' }, limits: { concurrent: 2 } }] },
        roots: {},
      },
    })
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const running = [1, 2, 3, 4, 5].map((text) =>
      gate.run(wanting({ args: { text } }), async () => {
        await ended
        return 'done'
      }),
    )
    await expect(
      Promise.any(
        running.map((each) =>
          each.then(
            () => undefined,
            (error: Error) => error.message,
          ),
        ),
      ),
    ).resolves.toContain('concurrent')
    end()
    const results = await Promise.allSettled(running)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    // And those that are over do not count.
    await expect(gate.run(wanting(), done)).resolves.toBe('done')
  })
})

describe('a question without a valid answer', () => {
  test('a question whose asker fails is a denial, is logged, and leaves room for the next', async () => {
    let isBroken = true
    const { gate, entries } = await gateWith(
      () => {
        if (isBroken) throw new TypeError('no terminal')
        return undefined
      },
      { limits: { maxQuestions: 1 } },
    )
    const perform = vi.fn(done)
    await expect(gate.run(wanting(), perform)).rejects.toMatchObject({ code: 'ERR_CONSENT' })
    expect(perform).not.toHaveBeenCalled()
    expect(entries).toMatchObject([{ effect: 'deny', reasons: [expect.stringContaining('ERR_CONSENT'), expect.anything()] }])
    isBroken = false
    await expect(gate.run(wanting(), perform)).resolves.toBe('done')
  })

  test('a question without an answer in time is a denial, and is logged', async () => {
    const { gate, clock, entries } = await gateInMemory(() => new Promise(() => {}), { limits: { questionTimeoutMs: 1000 } })
    const running = gate.run(wanting(), done)
    const refused = expect(running).rejects.toMatchObject({ code: 'ERR_CONSENT', message: expect.stringContaining('questionTimeoutMs') })
    await clock.advance(1001)
    await refused
    expect(entries).toMatchObject([{ effect: 'deny' }])
  })

  test('a question over the limit is a denial that names the limit', async () => {
    const gone = new AbortController()
    const { gate, entries } = await gateInMemory(() => new Promise(() => {}), { limits: { maxQuestions: 2 } })
    const waiting = [1, 2].map((text) => gate.run(wanting({ args: { text } }, { signal: gone.signal }), done))
    const over = Promise.allSettled(waiting)
    await expect(gate.run(wanting(), done)).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxQuestions') })
    gone.abort(new Error('gone'))
    expect((await over).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(entries).toHaveLength(3)
  })

  test('the questions of one server are limited separately, so that others can still ask', async () => {
    const gone = new AbortController()
    const { gate } = await gateInMemory(() => new Promise(() => {}), { limits: { maxQuestions: 3, maxServerQuestions: 1 } })
    const ask = (initiator: 'server' | 'model', text: number) =>
      gate.run(wanting({ initiator, args: { text } }, { signal: gone.signal }), done)
    const waiting = [ask('server', 1), ask('model', 2)]
    await expect(ask('server', 3)).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxServerQuestions') })
    waiting.push(ask('model', 4))
    await expect(ask('model', 5)).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxQuestions') })
    gone.abort(new Error('gone'))
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  test('an unanswered question leaves no approval, and later rules and questions apply', async () => {
    const forbidding = { layers: { user: [{ id: 'no', effect: 'deny', match: { action: 'tool.call' } } as const] }, roots: {} }
    const gates = await gateWith(() => {
      if (gates.asked.length === 1) gates.setPolicy(forbidding)
      return undefined
    })
    const { gate, grants, asked, setPolicy, entries } = gates
    await expect(gate.run(wanting(), done)).rejects.toMatchObject({ code: 'ERR_DENIED', data: { by: 'policy' } })
    expect(await grants.list()).toEqual([])
    expect(entries).toMatchObject([{ effect: 'deny' }])
    setPolicy({ layers: {}, roots: {} })
    await expect(gate.run(wanting(), done)).resolves.toBe('done')
    expect(asked).toHaveLength(2)
  })
})

describe('an approval', () => {
  test('an approval holds only for the action as it was asked about', async () => {
    let count = 0
    const { gate, grants } = await gateWith()
    const perform = vi.fn(done)
    const want = wanting(() => ({ kind: 'elicit.form', args: { message: `question ${++count}` } }))
    await expect(gate.run(want, perform)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    expect(perform).not.toHaveBeenCalled()
    expect(await grants.list()).toEqual([])
  })

  test.each(['tool.call', 'elicit.form'] as const)('an approval of %s that is withdrawn at once does not hold', async (kind) => {
    const { gate } = await gateWith(undefined, { onAdd: (grants, id) => grants.revoke(id) })
    const perform = vi.fn(done)
    await expect(gate.run(wanting({ kind }), perform)).rejects.toMatchObject({ code: 'ERR_DENIED' })
    expect(perform).not.toHaveBeenCalled()
  })

  test('an approval that is withdrawn before its use does not hold', async () => {
    const { gate } = await gateWith(undefined, { onUse: (grants, id) => grants.revoke(id) })
    const perform = vi.fn(done)
    await expect(gate.run(wanting(), perform)).rejects.toMatchObject({ code: 'ERR_CONSENT' })
    expect(perform).not.toHaveBeenCalled()
  })

  test('an earlier approval that is withdrawn before its use leads to the question', async () => {
    let isTakenBack = false
    const { gate, asked } = await gateWith(() => ({ kind: 'allow', scope: 'session' }), {
      onUse: async (grants, id) => {
        if (isTakenBack) await grants.revoke(id)
        isTakenBack = false
      },
    })
    await gate.run(wanting(), done)
    expect(asked).toHaveLength(1)
    isTakenBack = true
    await gate.run(wanting(), done)
    expect(asked).toHaveLength(2)
  })

  test('an approval with an invalid or impossible edit does not hold', async () => {
    const { gate, grants } = await gateWith(() => ({ kind: 'allow', scope: 'once', edited: { text: 1 } }))
    const perform = vi.fn(done)
    const edit = async (): Promise<void> => {
      await Promise.resolve()
      throw new TypeError('a text, please')
    }
    await expect(gate.run(wanting({}, { edit }), perform)).rejects.toThrow('a text, please')
    await expect(gate.run(wanting(), perform)).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    expect(perform).not.toHaveBeenCalled()
    expect(await grants.list()).toEqual([])
  })

  test('an approval is never wider than offered, even if the answer asks for more', async () => {
    const { gate, asked } = await gateWith(() => ({ kind: 'allow', scope: 'always', width: 'any' }))
    const { primitive: _, ...action } = ADD
    const roots = (...folders: string[]) => ({
      ...wanting(),
      describe: (): RequestedAction => ({ ...action, kind: 'roots.expose', initiator: 'server', args: { roots: folders } }),
    })
    await gate.run(roots('file:///a'), done)
    await gate.run(roots('file:///a'), done)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.widths).toEqual(['exact'])
    await gate.run(roots('file:///'), done)
    expect(asked).toHaveLength(2)
  })

  test('an approval with a pattern that does not fit the call does not hold', async () => {
    const { gate, grants } = await gateWith(() => ({
      kind: 'allow',
      scope: 'session',
      width: 'pattern',
      pattern: { '/text': { eq: 'bread' } },
    }))
    const perform = vi.fn(done)
    await expect(gate.run(wanting(), perform)).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    expect(perform).not.toHaveBeenCalled()
    expect(await grants.list()).toEqual([])
  })

  test('an approval with an invalid pattern does not hold', async () => {
    const { gate, grants } = await gateWith(() => ({
      kind: 'allow',
      scope: 'always',
      width: 'pattern',
      pattern: { '/text': { re2: '(' } },
    }))
    await expect(gate.run(wanting(), done)).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    expect(await grants.list()).toEqual([])
  })

  test('Always allow covers any arguments only of a tool that neither destroys nor sends out anything', async () => {
    const { gate, asked } = await gateWith(() => ({ kind: 'deny' }))
    const alwaysOf = async (rest: Partial<RequestedAction>): Promise<unknown> => {
      await gate
        .run({ ...wanting(), describe: () => ({ ...ADD, args: { at: asked.length }, asserted: {}, ...rest }) }, done)
        .catch(() => {})
      return asked.at(-1)?.always
    }
    const untrusted = { server: { ...ADD.server, tier: 'untrusted' as const } }
    const [any, exact] = (['any', 'exact'] as const).map((width) => ({ scope: 'always', width }))
    expect(await alwaysOf({})).toEqual(any)
    expect(await alwaysOf({ claimed: { destructiveHint: true } })).toEqual(exact)
    expect(await alwaysOf({ asserted: { openWorldHint: true } })).toEqual(exact)
    expect(await alwaysOf(untrusted)).toEqual(exact)
    expect(await alwaysOf({ ...untrusted, claimed: { readOnlyHint: true } })).toEqual(any)
    expect(await alwaysOf({ ...untrusted, claimed: { readOnlyHint: true, openWorldHint: true } })).toEqual(exact)
    expect(await alwaysOf({ server: { ...ADD.server, labels: ['egress'] } })).toEqual(exact)
    expect(await alwaysOf({ labels: ['untrusted', 'private:mail'], claimed: { openWorldHint: true } })).toBeUndefined()
  })

  test('a question says how long an answer about other arguments can last, and that is what the host grants', async () => {
    const granted = async (rest: Partial<RequestedAction>): Promise<unknown> => {
      const { gate, asked, grants } = await gateWith(({ wideScopes, scopes }) => ({
        kind: 'allow',
        scope: (wideScopes ?? scopes).at(-1) ?? 'once',
        width: 'any',
      }))
      await gate.run({ ...wanting(), describe: () => ({ ...ADD, asserted: {}, ...rest }) }, done)
      return [asked[0]?.wideScopes, (await grants.list())[0]?.scope]
    }
    expect(await granted({ claimed: { destructiveHint: true } })).toEqual([['once', 'turn'], 'turn'])
    expect(await granted({ claimed: { readOnlyHint: true } })).toEqual([undefined, 'always'])
  })

  test('an approval of a start is proposed for always, so that it is asked once', async () => {
    const { gate, asked } = await gateWith(({ scopes }) => ({ kind: 'allow', scope: scopes[0] ?? 'once' }))
    const { primitive: _, ...action } = ADD
    const launch: ActionRequest = {
      ...wanting(),
      describe: () => ({ ...action, kind: 'server.launch', initiator: 'user', args: { command: 'x' } }),
    }
    await gate.run(launch, done)
    await gate.run(launch, done)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.scopes).toEqual(['always', 'once', 'turn', 'session', 'project'])
  })
})

describe('a log that cannot be written', () => {
  const fail = (): never => {
    throw new Error('disk full')
  }

  test('a log that cannot be written before an action stops it', async () => {
    const { gate } = await gateWith(undefined, { onIntent: fail })
    const perform = vi.fn(done)
    await expect(gate.run(wanting(), perform)).rejects.toThrow('disk full')
    expect(perform).not.toHaveBeenCalled()
  })

  test('a log that cannot be written after an action is an error that says it was done', async () => {
    const { gate } = await gateWith(undefined, { onOutcome: fail })
    const perform = vi.fn(done)
    await expect(gate.run(wanting(), perform)).rejects.toMatchObject({ code: 'ERR_AUDIT', message: expect.stringContaining('was done') })
    expect(perform).toHaveBeenCalledTimes(1)
  })

  test('a log that cannot be written after a failure does not hide the failure', async () => {
    const { gate } = await gateWith(undefined, { onOutcome: fail })
    await expect(gate.run(wanting(), () => Promise.reject(new Error('no such note')))).rejects.toThrow('no such note')
  })
})
