import { describe, expect, test } from 'vitest'
import { ProgressBar } from '../../src/cli/output/progress.ts'
import type { SafeText } from '../../src/cli/output/safe-text.ts'
import type { Screen } from '../../src/cli/output/screen.ts'
import { stylesFor } from '../../src/cli/output/style.ts'

/** What the bar draws for one message of progress. */
function drawn(progress: number, total?: number): string {
  const lines: string[] = []
  const screen = {
    noteStyle: stylesFor(false),
    showTransient: (line: SafeText) => lines.push(line.text),
    clear: () => {},
  } as unknown as Screen
  new ProgressBar(screen, 'call').onProgress({ progress, ...(total !== undefined && { total }) })
  return lines.join('\n')
}

describe('a bar of progress', () => {
  test.each([
    [150, 100, 24, '100%'],
    [1e308, 1e-308, 24, '100%'],
    [-50, 100, 0, '0%'],
    [-1e308, 1e-308, 0, '0%'],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0, '0%'],
    [50, 100, 12, '50%'],
    [0, 100, 0, '0%'],
  ])('a progress bar of %d of %d is never more than full or less than empty', (progress, total, full, percent) => {
    expect(drawn(progress, total)).toBe(`call ${'█'.repeat(full)}${'░'.repeat(24 - full)} ${percent} `)
  })

  test('work whose share is not known is told in words, without a number', () => {
    const lines: string[] = []
    const showTransient = (line: SafeText): number => lines.push(line.text)
    new ProgressBar({ noteStyle: stylesFor(false), showTransient } as unknown as Screen, 'order').say('waits for an answer')
    expect(lines).toEqual(['order waits for an answer'])
  })

  test.each([[0], [-1], [Number.NaN]])('a progress bar is not drawn for a total of %d, only the number is', (total) => {
    expect(drawn(7, total)).toBe('call 7 ')
  })
})
