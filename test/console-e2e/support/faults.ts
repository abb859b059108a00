/** Looks at a page as people do: in all sizes and both themes, with axe. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Window } from './windows.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const SIZES = [
  { width: 1440, height: 900 },
  { width: 900, height: 700 },
  { width: 360, height: 740 },
]

/** Only what is wrong, and no second fetch of the style sheets. */
const QUICK = { resultTypes: ['violations'], preload: false }

/** Findings of axe as `rule: element`, at most 200 characters each. @param rules Default: all */
async function findings({ page }: Window, rules?: readonly string[]): Promise<string[]> {
  // Not a script element: the policy of the page would refuse it.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  // A menu belongs to its button, and is not a part of a landmark.
  const hasMenu = (await page.getByRole('menu').count()) > 0
  const options = JSON.stringify({ ...QUICK, ...(rules && { runOnly: rules }), ...(hasMenu && { rules: { region: { enabled: false } } }) })
  const violations = (await page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations)`)) as {
    id: string
    nodes: { html: string; failureSummary: string }[]
  }[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`),
  )
}

/** The second theme has the same elements in the same places. Only its colours can be wrong. */
const COLOURS = ['color-contrast', 'link-in-text-block']

/** With E2E_SHOTS=folder every view is saved in all sizes and both themes, to be looked at. */
const SHOTS = process.env.E2E_SHOTS

/** Looks at what the window shows, wide and narrow, light and dark. @param isBrief light only if wide, dark only if narrow */
export async function faultsOf(window: Window, name: string, isBrief = false): Promise<string[]> {
  const { page } = window
  const faults: string[] = []
  for (const size of SIZES) {
    await page.setViewportSize(size)
    if (await isTooWide(window)) faults.push(`${name}: wider than ${size.width}`)
    if (await doesScroll(window)) faults.push(`${name}: the window scrolls at ${size.width}`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${size.width}-${colorScheme}.png` })
      const isOther = (size.width === 1440) !== (colorScheme === 'light')
      if (size.width === 900 || (isBrief && isOther)) continue
      for (const finding of await findings(window, isOther ? COLOURS : undefined))
        faults.push(`${name}, ${size.width}, ${colorScheme}: ${finding}`)
    }
  }
  await page.setViewportSize(SIZES[0] as { width: number; height: number })
  await page.emulateMedia({ colorScheme: 'light' })
  return faults
}

/** Wider than the window: people would have to scroll to the side. */
const isTooWide = (window: Window): Promise<boolean> => stays(window, 'document.documentElement.scrollWidth > innerWidth')

/** The window itself never scrolls, only the page in it: the bars stay where they are. */
const doesScroll = (window: Window): Promise<boolean> =>
  stays(window, 'document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollTop > 0')

/**
 * Whether a condition holds for two seconds. What is open over a page moves a moment after the window has changed its size. A person who drags the
 * edge of a window causes many events, and setViewportSize only one, which may come before the page has its new layout.
 */
async function stays({ page }: Window, condition: string): Promise<boolean> {
  for (let i = 0; i < 40; i++) {
    if (!(await page.evaluate(condition))) return false
    await page.evaluate('dispatchEvent(new Event("resize"))')
    await page.waitForTimeout(50)
  }
  return true
}
