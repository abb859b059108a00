/** The interactive host: runs one typed line after another, with all servers together and a model to talk to. */

import { join } from 'node:path'
import { type Conversation, type Host, STORAGE_PATHS, verifyAudit } from '../../host/index.ts'
import { assign } from '../arguments/assignment.ts'
import { isScripted, runTurn } from '../chat/turn.ts'
import { commandName } from '../command-name.ts'
import type { Commands, Invocation } from '../command-runner.ts'
import { candidates } from '../completion/candidates.ts'
import { knownNames } from '../completion/known-names.ts'
import { enableServers, notEnabled, tellEnabled } from '../connections/enable-servers.ts'
import { firstLine } from '../connections/listings.ts'
import { acceptDifferences, printDifferences } from '../connections/pin-differences.ts'
import { findTool } from '../connections/tool-call.ts'
import { UsageError, unknownName } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { printVerdict } from '../output/audit-verdict.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { splitWords } from '../split-words.ts'
import { catalogSession, isToolName, toolNamed } from './catalog-session.ts'
import { completeLine } from './complete.ts'
import { printHelp, SHELL_VERBS } from './help.ts'
import { isSentence, SENTENCE_EXAMPLES } from './sentences.ts'
import { isNotEnabled, notEnabledNote, printServers, settled } from './servers.ts'
import { runSessionCommand, SESSION_COMMANDS } from './session-commands.ts'

export interface ShellOptions {
  host: Host
  conversation: Conversation
  /** The commands of portico. */
  commands: Commands
  /** Reads the configured servers again. */
  reload(): Promise<void>
  /** Adds the server that turns bad. Resolves with its name. */
  addRogue(): Promise<string>
  /** A new link to the console. Undefined: there is no console. */
  link(): string | undefined
  /** Called after each turn with the model. */
  onTurn(): Promise<void>
}

/** Commands of portico that may change the configured servers. */
const CONFIGURES: ReadonlySet<string> = new Set(['servers', 'secrets', 'policy'])
/** Commands of portico that work without the word `portico` before them. */
const DIRECT: ReadonlySet<string> = new Set([...CONFIGURES, 'grants', 'pins', 'skills', 'inbox', 'tasks', 'doctor'])
const CLEAR = '\u001b[H\u001b[2J\u001b[3J'

export class Shell {
  readonly #options: ShellOptions
  #lastCall: string | undefined
  #hasShownSentences = false

  constructor(options: ShellOptions) {
    this.#options = options
  }

  complete({ io }: Pick<Invocation, 'io'>, line: string): Promise<[string[], string]> {
    const { host, commands } = this.#options
    return completeLine(line, host, async (words) => candidates(await commands.program(words), words, knownNames(io, [])))
  }

