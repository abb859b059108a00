/** What the examples promise beyond their output. */

import { expect, test } from 'vitest'
import { makeDatabase, openReadOnly } from '../../examples/database/database.ts'
import { SAMPLE } from '../../examples/database/shop.ts'
import { openMeteo } from '../../examples/weather/source.ts'

test('the database refuses everything but a SELECT, whatever the text looks like', () => {
  const db = openReadOnly(makeDatabase(SAMPLE))
  const all = (): unknown => db.query('select * from orders order by id').rows
  const before = all()
  const REFUSED = [
    "insert into customers values (9, 'Eve', 'XX')",
    'with x as (select 1) delete from orders where 1',
    'update orders set amount = 0 returning id',
    'drop table orders',
    'create temp table t (x)',
    "attach ':memory:' as other",
    'pragma query_only = 0',
    'pragma writable_schema = 1',
    'begin',
    "vacuum into 'copy.db'",
  ]
  for (const sql of REFUSED) expect(() => db.query(sql), sql).toThrow(/SQLITE_AUTH|SQLITE_READONLY/)
  // A second statement is not prepared, so it is not run.
  expect(db.query('select 1 as one; delete from orders').rows).toEqual([{ one: 1 }])
  expect(all()).toEqual(before)
  db.close()
})

test('the database ends a query at its limits of time, rows, bytes and the size of a value', () => {
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n'
  const db = openReadOnly(makeDatabase(SAMPLE), { maxRows: 3, maxMs: 50, maxBytes: 1000 })
  expect(db.query(numbers)).toEqual({ rows: [{ i: 1 }, { i: 2 }, { i: 3 }], isCut: true })
  expect(db.query("select printf('%.*c', 2000, 'x') as long")).toEqual({ rows: [], isCut: true })
  expect(() => db.query(`select count(*) from (${numbers})`)).toThrow('SQLITE_INTERRUPT')
  expect(() => db.query('select zeroblob(100000000)')).toThrow('SQLITE_TOOBIG')
  // A limit of one query is not left to the next.
  expect(db.query('select name from customers where id = ?', [2]).rows).toEqual([{ name: 'Ben' }])
  db.close()
})

test('the live source of the weather asks for the place first, and then for its days', async () => {
  const asked: string[] = []
  const signal = new AbortController().signal
  const daily = { time: ['2026-07-28'], weather_code: [61], temperature_2m_min: [9], temperature_2m_max: [14] }
  const source = openMeteo(async (url) => {
    asked.push(url)
    const isPlace = url.includes('geocoding')
    if (isPlace) return Response.json(url.includes('Bergen') ? { results: [{ latitude: 60.4, longitude: 5.3 }] } : {})
    return Response.json({ daily })
  })
  expect(await source('Bergen & more', 1, signal)).toEqual([{ date: '2026-07-28', sky: 'rain', low: 9, high: 14 }])
  expect(new URL(asked[0] ?? '').searchParams.get('name')).toBe('Bergen & more')
  expect(asked[1]).toContain('latitude=60.4')
  expect(await source('Atlantis', 1, signal)).toBeUndefined()
  await expect(openMeteo(async () => new Response('', { status: 500 }))('Oslo', 1, signal)).rejects.toThrow('answered 500')
})
