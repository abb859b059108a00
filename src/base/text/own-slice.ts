/** The beginning of a text, for something that is kept. The slice of an engine keeps the whole text in memory. */
export const ownSlice = (text: string, length: number): string =>
  text.length <= length ? text : (JSON.parse(JSON.stringify(text.slice(0, length))) as string)