  async run(invocation: Invocation, line: string): Promise<void> {
    const { screen, signal } = invocation
    const { host } = this.#options
    const [verb = '', rest = ''] = [/^\s*\S+/.exec(line)?.[0].trim(), line.replace(/^\s*\S+\s*/, '').trim()]
    switch (verb) {
      case 'help':
      case '?':
        return printHelp(screen, host.folder)
      case 'tour':
        return (await import('../demo/guided-tour.ts')).guidedTour(invocation)
      case 'demo':
        return this.#demo(invocation, rest)
      case 'console':
        return this.#console(invocation)
      case 'clear':
        return screen.printBytes(Buffer.from(CLEAR))
      case 'servers':
        if (rest === '') return printServers(screen, host)
        // The host of the shell starts them.
        if (splitWords(rest)[0] === 'enable') return this.#enable(invocation, splitWords(rest).slice(1))
        return this.#portico(invocation, splitWords(line))
      case 'enable':
        return this.#enable(invocation, splitWords(rest))
      case 'approve':
        this.#checkServer(rest)
        if (!host.review(rest)) return screen.note(safe`Nothing of ${rest} awaits approval.`)
        return host.approve(rest, { signal })
      case 'search':
        return this.#search(invocation, rest)
      case 'again':
        if (this.#lastCall === undefined) throw new UsageError('There is no call to repeat', 'Type "call TOOL key=value ..." first')
        screen.note(safe`${screen.noteStyle.dim('>')} ${this.#lastCall}`)
        return this.run(invocation, this.#lastCall)
      case 'audit':
        if (rest !== '') return this.#portico(invocation, splitWords(line))
        return printVerdict(screen, await verifyAudit(join(host.folder, STORAGE_PATHS.audit)))
      case 'grants':
        return this.#portico(invocation, rest === '' ? ['grants', 'list'] : splitWords(line))
      case 'say':
        return this.#say(invocation, rest)
      case 'policy':
        if (splitWords(rest)[0] === 'explain' && !/\s--?\w/.test(rest)) return this.#explain(invocation, splitWords(rest).slice(1))
        return this.#portico(invocation, splitWords(line))
      case 'pins':
        return this.#pins(invocation, splitWords(rest))
      case 'portico':
        return this.#portico(invocation, splitWords(rest))
    }
    if (DIRECT.has(verb)) return this.#portico(invocation, splitWords(line))
    if (await this.#session(invocation, verb, line)) return
    return this.#sentence(invocation, verb, line)
  }

  /** Runs the commands about tools, resources and prompts. The name of a tool alone calls it. */
  async #session(invocation: Invocation, verb: string, line: string): Promise<boolean> {
    const { screen, signal } = invocation
    const { host } = this.#options
    const isCall = isToolName(host, verb)
    // Text for the model may have an unclosed quote, so only commands are split into words.
    if (!isCall && !SESSION_COMMANDS.some(([usage]) => usage.split(' ', 1)[0] === verb)) return false
    const [first = '', ...words] = splitWords(isCall ? `call ${line}` : line)
    await settled(host, signal)
    if (first === 'call' && words[0] !== undefined) this.#lastCall = isCall ? `call ${line.trim()}` : line.trim()
    if ((first === 'call' || first === 'tools') && words[0] !== undefined) words[0] = await toolNamed(host, words[0])
    const isDone = await runSessionCommand(invocation, catalogSession(host), [first, ...words])
    if (isDone && words.length === 0) notEnabledNote(screen, host, 'Type: enable')
    return isDone
  }

  async #demo(invocation: Invocation, what: string): Promise<void> {
    if (what === '') return void (await (await import('../demo/run-demo.ts')).runDemo(invocation))
    if (what !== 'rogue') throw new UsageError(`Unknown demo ${JSON.stringify(what)}`, 'Type "demo" or "demo rogue"')
    const name = await this.#options.addRogue()
    const { screen } = invocation
    await this.#enable(invocation, [name])
    screen.note(safe`Call it once, and it changes its tools: call ${name}__forecast city=Paris`)
  }

  #console({ screen }: Invocation): void {
    const link = this.#options.link()
    if (link === undefined) throw new UsageError('There is no console', 'Start portico without --no-console')
    screen.note(safe`Open this page in a browser. The link works once, within 5 minutes:`)
    screen.note(screen.noteLink(link))
  }

