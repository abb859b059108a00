/** Splits texts into words as node, a shell or the kernel would. */

/** The words of NODE_OPTIONS, as node splits them: at spaces, except inside double quotes. */
export function nodeOptionWords(text: string): string[] {
  const words: string[] = []
  let isQuoted = false
  let isNew = true
  const letters = [...text]
  for (let at = 0; at < letters.length; at++) {
    let letter = letters[at] as string
    if (letter === '\\' && isQuoted) letter = letters[++at] ?? ''
    else if (letter === ' ' && !isQuoted) {
      isNew = true
      continue
    } else if (letter === '"') {
      isQuoted = !isQuoted
      continue
    }
    if (isNew) words.push(letter)
    else words.push(`${words.pop()}${letter}`)
    isNew = false
  }
  return words
}

/** The words of a command line, as a shell splits them. Operators between commands also separate words. */
export function shellWords(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  const letters = [...text]
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] as string
    if (letter === '\\' && quote !== "'") word = (word ?? '') + (letters[++at] ?? '')
    else if (letter === quote) quote = ''
    else if (quote === '' && (letter === '"' || letter === "'")) {
      quote = letter
      word ??= ''
    } else if (quote === '' && /[\s;|&()<>]/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + letter
  }
  if (word !== undefined) words.push(word)
  return words
}

/** The variables that shell code assigns. */
export const assignmentsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    shellWords(text).flatMap((word) => {
      const [, name, value] = /^([A-Za-z_]\w{0,127})=(.*)$/s.exec(word) ?? []
      return name === undefined || value === undefined ? [] : [[name, value]]
    }),
  )

/** The words after `#!`, if any. The kernel passes everything after the program as one word, but `env -S` splits it. */
export function shebangWords(start: string): string[] {
  const [, line] = /^#!([^\n]*)/.exec(start) ?? []
  return line === undefined ? [] : shellWords(line.trim())
}
