/** `portico demo`: a tour that answers its own questions and fails when a step does not work. */

import type { Command } from 'commander'
import { commandName } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { runTour } from '../demo/run-tour.ts'
import { tell } from '../demo/tell.ts'
import { TOUR } from '../demo/tour.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'

export function registerDemo(program: Command, runner: CommandRunner): void {
  program
    .command('demo')
    .summary('show in a minute what the host does and prevents')
    .description(
      'Starts three bundled servers, lets a scripted model use them, and answers every question as a careful person would.\n' +
        'Reads and stores nothing of yours and needs no network. Exits with 1 when a step fails.\n' +
        'For a tour that waits for you at each step, type "tour" in the shell (portico).',
    )
    .option('--json', 'write the steps as JSON')
    .action(runner.action((invocation: Invocation) => demo(invocation)))
}

export async function demo(invocation: Invocation): Promise<ExitName> {
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
    const command = commandName(io)
    screen.print(safe`\n${style.green('All steps passed.')} Try it yourself in a terminal: ${style.cyan(command)}`)
  }
  return isDone ? 'ok' : 'failed'
}
