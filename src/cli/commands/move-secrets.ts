/** Moves secrets in the configuration of servers to the vault, if the person agrees. */

import { moveSecrets, openVault, plainSecrets, plainSecretValue, type ServerSpec, type Vault } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'

const vaultOf = ({ io, screen }: Invocation): Promise<Vault> =>
  openVault({ folder: storagePath(io, 'secrets'), onWarning: (text) => screen.note(safe`! ${text}`) })

/** A value that could go to the vault. */
interface Movable {
  id: string
  secret: ReturnType<typeof plainSecrets>[number]
  value: string
}

/** The same servers, with movable secrets in the vault if the person agrees. Anything that a program would run stays in place. */
export async function movedSecrets(
  invocation: Invocation,
  specs: readonly ServerSpec[],
  agrees: (movable: readonly Movable[]) => Promise<boolean>,
): Promise<ServerSpec[]> {
  const { screen } = invocation
  const found = specs.flatMap((spec) =>
    plainSecrets(spec).map((secret) => ({ id: spec.id, secret, value: plainSecretValue(spec, secret) })),
  )
  const movable = found.filter(({ secret }) => secret.isMovable)
  const isAgreed = movable.length > 0 && (await agrees(movable))
  for (const { id, secret } of found)
    if (secret.isMovable && isAgreed) screen.note(safe`${id}: ${secret.where} looks like a secret and was moved to the vault`)
    else if (secret.isMovable) screen.note(safe`${id}: ${secret.where} looks like a secret and was not moved; --yes moves it to the vault`)
    else
      screen.note(
        safe`${id}: ${secret.where} looks like a secret and was not moved: you must be able to read it when you are asked to start the server`,
      )
  if (!isAgreed) return [...specs]
  const vault = await vaultOf(invocation)
  const moved: ServerSpec[] = []
  for (const spec of specs) moved.push(await moveSecrets(spec, vault))
  return moved
}

/** The vault never shows a value again, so the person may look at it before it is moved. */
export async function agreesToMove({ io, signal, screen }: Invocation, movable: readonly Movable[]): Promise<boolean> {
  if (!isInteractive(io) || screen.isJson) return false
  for (const { id, secret } of movable) screen.note(safe`  ${id}: ${secret.where}, ${secret.chars} characters`)
  const { Prompts } = await import('../terminal/prompts.ts')
  return io.terminal.ask(async (terminal) => {
    const prompts = new Prompts({ ...io, terminal }, signal)
    // Other output waits until the question is answered.
    const here = new Screen({ ...io, terminal })
    for (let isShown = false; ; isShown = true) {
      const next = await prompts.choose(
        'These look like secrets. Move them to the vault?',
        [
          { value: 'move', label: 'Move them, and leave placeholders in the configuration' },
          ...(isShown ? [] : [{ value: 'show' as const, label: 'Show them first' }]),
          { value: 'leave', label: 'Leave them as they are' },
        ],
        // The vault is the safer place, and the files of other clients stay as they are.
        'move',
      )
      if (next !== 'show') return next === 'move'
      for (const { id, secret, value } of movable) here.note(safe`  ${id}: ${secret.where} is ${value}`)
    }
  })
}
