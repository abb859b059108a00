/** Shows what changed on a server since it was approved, and asks about it: for the command and for the shell. */

import { differenceWords, type Host } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import type { ExitName } from '../exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'

/** @throws the error of a server that could not be reached */
export function printDifferences({ screen }: Pick<Invocation, 'screen'>, host: Host, server: string): ExitName {
  const health = host.health()[server]
  if (health?.state === 'refused') throw health.error
  if (health?.state === 'waiting' || health?.state === 'open-circuit') throw health.lastError
  const review = host.review(server)
  if (screen.isJson) screen.printJson(review ?? null)
  if (!review) {
    const missing = host.notOffered(server)
    if (!screen.isJson) screen.note(safe`No changes since your approval.`)
    if (!screen.isJson && missing.length > 0) screen.note(safe`Approved, but not offered now: ${missing.join(', ')}.`)
    return 'ok'
  }
  if (screen.isJson) return 'different'
  const { style } = screen
  for (const { kind, name, difference, flags, definition } of review.items) {
    screen.print(safe`${style.yellow('≠')} ${style.bold(`${kind} ${name}`)} ${difference ? differenceWords(difference) : 'new'}`)
    for (const flag of flags) screen.print(safe`  ${style.yellow(`! ${flag}`)}`)
    for (const { pointer, text, before, after } of difference?.changes ?? []) {
      // The words above tell the former name.
      if (pointer === 'name' && before === difference?.formerly) continue
      screen.print(safe`  ${pointer}: ${text}`)
      if (before !== undefined) screen.print(safe`    ${style.red(`- ${jsonText(before)}`)}`)
      if (after !== undefined) screen.print(safe`    ${style.green(`+ ${jsonText(after)}`)}`)
    }
    if (!difference) screen.print(untrustedLines(jsonText(definition, 2)).indented(2))
  }
  for (const gone of review.gone) screen.print(safe`${style.red('-')} ${gone}: not offered now`)
  return 'different'
}

export async function acceptDifferences({ screen, signal }: Invocation, host: Host, server: string): Promise<void> {
  if (host.review(server)) await host.approve(server, { signal })
  screen.note(host.review(server) ? safe`${server}: some items still await approval.` : safe`Nothing of ${server} awaits approval.`)
}
