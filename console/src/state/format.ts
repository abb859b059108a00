/** Numbers, times and sizes in words. */

/** `1 tool`, `2 tools`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`

/** `850 ms`, `1.2 s`, `3 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1) return '< 1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `312 bytes`, `4.1 kB`, `1.2 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte')
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** `just now`, `2 minutes ago`, `3 hours ago`, then the date. */
export function agoText(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000))
  if (seconds < 45) return 'just now'
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${counted(minutes, 'minute')} ago`
  const hours = Math.round(minutes / 60)
  if (hours < 24) return `${counted(hours, 'hour')} ago`
  return dateText(at)
}

/** `2026-11-16 07:05` in the time of this computer. */
export function dateText(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** `07:05:09.123` in the time of this computer. */
export function clockText(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** The beginning of a text, with the number of characters that are left out. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max)} … (${(text.length - max).toLocaleString('en')} more characters)`
}

/** JSON in lines. Other text stays as it is. */
export function prettyText(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? JSON.stringify(value, undefined, 2) : text
  } catch {
    return text
  }
}

/** `tool add`. Instructions and capabilities exist once for each server, under the name of their kind. */
export const itemText = ({ kind, name }: { kind: string; name: string }): string => (kind === name ? kind : `${kind} ${name}`)
