/** Secrets that a server repeats in its definitions, and in what a person is asked. */

import { expect, test } from 'vitest'
import type { Offering } from '../../../src/host/model/offering.ts'
import { redactError, redactOffering, redactValue } from '../../../src/host/secrets/redact-output.ts'
import { redactor } from '../../../src/host/secrets/redactor.ts'

const SECRET = 'hunter2hunter2XYZ'
const inputSchema = { type: 'object' as const }
const offering = (tools: object[], resources: object[] = []): Offering =>
  ({ info: undefined, instructions: undefined, tools, prompts: [], resources, templates: [] }) as unknown as Offering

test.each([
  ['its name', { name: `t_${SECRET}`, inputSchema }],
  ['a property name', { name: 't', inputSchema: { ...inputSchema, properties: { [`p_${SECRET}`]: {} } } }],
  ['a listed value', { name: 't', inputSchema: { ...inputSchema, properties: { p: { enum: [SECRET] } } } }],
])('a tool with a secret in %s is left out, with a warning', (_, tool) => {
  const warnings: string[] = []
  const good = { name: 'good', description: `The key is ${SECRET}`, inputSchema }
  const clean = redactOffering(offering([tool, good], [{ uri: `x://${SECRET}`, name: 'r' }]), redactor([SECRET]), (text) =>
    warnings.push(text),
  )
  expect(clean.tools).toMatchObject([{ name: 'good', description: 'The key is [redacted]' }])
  expect(clean.resources).toEqual([])
  expect(JSON.stringify(clean)).not.toContain(SECRET)
  expect(warnings).toEqual([expect.stringContaining('tools left out: 1'), expect.stringContaining('resources left out: 1')])
})

test('a password that equals a usual word of schemas leaves nothing out', () => {
  const tools = [{ name: 'good', inputSchema: { ...inputSchema, properties: {} } }]
  expect(redactOffering(offering(tools), redactor(['object', 'properties'])).tools).toEqual(tools)
})

test('errors of every class stay what they are, without secrets in their texts', () => {
  const aborted = new AbortController()
  aborted.abort()
  for (const error of [aborted.signal.reason as Error, new DOMException(`Stopped by ${SECRET}`, 'AbortError'), new TypeError(SECRET)]) {
    const [name, message, kind] = [error.name, error.message, error.constructor]
    const clean = redactError(error, redactor([SECRET]))
    expect([clean, clean.name, clean.constructor]).toEqual([error, name, kind])
    expect(clean.message).toBe(message.replace(SECRET, '[redacted]'))
    expect(String(clean.stack)).not.toContain(SECRET)
  }
})

test('secrets in the names of members are removed, and members of the host stay', () => {
  expect(redactValue({ args: { [`p_${SECRET}`]: 1 } }, redactor([SECRET, 'args']))).toEqual({ args: { 'p_[redacted]': 1 } })
})
