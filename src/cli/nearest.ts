/** "Did you mean": the nearest name, if one is near enough. */

const MAX_COMPARED = 2000
const MAX_LENGTH = 128

export function nearest(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.min(3, Math.floor(typed.length / 2)) + 1
  let compared = 0
  for (const name of names) {
    if (++compared > MAX_COMPARED) break
    if (name.length > MAX_LENGTH || typed.length > MAX_LENGTH) continue
    const distance = name.toLowerCase() === typed.toLowerCase() ? 0 : editDistance(typed, name)
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  // A part of a name can be far from it by edit distance and still match only one.
  return best ?? onlyOne(names, (name) => typed.length >= 3 && name.toLowerCase().includes(typed.toLowerCase()))
}

function onlyOne(names: Iterable<string>, fits: (name: string) => boolean): string | undefined {
  const found = [...names].slice(0, MAX_COMPARED).filter(fits)
  return found.length === 1 ? found[0] : undefined
}

/** Insertions, deletions, replacements, and two neighbours swapped. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
