/** The commands of the shell in groups, for `help` and for completion. */

import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'

type HelpLine = readonly [usage: string, what: string]

const GROUPS: readonly (readonly [title: string, lines: readonly HelpLine[]])[] = [
  [
    'Start here',
    [
      ['tour, console', 'a guided tour; a new link to the page in your browser'],
      ['demo [rogue]', 'run the demo; demo rogue: add a server that turns bad'],
    ],
  ],
  [
    'Servers',
    [
      ['servers', 'list servers; also: servers add, servers import'],
      ['enable [NAME ...]', 'start servers, after your approval'],
      ['approve NAME', 'review and approve what is new or changed'],
    ],
  ],
  [
    'Tools',
    [
      ['tools [TOOL]', 'list tools, or show one'],
      ['search WORDS', 'search tools'],
      ['call TOOL key=value ...', 'call a tool; Ctrl-C stops it'],
      ['again', 'repeat the last call'],
      ['resources, read URI', 'list resources, read one'],
      ['prompts, get PROMPT ...', 'list prompts, get one'],
    ],
  ],
  [
    'Records',
    [
      ['grants', 'list remembered approvals; also: grants revoke ID'],
      ['audit', 'check that the audit log is intact'],
    ],
  ],
  [
    'Other',
    [
      ['say TEXT', 'talk to the model'],
      ['portico ...', 'any command of portico, such as portico doctor URL'],
      ['clear, help, quit', 'clear the screen, show this, leave (also: q, Ctrl-D)'],
    ],
  ],
]

/** Words that begin a line of the shell. */
export const SHELL_VERBS = [
  'tour',
  'console',
  'demo',
  'servers',
  'enable',
  'approve',
  'tools',
  'search',
  'call',
  'again',
  'resources',
  'read',
  'prompts',
  'get',
  'grants',
  'audit',
  'say',
  'portico',
  'policy',
  'pins',
  'skills',
  'secrets',
  'inbox',
  'tasks',
  'doctor',
  'clear',
  'help',
  'quit',
] as const

/** Fits a terminal of 80 columns and 24 lines. @param folder where the host stores its data */
export function printHelp(screen: Screen, folder: string): void {
  const { bold, cyan, dim } = screen.noteStyle
  const widest = Math.max(...GROUPS.flatMap(([, lines]) => lines.map(([usage]) => usage.length)))
  for (const [title, lines] of GROUPS) {
    screen.note(bold(title))
    for (const [usage, what] of lines) screen.note(safe`  ${cyan(usage.padEnd(widest))}  ${what}`)
  }
  screen.note(dim(`Tab completes, arrow up recalls a line. Your data: ${folder}`))
}
