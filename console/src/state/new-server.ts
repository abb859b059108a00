/** Reads what a person typed to add a server: an address or a command line. */

export interface TypedServer {
  command?: string
  args?: readonly string[]
  url?: string
}

/** Undefined if there is nothing to read yet, or a quote is open. */
export function commandOf(text: string): TypedServer | undefined {
  const line = text.trim()
  if (line === '') return undefined
  if (/^https?:\/\/\S+$/i.test(line)) return { url: line }
  const words = splitWords(line.replace(/\\\n/g, ' '))
  const [command, ...args] = words ?? []
  return command === undefined ? undefined : { command, args }
}

/** Splits as a shell does, but expands nothing: `$HOME`, `*` and `;` stay as they are. */
function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let index = 0; index < line.length; index++) {
    const char = line[index] as string
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else if (char === '\\' && quote === '"' && index + 1 < line.length) word = (word ?? '') + line[++index]
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === '\\' && index + 1 < line.length) word = (word ?? '') + line[++index]
    else word = (word ?? '') + char
  }
  if (quote !== undefined) return undefined
  if (word !== undefined) words.push(word)
  return words
}

/** The folder of a command, as it is stored: another start of Portico may run elsewhere. An emptied field means the default. */
export function workingFolder({ command }: TypedServer, folder: string | undefined): { cwd?: string } {
  const cwd = folder?.trim()
  return command === undefined || cwd === undefined || cwd === '' ? {} : { cwd }
}

/** A short name from the package, the file or the host: `server-everything` becomes `everything`. */
export function suggestedId({ command = '', args = [], url }: TypedServer): string {
  const address = url !== undefined && URL.canParse(url) ? new URL(url) : undefined
  // A number is no name. The port tells servers on this computer apart.
  if (address && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(address.hostname)) return `local-${address.port || '80'}`
  if (address && /^[\d.]+$|^\[/.test(address.hostname))
    return `server-${address.hostname.replaceAll(/[^a-f\d]+/g, '-').replace(/^-|-$/g, '')}`.slice(0, 32)
  const source = url === undefined ? (args.find((arg) => !arg.startsWith('-') && /[a-z]{3}/i.test(arg)) ?? command) : hostOf(url)
  const last = source.split('/').filter(Boolean).at(-1) ?? source
  const plain = last
    .replace(/(.)@[\w.^~-]+$/, '$1')
    .replace(/\.(?:[cm]?[jt]s|py)$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^(?:mcp-)?(?:server-)?(?=[a-z])|-?(?:mcp)?-?(?:server)?$/g, '')
    .replace(/^-+|-+$/g, '')
  return plain.slice(0, 32) || 'server'
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^(?:www|mcp|api)\./, '').split('.')[0] ?? 'server'
  } catch {
    return 'server'
  }
}
