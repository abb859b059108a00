/** The order of test files: long ones first, so that none of them runs alone at the end, and those with a browser in turn with others. */

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A browser keeps both cores of a small machine busy; most of the other long files wait for processes. */
const BROWSERS = ['console-e2e/', 'console-page/']

const LONG = ['host/consent/gate/', 'interop/', 'conformance/', 'console/made-tests', 'cli/', 'http/']

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    // Files that share processes come last and in a row: only then can the next one use the process of the one before.
    const [alone, together] = [true, false].map((isolate) => sorted.filter(({ project }) => project.config.isolate === isolate))
    const inOrder = (names: readonly string[]): TestSpecification[] =>
      names.flatMap((name) => alone?.filter(({ moduleId }) => moduleId.includes(`/test/${name}`)) ?? [])
    const [browsers, long] = [inOrder(BROWSERS), inOrder(LONG)]
    const inTurn = Array.from({ length: Math.max(browsers.length, long.length) }, (_, i) => [browsers[i], long[i]]).flat()
    return [...new Set([...inTurn.filter((file) => file !== undefined), ...(alone ?? []), ...(together ?? [])])]
  }
}
