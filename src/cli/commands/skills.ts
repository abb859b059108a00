/** `portico skills`: lists skills, shows one, reads its files, and asks for your approval. */

import type { Command } from 'commander'
import { typedCommand } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { firstLine } from '../connections/listings.ts'
import { withHost } from '../connections/open-host.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { acceptDifferences } from '../connections/pin-differences.ts'
import { type ShownSkill, skillNamed, withSkills } from '../connections/skill-session.ts'
import { parseTarget, parseTargetAndName, type TargetName } from '../connections/target.ts'
import { printContents, printValue } from '../output/content.ts'
import { counted } from '../output/counted.ts'
import { MediaFolder } from '../output/media.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import { printTable } from '../output/table.ts'

export function registerSkills(program: Command, runner: CommandRunner): void {
  const skills = program
    .command('skills')
    .summary('list, read and approve the skills of servers')
    .description('Skills are instructions for models that a server offers. A model gets a skill only after you approved it.')
  addTargetOptions(
    skills.command('list').description('Lists skills and whether you approved them. Reads no files.').argument('[server]', 'Default: all'),
  )
    .usage('[options] [server] | -- command...')
    .option('--json', 'write JSON')
    .action(runner.action(listAction, { takesCommand: true }))
  addTargetOptions(
    skills
      .command('show')
      .description('Shows the frontmatter and the files of a skill. Reads no files.')
      .argument('<server/skill>')
      .argument('[name]'),
  )
    .usage('[options] <server/skill> | <url> <skill> | <skill> -- command...')
    .option('--json', 'write JSON')
    .action(runner.action(showAction, { takesCommand: true }))
  addTargetOptions(
    skills
      .command('read')
      .description('Reads a file of a skill and verifies it. Default: SKILL.md. This is a look of yours; it loads the skill for no model.')
      .argument('<server/skill>')
      .argument('[file...]'),
  )
    .usage('[options] <server/skill> [file] | <url> <skill> [file] | <skill> [file] -- command...')
    .option('--save <folder>', 'save non-text content in this folder')
    .option('--json', 'write JSON')
    .action(runner.action(readAction, { takesCommand: true }))
  skills
    .command('approve')
    .summary('review and approve the skills of a server')
    .description(
      'Shows new and changed skills of a server, together with everything else that awaits approval, and asks for your approval.',
    )
    .argument('<server>')
    .argument('[uri...]', 'also skills that the server does not list')
    .option('--inbox', 'without a terminal: wait until the question is answered with "portico inbox"')
    .action(runner.action(approveAction))
}

async function listAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<void> {
  const { io, screen, after } = invocation
  const target = server === undefined && after === undefined ? undefined : parseTarget(server === undefined ? [] : [server], after).target
  await withSkills(invocation, target, options, async (session) => {
    const skills = await session.list()
    for (const id of session.notEnabled)
      screen.note(
        safe`${screen.noteStyle.yellow('!')} ${id} is not enabled, so its skills are not listed: ${typedCommand(io, `servers enable ${id}`)}`,
      )
    for (const { id, error } of session.failed)
      screen.note(
        safe`${screen.noteStyle.yellow('!')} ${id} did not start, so its skills are not listed: ${untrustedLines(error.message).hanging(2)}`,
      )
    if (screen.isJson) return screen.printJson(skills.map(jsonOf))
    if (skills.length === 0) return screen.note(safe`No skills are listed.`)
    const rows = skills.map(({ name, state = '', definition }) => [
      name,
      state,
      String(filesOf(definition).length),
      firstLine(definition.frontmatter.description),
    ])
    printTable(screen, [{ title: 'SKILL', style: 'bold' }, { title: 'STATE' }, { title: 'FILES' }, { title: 'DESCRIPTION' }], rows)
  })
}

async function showAction(invocation: Invocation, first: string, second: string | undefined, options: TargetOptions): Promise<void> {
  const { screen } = invocation
  const { target, name } = named(invocation, second === undefined ? [first] : [first, second])
  await withSkills(invocation, target, options, async (session) => {
    const skill = await skillNamed(session, name)
    if (screen.isJson) return screen.printJson(jsonOf(skill))
    const { style } = screen
    const { uri, frontmatter } = skill.definition
    screen.print(safe`${style.bold(skill.name)} ${style.dim(uri)}`)
    screen.print(untrustedLines(frontmatter.description))
    if (skill.state !== undefined) screen.print(safe`\n${style.dim('state')} ${STATES[skill.state]}`)
    screen.print(safe`\n${style.dim('frontmatter (written by the server)')}`)
    printValue(screen, frontmatter)
    screen.print(safe`\n${style.dim('files')}`)
    const rows = filesOf(skill.definition).map((file) => [
      file.uri.slice(uri.length - 'SKILL.md'.length),
      counted(file.size, 'byte'),
      file.digest,
    ])
    printTable(screen, [{ title: 'FILE' }, { title: 'SIZE' }, { title: 'DIGEST' }], rows)
  })
}

interface ReadOptions extends TargetOptions {
  save?: string
}

async function readAction(invocation: Invocation, first: string, others: string[], options: ReadOptions): Promise<void> {
  const { io, screen } = invocation
  const { target, name, rest } = named(invocation, [first, ...others])
  await withSkills(invocation, target, options, async (session) => {
    const contents = await session.read(await skillNamed(session, name), rest[0] ?? 'SKILL.md')
    if (screen.isJson) return screen.printJson({ contents })
    const media = new MediaFolder(io, { folder: options.save })
    for (const each of contents) await printContents({ io, screen }, each, media, 'skill')
  })
}

async function approveAction(invocation: Invocation, server: string, uris: string[], { inbox }: { inbox?: true }): Promise<void> {
  const { signal } = invocation
  await withHost(invocation, { only: [server], parks: inbox === true }, async (host) => {
    for (const uri of uris) await host.includeSkill(server, uri, { signal })
    await acceptDifferences(invocation, host, server)
  })
}

const STATES = {
  approved: 'approved: models can load it',
  new: 'not approved: no model gets it',
  changed: 'changed since you approved it: no model gets it until you approve it again',
} as const

/** The name of a configured skill begins with its server. */
function named({ after }: Invocation, words: readonly string[]): { target: TargetName; name: string; rest: readonly string[] } {
  const { target, name, rest } = parseTargetAndName(words, after, 'skill')
  return { target, name: target.kind === 'server' ? `${target.id}/${name}` : name, rest }
}

const filesOf = ({ resources }: ShownSkill['definition']): readonly { uri: string; size: number; digest: string }[] =>
  resources === 'dynamic' ? [] : resources

const jsonOf = ({ name, state, definition }: ShownSkill): object => ({ name, ...(state !== undefined && { state }), ...definition })
