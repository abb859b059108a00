import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { DEFAULT_HTTP_LIMITS } from '../../src/http/server/options.ts'

const block = /```nginx\n(.*?)```/s.exec(readFileSync(`${root}/docs/http.md`, 'utf8'))?.[1] as string

test('the nginx block of the page passes everything that the server accepts', () => {
  expect(block).toContain(`client_max_body_size ${DEFAULT_HTTP_LIMITS.maxBodyBytes / 1024 / 1024}m;`)
  for (const line of ['proxy_buffering off;', 'proxy_request_buffering off;']) expect(block).toContain(line)
  for (const header of ['Host $host', 'X-Forwarded-Proto $scheme']) expect(block).toContain(`proxy_set_header ${header};`)
  const place = new RegExp(/location ~ (\S+) \{/.exec(block)?.[1] as string)
  for (const path of ['/mcp', '/mcp/', '/sse', '/messages']) expect(path).toMatch(place)
  for (const path of ['/', '/mcp2', '/x/mcp', '/other']) expect(path).not.toMatch(place)
})
