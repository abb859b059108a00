/** Saves bytes in base64 as a file of the person. */
export function saveBytes(name: string, base64: string): void {
  const bytes = Uint8Array.from(atob(base64), (character) => character.codePointAt(0) ?? 0)
  const link = document.createElement('a')
  // Never the type that the server named: the browser must save it, not open it.
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
