/** The order of test files: long ones first, so that none of them runs alone at the end, and those with a browser in turn with others. */

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A browser keeps both cores of a small machine busy; most of the other long files wait for processes. */
const BROWSERS = ['test/console-e2e/', 'test/console-page/', 'test/demo/approval-page', 'test/auth/browser']

const LONG = [
  'test/host/consent/gate/no-action-without-consent',
  'test/interop/',
  'test/conformance/',
  'test/console/made-tests',
  'test/cli/',
  'test/host/consent/ask/whole-question',
  'test/http/',
  'test/host/',
]

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rankIn = (names: readonly string[], { moduleId }: TestSpecification): number =>
      names.findIndex((name) => moduleId.includes(`/${name}`))
    const inOrder = (names: readonly string[]): TestSpecification[] =>
      names.flatMap((_, rank) => sorted.filter((file) => rankIn(names, file) === rank))
    const [browsers, long] = [inOrder(BROWSERS), inOrder(LONG)]
    const inTurn = Array.from({ length: Math.max(browsers.length, long.length) }, (_, i) => [browsers[i], long[i]]).flat()
    return [...new Set([...inTurn.filter((file) => file !== undefined), ...sorted])]
  }
}
