/**
 * Translates the placeholders of other clients into ours. Everything else stays text, even if it looks like one of our
 * placeholders: the file of another client must not read the vault with `${secret:…}`.
 */

import { basename, sep } from 'node:path'
import { escapeText, placeholderText } from '../server-command/placeholder.ts'
import { Refused } from './problem.ts'

/** Translates one text. Throws Refused for a placeholder that only the client itself can fill in. */
export type Translate = (text: string, where: string) => string

export interface PlaceholderFolders {
  home: string
  /** The project folder, if there is one. */
  project: string | undefined
}

/** Replaces each match of `pattern` with the result of `mean`, and escapes the rest. */
function translateMatches(text: string, pattern: RegExp, mean: (match: RegExpMatchArray) => string): string {
  let end = 0
  let result = ''
  for (const match of text.matchAll(pattern)) {
    result += escapeText(text.slice(end, match.index)) + mean(match)
    end = (match.index as number) + match[0].length
  }
  return result + escapeText(text.slice(end))
}

/** For clients without placeholders. */
export const literal: Translate = (text) => escapeText(text)

const env = (name: string, fallback?: string): string => placeholderText({ kind: 'env', name, fallback })

const BRACED = /\$\{([A-Za-z_]\w{0,127})(?::-([^{}]{0,4096}))?\}/g

/** `${NAME}` and `${NAME:-fallback}`, as in a shell. `known` has the values that the client itself would fill in. */
export const braced =
  (known: Readonly<Record<string, string>> = {}): Translate =>
  (text) =>
    translateMatches(text, BRACED, ([, name = '', fallback]) => {
      const value = Object.hasOwn(known, name) ? known[name] : undefined
      return value === undefined ? env(name, fallback) : escapeText(value)
    })

const BRACED_OR_BARE = /\$\{([A-Za-z_]\w{0,127})(?::-([^{}]{0,4096}))?\}|\$([A-Za-z_]\w{0,127})/g

/** Like `braced`, and also `$NAME`. */
export const shellLike: Translate = (text) =>
  translateMatches(text, BRACED_OR_BARE, ([, inBraces, fallback, bare = '']) => env(inBraces ?? bare, fallback))

const EDITOR = /\$\{([A-Za-z]{1,64}|\/)(?::([^{}]{1,256}))?\}/g

/** `${env:NAME}`, `${input:NAME}`, `${workspaceFolder}` and the other variables of VS Code. */
export const editorLike =
  ({ home, project }: PlaceholderFolders): Translate =>
  (text, where) =>
    translateMatches(text, EDITOR, (match) => {
      const [whole, kind = '', name] = match
      const refuse = (): never => {
        throw new Refused(where, `The text uses \${${kind}${name === undefined ? '' : ':…'}}, ${ONLY_THE_CLIENT}`)
      }
      const folder = (): string => project ?? refuse()
      switch (kind) {
        case 'env':
          return name !== undefined && NAME.test(name) ? env(name) : refuse()
        case 'input':
          return name !== undefined && NAME.test(name) ? placeholderText({ kind: 'input', name }) : refuse()
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
          return refuse()
        default:
          return escapeText(whole)
      }
    })

const ONLY_THE_CLIENT = 'which only the client that owns the file can fill in'
const NAME = /^[^\s{}:$]{1,128}$/
const CURLY = /\{(env|file):([^\s{}:$]{1,256})\}/g

/** `{env:NAME}`, without a dollar sign. */
export const curly: Translate = (text, where) =>
  translateMatches(text, CURLY, ([, kind, name = '']) => {
    if (kind === 'env') return env(name.slice(0, 128))
    throw new Refused(where, `The text uses {file:…}, ${ONLY_THE_CLIENT}`)
  })

const DOUBLE = /\$\{\{\s{0,8}(?:(secrets|inputs)\.)?([^\s{}:$]{1,128})\s{0,8}\}\}/g

/** `${{ secrets.NAME }}` and `${{ inputs.NAME }}`. The client's own secrets are not available here, so the person is asked for them. */
export const doubleCurly: Translate = (text, where) =>
  translateMatches(text, DOUBLE, ([, kind, name = '']) => {
    if (kind !== undefined) return placeholderText({ kind: 'input', name })
    throw new Refused(where, `The text uses a value ${ONLY_THE_CLIENT}`)
  })
