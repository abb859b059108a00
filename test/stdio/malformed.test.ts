import { expect, test } from 'vitest'
import { MALFORMED } from '../support/malformed.ts'
import { isAlive } from '../support/processes.ts'
import { proves } from '../support/proves.ts'
import { fixture, startServer } from '../support/stdio-process.ts'

// The four codes are proved where the message that earns each of them is sent to a real process.
test('each malformed message gets the expected answer, and the same process answers the next ping', async () => {
  proves('T-BASE-008', 'T-BASE-013', 'T-BASE-014', 'T-BASE-028', 'T-BASE-030', 'T-BASE-031', 'T-BASE-032')
  const server = startServer(fixture('server.mjs'))
  await server.initialize('2025-06-18')
  let slowest = 0
  for (const [i, { name, bytes, owed }] of MALFORMED.entries()) {
    const seen = server.messages.length
    const alive = `alive after ${i}?`
    server.write(Buffer.concat([bytes, Buffer.from('\n')]))
    const started = performance.now()
    expect(await server.ask('ping', undefined, alive), name).toMatchObject({ result: {} })
    slowest = Math.max(slowest, performance.now() - started)
    while (server.messages.length < seen + owed.length + 1) await new Promise((resolve) => setTimeout(resolve, 1))
    const errors = server.messages.slice(seen).filter(({ id }) => id !== alive)
    expect(
      errors.map(({ id, error }) => ({ id, code: error?.code })),
      name,
    ).toEqual(owed.map(({ code, id = null }) => ({ id, code })))
  }
  expect(isAlive(server.pid)).toBe(true)
  expect(server.stderr()).toBe('')
  expect(slowest).toBeLessThan(500)
})
