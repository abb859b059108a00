import { describe, expect, test, vi } from 'vitest'
import { Lane, LanePlace } from '../../../src/http/client/lane.ts'

function entered(lane: Lane, log: string[], name: string): LanePlace {
  const place = new LanePlace()
  place.enter(lane, () => log.push(name))
  return place
}

describe('a lane', () => {
  test('a lane admits as many as it has room for, and the rest in order', () => {
    const lane = new Lane(2)
    const log: string[] = []
    const [a, b] = ['a', 'b', 'c', 'd'].map((name) => entered(lane, log, name)) as [LanePlace, LanePlace]
    expect([log, lane.waiting, lane.hasRoom]).toEqual([['a', 'b'], 2, false])
    b.leave()
    expect([log, lane.waiting]).toEqual([['a', 'b', 'c'], 1])
    a.leave()
    expect([log, lane.waiting, lane.hasRoom]).toEqual([['a', 'b', 'c', 'd'], 0, false])
  })

  test('a lane frees a place once, even if it is left several times', () => {
    const lane = new Lane(1)
    const log: string[] = []
    const a = entered(lane, log, 'a')
    a.leave()
    a.leave()
    entered(lane, log, 'b')
    entered(lane, log, 'c')
    expect([log, lane.waiting]).toEqual([['a', 'b'], 1])
  })

  test('a lane forgets a waiting request that is aborted, and reports the shorter queue', () => {
    const onShorter = vi.fn()
    const lane = new Lane(1, onShorter)
    const log: string[] = []
    const a = entered(lane, log, 'a')
    const b = entered(lane, log, 'b')
    entered(lane, log, 'c')
    b.leave()
    expect([lane.waiting, onShorter.mock.calls.length]).toEqual([1, 1])
    a.leave()
    expect([log, onShorter.mock.calls.length]).toEqual([['a', 'c'], 2])
  })

  test('a lane stays within its limit if an admitted request takes another place at once', () => {
    const lane = new Lane(1)
    const log: string[] = []
    const a = entered(lane, log, 'a')
    const b = new LanePlace()
    b.enter(lane, () => {
      log.push('b')
      entered(lane, log, 'b2')
    })
    entered(lane, log, 'c')
    a.leave()
    expect([log, lane.waiting]).toEqual([['a', 'b'], 2])
  })

  test('a lane admits several when several places are free', () => {
    const lane = new Lane(2)
    const log: string[] = []
    const a = entered(lane, log, 'a')
    const b = entered(lane, log, 'b')
    const c = new LanePlace()
    // Leaves as soon as it is let in, so that there is room for the next.
    c.enter(lane, () => {
      log.push('c')
      c.leave()
    })
    entered(lane, log, 'd')
    a.leave()
    b.leave()
    expect([log, lane.waiting]).toEqual([['a', 'b', 'c', 'd'], 0])
  })
})

describe('a place in a lane', () => {
  test('a place in a lane moves to another lane with room, and the next in line comes in', () => {
    const [calls, streams] = [new Lane(1), new Lane(1)]
    const log: string[] = []
    const a = entered(calls, log, 'a')
    entered(calls, log, 'b')
    a.moveTo(streams)
    expect([log, streams.hasRoom]).toEqual([['a', 'b'], false])
    a.leave()
    expect([streams.hasRoom, calls.hasRoom]).toEqual([true, false])
  })

  test('a place in a lane stays where it is when the other lane is full, or the same, or it was left', () => {
    const [calls, streams] = [new Lane(1), new Lane(1)]
    const log: string[] = []
    const a = entered(calls, log, 'a')
    a.moveTo(calls)
    const other = entered(streams, log, 'stream')
    a.moveTo(streams)
    other.leave()
    expect([calls.hasRoom, streams.hasRoom]).toEqual([false, true])
    a.leave()
    a.moveTo(streams)
    expect([calls.hasRoom, streams.hasRoom]).toEqual([true, true])
  })
})
