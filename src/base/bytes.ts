/** Base64 encoding and decoding on any runtime, random ids and numbers. */

interface BufferLike {
  from(data: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64' | 'base64url'): string }
  from(data: string, encoding: 'base64' | 'base64url'): Uint8Array
}

// Buffer is native code. The rest is for runtimes that do not have it.
const { Buffer: nativeBuffer } = globalThis as { Buffer?: BufferLike }

export function toBase64(bytes: Uint8Array): string {
  if (nativeBuffer) return nativeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  let binary = ''
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(binary)
}

export const toBase64Url = (bytes: Uint8Array): string => toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** Undefined for any text that `toBase64Url` does not produce. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  // Unused bits must be zero, so that each value has one text only.
  return toBase64Url(bytes) === text ? bytes : undefined
}

export const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** A random number from 0 to 1, for pauses that must differ. */
export const randomFraction = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32

/** 128 random bits. */
export const randomId = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(16)))
