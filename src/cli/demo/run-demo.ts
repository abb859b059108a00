/** Runs the tour without a person: it answers its own questions, and fails when a step does not work. */

import { bareCommand } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'
import { runTour } from './run-tour.ts'
import { tell } from './tell.ts'
import { TOUR } from './tour.ts'

export async function runDemo(invocation: Invocation): Promise<ExitName> {
  const { io, screen } = invocation
  const { style } = screen
  tell(screen, 'Portico: many MCP servers, one policy, your approval first', { indent: 0, style: style.bold })
  tell(screen, 'The model is a script, the servers are real and run on this machine, and the tour answers every question.', {
    indent: 0,
    style: style.dim,
  })
  const outcomes = await runTour(invocation)
  const isDone = outcomes.length === TOUR.length && outcomes.every(({ ok }) => ok)
  if (screen.isJson) screen.printJson({ ok: isDone, steps: outcomes })
  else if (isDone) {
    const command = bareCommand(io)
    screen.print(safe`\n${style.green('All steps passed.')} Try it yourself in a terminal: ${style.cyan(command)}`)
  }
  return isDone ? 'ok' : 'failed'
}
