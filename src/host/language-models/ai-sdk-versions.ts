/** The differences between the versions of the AI SDK provider interface, one row per version. */

import { isObject } from '../../base/json.ts'

/** An image or audio. */
export interface Media {
  /** Base64. */
  data: string
  mediaType: string
}

/** Bare base64 in the earlier versions, tagged data in the later ones. */
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
  /** Media in a user message. */
  file(media: Media): FilePart
  /** Media in a tool result. */
  resultMedia(media: Media): ResultMedia
  /** Why the answer ended. Undefined: the provider did not finish it properly. */
  endOf(finishReason: unknown): string | undefined
  /** Undefined: the provider does not report it. */
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
    // An unmapped reason looks the same as a missing one.
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

/** Undefined: unknown version. */
export const versionWords = (version: string): VersionWords | undefined =>
  Object.hasOwn(VERSIONS, version) ? VERSIONS[version] : undefined
