/** Detects code in the arguments of a command. Code can run files that cannot be listed in advance. */

import { basename } from 'node:path'
import { isCode } from './file-names.ts'
import { partsOf } from './placeholder.ts'

/** Words whose value some well-known program executes: `--eval=x`, `ProxyCommand=x`, `exec=x`, `alias.x=!y`, `data:` modules. */
const RUNS_ITS_VALUE =
  /^--?(?:eval|exec|execute|expression|call|command|cmd|script|code|shell|init|program|entrypoint)(?:[=:]|$)|command=|\bexec=|=!|^!|(?:^|=)data:|^-c$/i

const SHELL = /^(?:(?:ba|da|z|fi|k|c|tc|a)?sh|busybox|cmd|powershell|pwsh)(?:\.exe)?$/i

/** Paths with blanks and URLs, which every program treats as one word. */
const IS_NAME = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/])[^'"`()<>|&;$\r\n]*$|^https?:\/\/[^\s'"`()<>|;$]*$/

/** @param args with known values filled in. Remaining placeholders do not count as code */
export function looksLikeCode(args: readonly string[]): boolean {
  const literals = args.map((arg) =>
    partsOf(arg)
      .map((part) => ('literal' in part ? part.literal : 'x'))
      .join(''),
  )
  const shell = literals.findIndex((word) => SHELL.test(basename(word)))
  if (shell >= 0 && literals.slice(shell + 1).some((word) => /^(?:[-+]\w*c|\/c$)/i.test(word))) return true
  return literals.some((word) => (isCode(word) && !IS_NAME.test(word)) || /[{}]/.test(word) || RUNS_ITS_VALUE.test(word))
}
