/** `portico demo`: a tour that answers its own questions and fails when a step does not work. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Conversation, createHost } from '../../host/index.ts'
import { scriptedModel } from '../../testing/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { startEmbedded } from '../demo/embedded.ts'
import { tourPerson } from '../demo/person.ts'
import { TOUR, type TourStep, type TourStop } from '../demo/tour.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'

export function registerDemo(program: Command, runner: CommandRunner): void {
  program
    .command('demo')
    .summary('show in a minute what the host does and prevents')
    .description(
      'Starts three bundled servers, lets a scripted model use them, and answers every question as a careful person would.\n' +
        'Reads and stores nothing of yours and needs no network. Exits with 1 when a step fails.',
    )
    .option('--json', 'write the steps as JSON')
    .action(runner.action((invocation: Invocation) => demo(invocation)))
}

interface Outcome {
  step: string
  ok: boolean
  error?: string
}

export async function demo({ screen, signal }: Invocation): Promise<ExitName> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-demo-'))
  const embedded = await startEmbedded({ notesFolder: join(folder, 'notes'), stepMs: 150 })
  const person = tourPerson(screen)
  if (!screen.isJson) {
    screen.print(safe`${screen.style.bold('Portico: many MCP servers, one policy, your approval first')}`)
    screen.print(
      safe`${screen.style.dim('The model is a script, the servers are real and run on this machine, and the tour answers every question.')}`,
    )
  }
  try {
    const host = await createHost({
      servers: embedded.servers,
      folder: join(folder, 'host'),
      keychain: false,
      model: scriptedModel(),
      ask: person,
      mode: 'interactive',
      project: folder,
      openUrl: () => {},
      onEvent: () => {},
    })
    try {
      return await walk({ host, embedded, person, screen, conversation: new Conversation(), scratch: folder, signal })
    } finally {
      await host.close()
    }
  } finally {
    await embedded.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function walk(stop: TourStop): Promise<ExitName> {
  const { screen, signal } = stop
  const outcomes: Outcome[] = []
  for (const [index, step] of TOUR.entries()) {
    signal.throwIfAborted()
    if (!screen.isJson) screen.print(safe`\n${screen.style.bold(`${index + 1}. ${step.title}`)}`)
    outcomes.push(await one(step, stop))
    // Later steps build on this one.
    if (!outcomes.at(-1)?.ok) break
  }
  const isDone = outcomes.length === TOUR.length && outcomes.every(({ ok }) => ok)
  if (screen.isJson) screen.printJson({ ok: isDone, steps: outcomes })
  else if (isDone) {
    screen.print(
      safe`\n${screen.style.green('All steps passed.')} Try it yourself: ${screen.style.cyan('portico')} in a terminal, or ${screen.style.cyan('portico help')}.`,
    )
  }
  return isDone ? 'ok' : 'failed'
}

async function one(step: TourStep, stop: TourStop): Promise<Outcome> {
  const { screen, signal } = stop
  try {
    await step.run(stop)
    return { step: step.title, ok: true }
  } catch (error) {
    if (signal.aborted) throw error
    const { message } = error as Error
    if (!screen.isJson) screen.print(safe`    ${screen.style.red('✗')} ${message}`)
    return { step: step.title, ok: false, error: message }
  }
}
