/** Finds possible file names in a command line: whole words, option values, parts of lists, words of code. */

import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shellWords } from './split-words.ts'

/** Longer than any path that operating systems accept. */
const MAX_NAME = 4096

/** Separators between words of code, in shells and in programming languages. */
const BETWEEN_WORDS = /[\s'"`()<>|&;{}[\]=,:$]+/
const BETWEEN_WORDS_AND_DRIVES = /[\s'"`()<>|&;{}[\]=,$]+/
const IN_CODE = /[\s'"`()<>|&;$]/

const between = process.platform === 'win32' ? BETWEEN_WORDS_AND_DRIVES : BETWEEN_WORDS

/** Whether a text is more than one name: a shell or an interpreter would split it. */
export const isCode = (text: string): boolean => IN_CODE.test(text)

/** @param variables values of `$NAME` in a shell */
export function namesIn(text: string, variables: Readonly<Record<string, string | undefined>>): Set<string> {
  const names = new Set<string>()
  const add = (name: string): void => {
    if (name !== '' && name.length <= MAX_NAME && !name.includes('\0')) names.add(name)
  }
  for (const each of new Set([text, expandVariables(text, variables)])) {
    add(each)
    // The value in `-r./x` and `-javaagent:x.jar`.
    if (each.startsWith('-')) add(each.slice(2))
    // `java @file` reads further arguments from the file.
    if (each.startsWith('@')) add(each.slice(1))
    for (const piece of each.split(/[=,]/)) add(piece)
    for (const piece of each.split(delimiter)) add(piece)
    for (const piece of each.split(between)) add(piece)
    if (!isCode(each)) continue
    // A shell removes quotes and backslashes inside a word.
    for (const piece of each.split(/[\s;|&()<>]+/)) add(piece.replace(/['"\\]/g, ''))
    for (const word of shellWords(each)) {
      add(word)
      add(word.replace(/^[^=]*=/, ''))
    }
  }
  for (const name of [...names]) if (/^file:/i.test(name)) add(fromUrl(name))
  for (const url of text.match(/file:\/\/[^\s'"`)]+/gi) ?? []) add(fromUrl(url))
  return names
}

const expandVariables = (text: string, variables: Readonly<Record<string, string | undefined>>): string =>
  text
    .replace(/\$(?:\{(\w{1,128})\}|(\w{1,128}))/g, (whole, braced?: string, bare?: string) => variables[braced ?? bare ?? ''] ?? whole)
    .replace(/(^|[\s='":])~(?=\/)/g, (whole, before: string) => (variables.HOME === undefined ? whole : before + variables.HOME))

function fromUrl(text: string): string {
  try {
    return fileURLToPath(text.replace(/[?#].*$/s, ''))
  } catch {
    return ''
  }
}
