/**
 * Placeholders as other clients write them, to ours. What is no placeholder to that client stays text here, even when it
 * looks like one of ours: a file of somebody else must not reach into the vault by writing `${secret:…}`.
 */

import { basename, sep } from 'node:path'
import { escapeText, placeholderText } from '../launch/placeholder.ts'
import { Refused } from './problem.ts'

/** Throws Refused for a placeholder that only that client can fill. */
export type Translate = (text: string, where: string) => string

export interface Places {
  home: string
  /** The folder that a person works in, if the file belongs to one. */
  project: string | undefined
}

/** Replaces what `pattern` finds by what `mean` makes of it, and escapes the rest. */
function translated(text: string, pattern: RegExp, mean: (match: RegExpMatchArray) => string): string {
  let end = 0
  let result = ''
  for (const match of text.matchAll(pattern)) {
    result += escapeText(text.slice(end, match.index)) + mean(match)
    end = (match.index as number) + match[0].length
  }
  return result + escapeText(text.slice(end))
}

/** A client that has no placeholders. */
export const literal: Translate = (text) => escapeText(text)

const env = (name: string, fallback?: string): string => placeholderText({ kind: 'env', name, ...(fallback !== undefined && { fallback }) })

const BRACED = /\$\{([A-Za-z_]\w{0,127})(?::-([^{}]{0,4096}))?\}/g

/** `${NAME}` and `${NAME:-instead}`, as in a shell. `known` are names that the client itself gives a value. */
export const braced =
  (known: Readonly<Record<string, string>> = {}): Translate =>
  (text) =>
    translated(text, BRACED, ([, name = '', fallback]) => {
      const value = Object.hasOwn(known, name) ? known[name] : undefined
      return value === undefined ? env(name, fallback) : escapeText(value)
    })

const BRACED_OR_BARE = /\$\{([A-Za-z_]\w{0,127})(?::-([^{}]{0,4096}))?\}|\$([A-Za-z_]\w{0,127})/g

/** `$NAME` as well. */
export const shellLike: Translate = (text) =>
  translated(text, BRACED_OR_BARE, ([, inBraces, fallback, bare = '']) => env(inBraces ?? bare, fallback))

const EDITOR = /\$\{([A-Za-z]{1,64}|\/)(?::([^{}]{1,256}))?\}/g

/** `${env:NAME}`, `${input:NAME}`, `${workspaceFolder}` and the like, which VS Code began with. */
export const editorLike =
  ({ home, project }: Places): Translate =>
  (text, where) =>
    translated(text, EDITOR, (match) => {
      const [whole, kind = '', name] = match
      const told = (): never => {
        throw new Refused(
          where,
          `It uses \${${kind}${name === undefined ? '' : ':…'}}, which only the client that the file belongs to can fill`,
        )
      }
      const folder = (): string => project ?? told()
      switch (kind) {
        case 'env':
          return name !== undefined && NAME.test(name) ? env(name) : told()
        case 'input':
          return name !== undefined && NAME.test(name) ? placeholderText({ kind: 'input', name }) : told()
        case 'workspaceFolder':
        case 'workspaceRoot':
          return escapeText(folder())
        case 'workspaceFolderBasename':
          return escapeText(basename(folder()))
        case 'userHome':
          return escapeText(home)
        case 'pathSeparator':
        case '/':
          return sep
        case 'config':
        case 'command':
        case 'file':
          return told()
        default:
          return escapeText(whole)
      }
    })

const NAME = /^[^\s{}:$]{1,128}$/
const CURLY = /\{(env|file):([^\s{}:$]{1,256})\}/g

/** `{env:NAME}`, without a dollar sign. */
export const curly: Translate = (text, where) =>
  translated(text, CURLY, ([, kind, name = '']) => {
    if (kind === 'env') return env(name.slice(0, 128))
    throw new Refused(where, 'It uses {file:…}, which only the client that the file belongs to can fill')
  })

const DOUBLE = /\$\{\{\s{0,8}(?:(secrets|inputs)\.)?([^\s{}:$]{1,128})\s{0,8}\}\}/g

/** `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. The secrets are those of the client; here the person is asked for them. */
export const doubleCurly: Translate = (text, where) =>
  translated(text, DOUBLE, ([, kind, name = '']) => {
    if (kind !== undefined) return placeholderText({ kind: 'input', name })
    throw new Refused(where, 'It uses a value that only the client that the file belongs to can fill')
  })
