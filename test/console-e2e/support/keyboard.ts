/** A person without a mouse: only keys, and the focus must always be visible. */

import { expect } from 'vitest'
import { afterQuiet, ENDED_CARDS, PATIENCE_MS, tabTo, type Window } from './windows.ts'

export interface Keyboard {
  press(...keys: string[]): Promise<void>
  type(text: string): Promise<void>
  /** Tabs to a control, and fails if the focus cannot be seen there. */
  to(name: string | RegExp): Promise<void>
  /** Tabs to an element that a selector matches, where several controls have the same name. */
  at(selector: string): Promise<void>
  /** Tabs to a control and presses Enter. */
  enter(name: string | RegExp): Promise<void>
  /** Waits until answers count: a card that ended goes away later, and the quiet time of the card that moves up then starts again. */
  settled(): Promise<void>
  /** Tabs to the answer of a question, waits until keys count and no other card goes away, and presses Enter. */
  answer(name: string | RegExp): Promise<void>
  /** Tabs to a field and replaces its text. */
  fill(name: string | RegExp, text: string): Promise<void>
  /** The name of the control with the focus, or the name of its element. */
  focused(): Promise<string>
}

interface Focus {
  name: string
  isShown: boolean
  html: string
}

/** What has the focus: its name, and whether a person sees that it has it. */
const FOCUS = `(() => {
  const at = document.activeElement
  if (!at || at === document.body) return { name: 'body', isShown: true, html: '' }
  const style = getComputedStyle(at)
  const box = at.getBoundingClientRect()
  const hasRing = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none'
  const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  const name = (at.getAttribute('aria-label') ?? at.labels?.[0]?.innerText ?? at.innerText ?? '').trim()
  return { name: name || at.tagName.toLowerCase(), isShown: hasRing && isInView, html: at.outerHTML.slice(0, 160) }
})()`

const focusOf = ({ page }: Window): Promise<Focus> => page.evaluate(FOCUS) as Promise<Focus>

export function keyboardOf(window: Window): Keyboard {
  const { keyboard } = window.page
  const to = async (name: string | RegExp): Promise<void> => {
    await tabTo(window.page, name)
    const focus = await focusOf(window)
    expect(focus, 'the focus can be seen').toMatchObject({ isShown: true })
  }
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await keyboard.press(key)
  }
  const settled = async (): Promise<void> => {
    await expect.poll(() => window.page.evaluate(ENDED_CARDS), { timeout: 10_000 }).toBe(0)
    await afterQuiet(window.page)
  }
  return {
    press,
    type: (text) => keyboard.type(text),
    to,
    at: async (selector) => {
      const late = Date.now() + PATIENCE_MS
      for (let presses = 0; presses < 120 || Date.now() < late; presses++) {
        if (await window.page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`)) return
        await keyboard.press('Tab')
      }
      throw new Error(`Tab does not reach ${selector}`)
    },
    enter: async (name) => {
      await to(name)
      // A busy button ignores keys, as it ignores clicks.
      await expect.poll(() => window.page.evaluate('document.activeElement?.ariaBusy'), { timeout: 10_000 }).not.toBe('true')
      await keyboard.press('Enter')
    },
    settled,
    answer: async (name) => {
      await window.page.getByText(name, { exact: true }).first().waitFor()
      await to(name)
      await settled()
      await keyboard.press('Enter')
    },
    fill: async (name, text) => {
      await to(name)
      await keyboard.press('Control+a')
      await keyboard.type(text)
    },
    focused: async () => (await focusOf(window)).name,
  }
}

/** Tabs through the whole page once. Returns every control where the focus is not visible, and whether the end is never reached. */
export async function tabThrough(window: Window): Promise<string[]> {
  const { page } = window
  const faults: string[] = []
  const seen = new Set<string>()
  await page.evaluate('document.activeElement?.blur(); window.getSelection()?.removeAllRanges()')
  await page.keyboard.press('Tab')
  const first = (await focusOf(window)).html
  for (let presses = 0; presses < 300; presses++) {
    await page.keyboard.press('Tab')
    const { isShown, html, name } = await focusOf(window)
    if (name === 'body' || html === first) return faults
    if (!isShown && !seen.has(html)) faults.push(`the focus is not visible: ${html}`)
    seen.add(html)
  }
  return [...faults, `Tab does not come to the end; it is at ${(await focusOf(window)).html}`]
}
