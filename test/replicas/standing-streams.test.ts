/** Standing streams whose process is killed: their clients come back to another replica. */

import { expect, test } from 'vitest'
import { openSession, STREAMABLE } from '../support/http-service.ts'
import { counted } from '../support/proof.ts'
import { until } from '../support/until.ts'
import { behindEach } from './session-calls.ts'

const NOTICES = 200

behindEach(({ isFull, group, randomReplica, startVictim, at }) => {
  /** A session with a subscription, whose standing stream a replica holds that the balancer does not know. */
  async function heldByVictim(version: string) {
    const victim = await startVictim()
    const session = await openSession(group().url, version)
    const uri = `note://${version}-${Math.random()}`
    expect((await session.ask({ method: 'resources/subscribe', params: { uri } })).status).toBe(200)
    const held = await at(victim, session).listen()
    const announcer = randomReplica()
    const announce = (n: number): void => announcer.tell(`changed ${uri}/${n}`)
    const numbersIn = ({ events }: { events: { data?: string }[] }): number[] =>
      events.flatMap(({ data }) =>
        data ? [Number((JSON.parse(data) as { params: { uri: string } }).params.uri.slice(uri.length + 1))] : [],
      )
    return { victim, session, held, announce, numbersIn }
  }

  test.runIf(isFull).each(STREAMABLE)('a client of %s whose stream is killed gets every later notice once elsewhere', async (version) => {
    const { victim, session, held, announce, numbersIn } = await heldByVictim(version)
    for (let n = 0; n < NOTICES; n++) announce(n)
    await until(() => numbersIn(held).length > 10)
    await victim.end('SIGKILL')
    expect(await held.ended).toBe('cut')
    const resumed = await session.listen(held.events.at(-1)?.id)
    const all = (): number[] => [...numbersIn(held), ...numbersIn(resumed)]
    await until(() => all().at(-1) === NOTICES - 1)
    expect(all()).toEqual(Array.from({ length: NOTICES }, (_, n) => n))
    resumed.destroy()
    counted({ 'notices delivered, each once and in order': all().length })
  })

  test.runIf(isFull)('a client of 2025-11-25 whose stream is killed before its first notice gets all of them elsewhere', async () => {
    const { victim, session, held, announce, numbersIn } = await heldByVictim('2025-11-25')
    await until(() => held.events.length > 0)
    for (let n = 0; n < 3; n++) announce(n)
    await victim.end('SIGKILL')
    const resumed = await session.listen(held.events.at(-1)?.id)
    await until(() => [...numbersIn(held), ...numbersIn(resumed)].at(-1) === 2)
    expect([...numbersIn(held), ...numbersIn(resumed)]).toEqual([0, 1, 2])
    resumed.destroy()
  })
})
