import { expect, test } from 'vitest'
import { rawHttp } from '../../support/http-requests.ts'
import { bystander, serve, testServer } from '../../support/http-service.ts'

test('100 sockets that send headers slowly get 408 within 20 s, and others are served', async () => {
  const { port, url } = await serve(testServer())
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ${'x'.repeat(100)}`
  const startedAt = performance.now()
  const slow = Array.from({ length: 100 }, () => rawHttp(port, ''))
  let at = 0
  const timer = setInterval(() => {
    for (const { socket } of slow) if (!socket.destroyed) socket.write(head[at] ?? 'x')
    at++
  }, 1000)
  const answers = Promise.all(slow.map(({ closed }) => closed))
  const { medianMs } = bystander(url)
  await answers
  clearInterval(timer)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  expect((await answers).filter((answer) => answer.startsWith('HTTP/1.1 408 '))).toHaveLength(100)
  expect(await medianMs()).toBeLessThan(100)
}, 25_000)
