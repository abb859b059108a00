/** What the versions of the AI SDK's interface for providers say differently, as far as it is used here. One that is new gets a row. */

import { isObject } from '../../base/json.ts'

/** Pictures and sound. */
export interface Media {
  /** Base64. */
  data: string
  mediaType: string
}

/** Base64 as it is in the earlier versions, and with what it is in the later ones. */
type FileData = string | { type: 'data'; data: string }

export interface FilePart {
  type: 'file'
  data: FileData
  mediaType: string
}

export interface ResultMedia {
  type: 'media' | 'image-data' | 'file-data' | 'file'
  data: FileData
  mediaType: string
}

export interface VersionWords {
  /** Pictures and sound in what the user says. */
  file(media: Media): FilePart
  /** Pictures and sound in what a tool answers. */
  resultMedia(media: Media): ResultMedia
  /** Why an answer ended; undefined where it did not, and the provider reports an end of its own. */
  endOf(finishReason: unknown): string | undefined
  /** Undefined where the provider does not say. */
  tokens(counted: unknown): number | undefined
}

const plainFile = (media: Media): FilePart => ({ type: 'file', ...media })

const taggedFile = ({ data, mediaType }: Media): FilePart => ({ type: 'file', data: { type: 'data', data }, mediaType })

const unifiedEnd = (finishReason: unknown): string | undefined => {
  const { unified, raw } = isObject(finishReason) ? finishReason : {}
  return unified === 'interrupted' || (unified === 'other' && raw === undefined) ? undefined : asText(unified)
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const asCount = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 ? value : undefined)

const totalTokens = (counted: unknown): number | undefined => (isObject(counted) ? asCount(counted.total) : undefined)

const VERSIONS: Readonly<Record<string, VersionWords>> = {
  v2: {
    file: plainFile,
    resultMedia: (media) => ({ type: 'media', ...media }),
    // A reason that the provider has no word for looks the same as none.
    endOf: (finishReason) => (finishReason === 'unknown' ? undefined : asText(finishReason)),
    tokens: asCount,
  },
  v3: {
    file: plainFile,
    resultMedia: (media) => ({ type: media.mediaType.startsWith('image/') ? 'image-data' : 'file-data', ...media }),
    endOf: unifiedEnd,
    tokens: totalTokens,
  },
  v4: { file: taggedFile, resultMedia: taggedFile, endOf: unifiedEnd, tokens: totalTokens },
}

export const SPECIFICATION_VERSIONS: readonly string[] = Object.keys(VERSIONS)

/** Undefined for a version that is not known. */
export const wordsOf = (version: string): VersionWords | undefined => (Object.hasOwn(VERSIONS, version) ? VERSIONS[version] : undefined)
