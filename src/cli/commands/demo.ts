/** `portico demo`: a tour that answers its own questions and fails when a step does not work. */

import type { Command } from 'commander'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { runDemo } from '../demo/run-demo.ts'

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
    .action(runner.action((invocation: Invocation) => runDemo(invocation)))
}
