/** Runs the steps of the tour on a host of its own, in a temporary folder. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Conversation, createHost } from '../../host/index.ts'
import { scriptedModel } from '../../testing/index.ts'
import type { Invocation } from '../command-runner.ts'
import { safe } from '../output/safe-text.ts'
import { notesSample, startDeploy, startRogue } from './embedded.ts'
import { tourPerson } from './person.ts'
import { tell } from './tell.ts'
import { TOUR, type TourStep, type TourStop } from './tour.ts'

export interface Outcome {
  step: string
  ok: boolean
  error?: string
}

export interface TourOptions {
  /** Prints what to look at before each step. Default: false. */
  explains?: boolean
  /** Called after each step but the last. The tour goes on after true. Default: it always goes on. */
  onStep?(index: number): Promise<boolean>
}

const STEP_MS = 150

/** Reads and stores nothing of the person. Resolves with the steps that were run: a failed step is the last one. */
export async function runTour({ screen, signal }: Pick<Invocation, 'screen' | 'signal'>, options: TourOptions = {}): Promise<Outcome[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'portico-demo-'))
  const closing: (() => Promise<void>)[] = [() => rm(scratch, { recursive: true, force: true })]
  try {
    const deploy = await startDeploy(STEP_MS)
    closing.push(deploy.close)
    const { rogue, spec, close } = await startRogue()
    closing.push(close)
    const { id, ...server } = spec
    const person = tourPerson(screen)
    const host = await createHost({
      servers: { notes: notesSample(join(scratch, 'notes')), deploy: deploy.server, [id]: server },
      folder: join(scratch, 'host'),
      keychain: false,
      model: scriptedModel(),
      ask: person,
      mode: 'interactive',
      project: scratch,
      openUrl: () => {},
      onEvent: () => {},
    })
    closing.push(() => host.close())
    return await walk({ host, rogue, person, screen, conversation: new Conversation(), scratch, signal }, options)
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

async function walk(stop: TourStop, { explains = false, onStep }: TourOptions): Promise<Outcome[]> {
  const { screen, signal } = stop
  const outcomes: Outcome[] = []
  for (const [index, step] of TOUR.entries()) {
    signal.throwIfAborted()
    if (!screen.isJson && (index === 0 || !onStep)) screen.print()
    tell(screen, `${index + 1}. ${step.title}`, { indent: 0, style: screen.style.bold })
    if (explains) tell(screen, step.about, { style: screen.style.dim })
    const outcome = await one(step, stop)
    outcomes.push(outcome)
    // Later steps build on this one.
    if (!outcome.ok) break
    if (onStep && index < TOUR.length - 1 && !(await onStep(index))) break
  }
  return outcomes
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
