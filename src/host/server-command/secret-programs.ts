/** Refuses secret environment variables where their value decides what runs: the person cannot be shown such a value. */

import { isSecretName } from '../../base/text/redact.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ServerTransport, StdioTransport } from '../model/server-spec.ts'
import { looksLikeCode } from './detect-code.ts'
import { CODE_OPTION, familyOf, programName } from './interpreters.ts'
import { partsOf } from './placeholder.ts'
import { changesWhatRuns } from './risky-variables.ts'
import { WRAPPERS } from './wrappers.ts'

/**
 * A secret is an argument or a variable of a server, never its program or its code.
 * @throws McpError ERR_CONFIG, without the value
 */
export function refuseSecretPrograms(transport: ServerTransport): void {
  if (transport.type !== 'stdio') return
  for (const { place, text } of textsThatRun(transport)) {
    const name = secretVariable(text)
    if (name !== undefined)
      throw new McpError(
        'ERR_CONFIG',
        `\${env:${name}} is in ${place}, which decides what runs. Its name is the name of a secret, so its value cannot be shown to you. Use a variable with another name there`,
      )
  }
}

function textsThatRun({ command, args, env }: StdioTransport): { place: string; text: string }[] {
  const name = programName(command)
  const startsOthers = familyOf(name) !== undefined || WRAPPERS.test(name)
  const main = startsOthers ? args.findIndex((arg) => !arg.startsWith('-') && !SUBCOMMAND.test(arg)) : -1
  return [
    { place: 'the command', text: command },
    ...args.flatMap((text, at) => {
      const option = args[at - 1] ?? ''
      const isCode = looksLikeCode([text]) || (startsOthers && CODE_OPTION.test(option)) || (option !== '' && looksLikeCode([option]))
      return isCode || at === main ? [{ place: `argument ${at + 1}`, text }] : []
    }),
    ...Object.entries(env).flatMap(([variable, text]) => (changesWhatRuns(variable) ? [{ place: `the variable ${variable}`, text }] : [])),
  ]
}

/** Words of package managers and container programs that stand before the name of the program. */
const SUBCOMMAND = /^(?:run|exec|x|dlx|tool|start)$/

const secretVariable = (text: string): string | undefined =>
  partsOf(text).flatMap((part) =>
    'placeholder' in part && part.placeholder.kind === 'env' && isSecretName(part.placeholder.name) ? [part.placeholder.name] : [],
  )[0]
