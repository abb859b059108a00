import { expect, test } from 'vitest'
import { memoryBus, memoryKeyRing } from '../../../src/protocol/interfaces/in-process-services.ts'
import type { Change } from '../../../src/protocol/interfaces/replaceable-services.ts'

test('a bus carries each change to every listener until it ends its subscription', () => {
  const bus = memoryBus()
  const [first, second]: Change[][] = [[], []]
  const end = bus.subscribe((change) => first?.push(change))
  bus.subscribe((change) => second?.push(change))
  bus.publish({ kind: 'tools' })
  end()
  end()
  bus.publish({ kind: 'resource', uri: 'x://1' })
  expect(first).toEqual([{ kind: 'tools' }])
  expect(second).toEqual([{ kind: 'tools' }, { kind: 'resource', uri: 'x://1' }])
})

test('a listener that ends its own subscription does not disturb the others', () => {
  const bus = memoryBus()
  const heard: string[] = []
  const end = bus.subscribe(() => {
    heard.push('once')
    end()
  })
  bus.subscribe(() => heard.push('always'))
  bus.publish({ kind: 'prompts' })
  bus.publish({ kind: 'prompts' })
  expect(heard).toEqual(['once', 'always', 'always'])
})

test('a key ring has one random key of 32 bytes, and knows it by its id', async () => {
  const [ring, other] = [memoryKeyRing(), memoryKeyRing()]
  const key = await ring.current()
  expect(key.secret).toHaveLength(32)
  expect(ring.current()).toBe(key)
  expect(ring.find(key.id)).toBe(key)
  expect(ring.find('other')).toBeUndefined()
  expect((await other.current()).secret).not.toEqual(key.secret)
})
