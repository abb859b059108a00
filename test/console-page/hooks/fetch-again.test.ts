/** Fetching what is stale. */

import { QueryClient, QueryObserver } from '@tanstack/query-core'
import { expect, onTestFinished, test } from 'vitest'
import { fetchAgain } from '../../../console/src/hooks/fetch-again.ts'

/** A route that is on a page. Its fetches wait until the test answers them. */
function shownRoute() {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } })
  const answers: ((value: string) => void)[] = []
  const queryFn = (): Promise<string> => new Promise((resolve) => void answers.push(resolve))
  const observer = new QueryObserver(queries, { queryKey: ['GET /api/servers/:id', { id: 'notes' }], queryFn })
  onTestFinished(observer.subscribe(() => {}))
  return { queries, answers, shown: () => observer.getCurrentResult().data }
}

test.for(['GET /api/servers/:id', 'all'])('a change during the first fetch is shown: %s', async (route) => {
  const { queries, answers, shown } = shownRoute()
  expect(answers).toHaveLength(1)
  const fetched = fetchAgain(queries, route)
  answers[0]?.('before the change')
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.('after the change')
  await fetched
  expect(shown()).toBe('after the change')
})

test('a later change causes one fetch', async () => {
  const { queries, answers, shown } = shownRoute()
  answers[0]?.('first')
  await expect.poll(shown).toBe('first')
  const fetched = fetchAgain(queries, 'GET /api/servers/:id')
  expect(answers).toHaveLength(2)
  answers[1]?.('second')
  await fetched
  expect(shown()).toBe('second')
  expect(answers).toHaveLength(2)
})

test('a change of another route causes no fetch', async () => {
  const { queries, answers } = shownRoute()
  await fetchAgain(queries, 'GET /api/tools')
  expect(answers).toHaveLength(1)
})
