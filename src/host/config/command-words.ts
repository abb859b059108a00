/** Classifies the words of a command: values of options can be secrets, while words that a shell or interpreter runs are code. */

import { basename } from 'node:path'
import { WRAPPERS } from '../server-command/wrappers.ts'

const SHELLS =
  /^(?:(?:ba|da|z|fi|k|mk|pdk|c|tc|a|r)?sh|busybox|toybox|cmd|powershell|pwsh|nu|xonsh|elvish|eval|exec|source|xargs|parallel|watch|su|script|ssh|expect|make|just)$/i

const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|python|pypy|ruby|perl|php|lua|luajit|tclsh|osascript|Rscript|R|julia|jshell|groovy|scala|elixir|erl|awk|gawk|mawk|sed)[\d.]*$/i

/** Options whose value is code: `-c`, `-e`, `-pe`, `--eval`, `-EncodedCommand` and similar. */
const CODE_OPTION =
  /^(?:-[A-Za-z]{0,3}[cekprE]|--?(?:eval|exec|execute|expression|print|command|commands|cmd|script|code|run|call|require|import|loader|preload|init|rcfile|init-file|encodedcommand|program|entrypoint|shell))(?:[=:].*)?$/is

const programOf = (word: string): string => basename(word.replaceAll('\\', '/')).replace(/\.(?:exe|cmd|bat|com)$/i, '')

/**
 * The index of the first word that may be code, or that code may read; the number of words if there is none. All words from there on stay
 * visible.
 * @param words the command and its arguments
 */
export function wordsAfterCode(words: readonly string[]): number {
  const at = words.findIndex((word) => SHELLS.test(programOf(word)) || CODE_OPTION.test(word))
  return at < 0 ? words.length : at + 1
}

/** Whether the words contain code, which may do anything with its environment variables. */
export function runsCode(words: readonly string[]): boolean {
  if (words.some((word) => SHELLS.test(programOf(word)))) return true
  const interpreter = words.findIndex((word) => INTERPRETERS.test(programOf(word)))
  return interpreter >= 0 && words.slice(interpreter + 1).some((word) => CODE_OPTION.test(word))
}

/** `token`, `api-key`, `githubToken`: an option whose name ends with the name of a secret. */
export const isKnownOption = (name: string): boolean =>
  !/^no[-_.]/i.test(name) && KNOWN_OPTION.test(name.replace(/([a-z0-9])([A-Z])/g, '$1-$2'))

const KNOWN_OPTION =
  /^(?:[a-z0-9]+[-_.])*(?:token|api[-_.]?key|access[-_.]?key|secret|secret[-_.]?key|password|passwd|passphrase|pat|private[-_.]?key|credential|credentials)$/i

/** A word that no shell would split or expand: without white space, quotes, substitutions, globs and redirections. */
export const isPlainValue = (value: string): boolean => /^[\w.+/=:@%,-]{1,4096}$/.test(value) && !value.startsWith('-')

/** A word that names a program, a file or a download address. Database addresses are excluded: nothing runs from them. */
export const isPlace = (value: string): boolean =>
  /^(?:~|\.{1,2})?\/|^[A-Za-z]:[\\/]/.test(value) || (/^[a-z][\w+.-]*:\/\//i.test(value) && !DATABASE.test(value))

const DATABASE = /^(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?):\/\//i

/** Words before the name of a program or package. */
const SUBCOMMAND = /^(?:run|exec|x|dlx|tool|start|test|create|compose|container|image|\d[\w.]*|.*=.*)$/i

/** Options without a value. */
const FLAG = /^(?:-y|--yes|-q|--quiet|-i|-t|-it|-ti|--rm|--init|--interactive|--tty|--silent|--)$/

/**
 * Whether the word at this index may be the script, package or image to run: the first word that is not an option. Only the program
 * knows which of its options take a value, so a word after an option does not count as that first word.
 */
export function mayBeFirstWord(words: readonly string[], at: number): boolean {
  if (WRAPPERS.test(programOf(words[0] ?? ''))) return true
  return !words.slice(1, at).some((word, i) => {
    const before = words[i] ?? ''
    const isFree = i === 0 || !before.startsWith('-') || FLAG.test(before) || /^--[^=]+=/.test(before)
    return isFree && !word.startsWith('-') && !SUBCOMMAND.test(word)
  })
}
