import { expect, test } from 'vitest'
import { fitted } from '../../src/cli/output/fitted.ts'
import { stylesFor } from '../../src/cli/output/style.ts'
import { tableLines } from '../../src/cli/output/table.ts'

const plain = stylesFor(false)

test('a table fits the terminal: the last columns are cut with a sign, names never are', () => {
  const columns = [{ title: 'TOOL' }, { title: 'HINTS' }, { title: 'DESCRIPTION' }]
  const name = 'everything__toggle-subscriber-updates-of-all-kinds'
  const rows = [[name, 'read-only, open-world', 'Toggles the simulated updates of resources for this session']]
  const lines = tableLines(columns, rows, plain, 80).map(({ text }) => text)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  // The screen does not break a row that is cut.
  for (const line of lines) expect(fitted(line, 80)).toBe(line)
  expect(lines[1]).toMatch(/^everything__toggle-subscriber-updates-of-all-kinds {2}read-only.*… {1,2}Toggle\w*…$/)
  expect(tableLines(columns, rows, plain, undefined)[1]?.text).toContain('for this session')
})