  /** Several servers are asked about on one screen. Without a name: all that are not enabled. */
  async #enable(invocation: Invocation, names: readonly string[]): Promise<void> {
    const { host } = this.#options
    const { screen } = invocation
    for (const id of names) this.#checkServer(id)
    // Whether a start needs a question is known when the others have started.
    if (names.length === 0) await settled(host, invocation.signal)
    const asked = (names.length > 0 ? [...new Set(names)] : notEnabled(host)).filter((id) => {
      const isEnabled = host.health()[id]?.state === 'ready' && !host.review(id)
      if (isEnabled) screen.note(safe`${id} is enabled already.`)
      return !isEnabled
    })
    if (asked.length === 0) return names.length > 0 ? undefined : screen.note(safe`All servers are enabled.`)
    await enableServers(invocation, host, asked)
    if (tellEnabled(invocation, host, asked) === 'ok') screen.note(screen.noteStyle.dim('Type "tools" for a list of tools.'))
  }

  /** With the servers of the shell, which the command does not know. */
  async #explain({ io, screen, signal }: Invocation, [typed, ...pairs]: readonly string[]): Promise<void> {
    const { host } = this.#options
    if (typed === undefined) throw new UsageError('Missing tool', 'Type "policy explain SERVER/TOOL key=value ..."')
    await settled(host, signal)
    const tool = await findTool(catalogSession(host), await toolNamed(host, typed))
    const args = await assign(pairs, { schema: tool.inputSchema, cwd: io.cwd })
    screen.print(untrustedLines((await host.explain(tool.name, args)).text))
  }

  /** The changes of a server of the shell, which the command does not know. */
  async #pins(invocation: Invocation, words: readonly string[]): Promise<void> {
    const [what, id, ...more] = words
    if ((what !== 'diff' && what !== 'accept') || id === undefined || more.length > 0) return this.#portico(invocation, ['pins', ...words])
    const { host } = this.#options
    this.#checkServer(id)
    await settled(host, invocation.signal)
    if (what === 'accept') return acceptDifferences(invocation, host, id)
    printDifferences(invocation, host, id)
  }

  #checkServer(id: string): void {
    const names = Object.keys(this.#options.host.health())
    if (id === '') throw new UsageError('Missing server', `Servers: ${names.join(', ')}`)
    if (!names.includes(id)) throw unknownName('server', id, names)
  }

  async #search({ screen, signal }: Invocation, words: string): Promise<void> {
    await settled(this.#options.host, signal)
    const rows = this.#options.host.search(words).map(({ entry }) => [entry.exposed, firstLine(entry.definition.description)])
    if (rows.length === 0) return screen.note(safe`No tool found.`)
    screen.print(table([{ title: 'TOOL', style: 'bold' }, { title: 'DESCRIPTION' }], rows, screen.style, screen.columns))
  }

  /** Prints what the command prints, with its errors. */
  async #portico({ screen, signal }: Invocation, words: readonly string[]): Promise<void> {
    if (words.length === 0 || words[0] === 'up' || words[0]?.startsWith('-'))
      throw new UsageError('This is the shell already', 'Type "help" for a list of commands')
    const { host, commands, reload } = this.#options
    const before = new Set(Object.keys(host.health()))
    await commands.run(words)
    if (!CONFIGURES.has(words[0] ?? '')) return
    await reload()
    await settled(host, signal)
    for (const [id, health] of Object.entries(host.health()))
      if (!before.has(id) && isNotEnabled(health))
        screen.note(screen.noteStyle.dim(`Type "enable ${id}" to start it, or call one of its tools.`))
  }

  async #say(invocation: Invocation, text: string): Promise<void> {
    const { host, conversation, onTurn } = this.#options
    if (text === '') throw new UsageError('Missing text', 'Type "say" and what to say to the model')
    await settled(host, invocation.signal)
    try {
      await runTurn(invocation, host, conversation, text)
    } finally {
      await onTurn()
    }
  }

  /** A line that is not a command goes to the model, if there is one. */
  async #sentence(invocation: Invocation, verb: string, line: string): Promise<void> {
    const { io, screen } = invocation
    const { host, conversation } = this.#options
    if (!isScripted(host) || isSentence(line, conversation)) return this.#say(invocation, line)
    const { cyan, dim } = screen.noteStyle
    const meant = line.trim() === verb ? nearest(verb, SHELL_VERBS) : undefined
    if (meant !== undefined) return screen.note(safe`Not a command. Did you mean ${cyan(meant)}?`)
    screen.note(safe`Not a command, and no sentence that the script knows: nothing is sent.`)
    if (this.#hasShownSentences) return screen.note(safe`Try ${cyan('help')}.`)
    this.#hasShownSentences = true
    screen.note(safe`Try ${cyan('help')}, start with ${cyan(`${commandName(io)} up --model ollama:NAME`)}, or type:`)
    for (const example of SENTENCE_EXAMPLES) screen.note(dim(`  ${example}`))
  }
}
