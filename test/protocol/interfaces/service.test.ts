import { expect, test } from 'vitest'
import { isService } from '../../../src/protocol/interfaces/service.ts'

test('a service is anything that can be opened', () => {
  expect(isService({ open: () => undefined })).toBe(true)
  for (const other of [null, undefined, 'x', {}, { open: true }, () => undefined]) expect(isService(other)).toBe(false)
})
