/** Long lists of our server, read page by page by their clients. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proves } from '../support/proves.ts'
import { type ListedItem, PAGED, type PagedMethod, type TheirClient } from './their-client.ts'

const PAGE_SIZE = 3

/** @param open connects to our server, told how many items a page has */
export function describePaging(peer: string, open: (pageSize: number) => Promise<TheirClient>): void {
  describe(`our server in pages of ${PAGE_SIZE} and the ${peer}`, () => {
    let paged: TheirClient
    let whole: TheirClient
    beforeAll(async () => {
      const [one, other] = await Promise.all([open(PAGE_SIZE), open(1000)])
      paged = one
      whole = other
    })
    afterAll(() => Promise.all([paged.close(), whole.close()]))

    test.each(Object.keys(PAGED) as PagedMethod[])('%s loses and repeats no item between pages', async (method) => {
      proves('T-PAGE-001', 'T-PAGE-004', 'T-PAGE-005', 'T-PAGE-007', 'T-PAGE-009')
      const all: ListedItem[] = []
      let cursor: string | undefined
      do {
        const page = await paged.page(method, cursor)
        expect(page.items.length).toBeLessThanOrEqual(PAGE_SIZE)
        expect(page.nextCursor === undefined || page.items.length === PAGE_SIZE).toBe(true)
        all.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      const { items, nextCursor } = await whole.page(method)
      expect(nextCursor).toBeUndefined()
      expect(all).toEqual(items)
    })

    test("the client's own lists are complete", async () => {
      proves('T-PAGE-001')
      for (const list of ['listTools', 'listResources', 'listResourceTemplates', 'listPrompts'] as const)
        expect(await paged[list]()).toEqual(await whole[list]())
      expect((await paged.listTools()).length).toBeGreaterThan(PAGE_SIZE)
    })

    test('a cursor that our server did not issue is refused', async () => {
      proves('T-PAGE-011', 'T-PAGE-017')
      await expect(paged.page('tools/list', 'made up')).rejects.toMatchObject({ code: -32602 })
      expect((await paged.page('tools/list')).items).toHaveLength(PAGE_SIZE)
    })
  })
}
