/** The options of all commands that connect to a server. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { LOG_LEVELS, type LogLevel } from '../../client/index.ts'

export interface TargetOptions {
  header: Record<string, string>
  env: Record<string, string>
  cwd?: string
  insecure?: true
  timeout?: number
  revision: string[]
  transport?: 'streamable-http' | 'sse'
  log?: LogLevel
  verbose?: true
  inbox?: true
}

export function addTargetOptions(command: Command): Command {
  return command
    .addOption(several('-H, --header <name: value>', 'send this HTTP header (URL only; repeatable)', {}, addHeader))
    .addOption(several('-e, --env <NAME=value>', 'set an environment variable for the command after -- (repeatable)', {}, addVariable))
    .option('--cwd <folder>', 'working directory of the command after --')
    .option('--insecure', 'allow unencrypted http:// to another machine')
    .option('--timeout <seconds>', 'fail a request after this long without an answer or progress', toSeconds)
    .addOption(several('--revision <date>', 'protocol revision to offer (repeatable)', [], addTo, 'all'))
    .addOption(new Option('--transport <kind>', 'HTTP transport to use (URL only; default: found out)').choices(['streamable-http', 'sse']))
    .option('--log <level>', 'show log messages of the server at this level and above', toLogLevel)
    .option('-v, --verbose', 'show the standard error of the server')
    .option('--inbox', 'without a terminal: wait until questions are answered with "portico inbox"')
}

/** @param otherwise the default as shown in the help */
function several<Values>(
  flags: string,
  text: string,
  none: Values,
  add: (value: string, before: Values) => Values,
  otherwise = 'none',
): Option {
  return new Option(flags, text).default(none, otherwise).argParser(add)
}

function addHeader(text: string, before: Record<string, string>): Record<string, string> {
  const match = /^([!#$%&'*+\-.^_`|~\w]+)\s*:\s*(.*)$/.exec(text)
  if (!match) throw new InvalidArgumentError('Expected "Name: value".')
  return { ...before, [match[1] as string]: match[2] as string }
}

function addVariable(text: string, before: Record<string, string>): Record<string, string> {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('Expected NAME=value.')
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) }
}

const addTo = (text: string, before: string[]): string[] => [...before, text]

function toSeconds(text: string): number {
  const seconds = Number(text)
  if (!(seconds > 0) || seconds > 86_400) throw new InvalidArgumentError('Expected a number of seconds, more than 0 and at most 86400.')
  return seconds
}

function toLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((each) => each === text)
  if (!level) throw new InvalidArgumentError(`Expected one of ${LOG_LEVELS.join(', ')}.`)
  return level
}
