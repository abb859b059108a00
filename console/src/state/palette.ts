/** What the palette offers for a text. */

export interface PaletteEntry {
  id: string
  kind: 'page' | 'server' | 'tool' | 'resource' | 'prompt' | 'call'
  label: string
  /** A second text: the server, the description. */
  about: string
}

const MAX_SHOWN = 50

/** Every word must occur. Names that begin with the text come first, then names that contain it, then the rest. */
export function matching<Entry extends PaletteEntry>(entries: readonly Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries.filter(({ kind }) => kind === 'page' || kind === 'call').slice(0, MAX_SHOWN)
  const ranked: { entry: Entry; rank: number }[] = []
  for (const entry of entries) {
    const label = entry.label.toLowerCase()
    const all = `${label} ${entry.about.toLowerCase()} ${entry.kind}`
    if (!words.every((word) => all.includes(word))) continue
    ranked.push({ entry, rank: label.startsWith(words[0] as string) ? 0 : words.every((word) => label.includes(word)) ? 1 : 2 })
  }
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_SHOWN)
    .map(({ entry }) => entry)
}
