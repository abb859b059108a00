/** The tour for a person at a terminal: it explains each step and waits for a key. */

import type { Invocation } from '../command-runner.ts'
import { safe } from '../output/safe-text.ts'
import { waitForKey } from '../terminal/wait-for-key.ts'
import { runTour } from './run-tour.ts'
import { tell } from './tell.ts'
import { TOUR } from './tour.ts'

/** The tour answers every question itself, and uses neither the servers nor the files of the person. */
export async function guidedTour(invocation: Invocation): Promise<void> {
  const { screen } = invocation
  const { style } = screen
  tell(
    screen,
    `A tour of ${TOUR.length} steps with three sample servers, in a temporary folder. A script plays the model, and the tour` +
      ' answers each question for you.',
    { indent: 0, style: style.dim },
  )
  const outcomes = await runTour(invocation, { explains: true, onStep: (index) => goesOn(invocation, index) })
  const last = outcomes.at(-1)
  if (last && !last.ok) return
  screen.print()
  if (outcomes.length === TOUR.length)
    screen.print(
      safe`${style.green('That was the tour.')} Now you: ${style.cyan('add a note title="Milk" text="2 l"')}, or ${style.cyan('help')}.`,
    )
  else screen.print(safe`The tour ended after step ${outcomes.length}. Type ${style.cyan('tour')} to start it again.`)
}

async function goesOn({ io, screen, signal }: Invocation, index: number): Promise<boolean> {
  const { noteStyle } = screen
  screen.print()
  const key = await waitForKey(io, noteStyle.dim(`[${index + 1}/${TOUR.length}] Enter: next step, q: end the tour`), ['enter', 'q'], signal)
  return key === 'enter'
}
