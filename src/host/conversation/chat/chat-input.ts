/** A message of the person to the model: text, pictures, audio and files. */

import { isBase64 } from '../../../base/bytes.ts'
import { isObject } from '../../../base/json.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { AudioContent, EmbeddedResource, ImageContent, TextContent } from '../../../protocol/model/content.ts'
import { isPicture } from '../../language-models/image-types.ts'
import type { ModelContent } from '../../language-models/language-model.ts'

/** A part of a message. A file is a `resource`, with its text, or with its bytes in base64 and its type. */
export type ChatContent = TextContent | ImageContent | AudioContent | EmbeddedResource

/** A message to a model: a text, or parts with pictures and files. */
export type ChatInput = string | readonly ChatContent[]

/** Checks and copies a message. A model refuses a message with any other part, and with it every later request of the conversation. */
export function readChatInput(message: ChatInput): string | ModelContent[] {
  if (typeof message === 'string') return message
  if (!Array.isArray(message) || message.length === 0) throw wrong('message', 'a text or a list of parts', message)
  return message.map((part: unknown, at) => {
    checkPart(part, `part ${at + 1}`)
    return structuredClone(part) as ChatContent
  })
}

function checkPart(part: unknown, where: string): void {
  const { type, text, data, mimeType, resource } = isObject(part) ? part : {}
  switch (type) {
    case 'text':
      if (typeof text !== 'string') throw wrong(`${where}.text`, 'a text', text)
      return
    case 'image':
    case 'audio':
      checkMedia(mimeType, where, type === 'image' ? isPicture : isAudio, type === 'image' ? PICTURE_TYPES : 'an audio type')
      checkData(data, `${where}.data`)
      return
    case 'resource':
      checkFile(resource, `${where}.resource`)
      return
    default:
      throw wrong(`${where}.type`, '"text", "image", "audio" or "resource"', type)
  }
}

function checkFile(file: unknown, where: string): void {
  const { uri, mimeType, text, blob } = isObject(file) ? file : {}
  if (typeof uri !== 'string') throw wrong(`${where}.uri`, 'a text', uri)
  if (typeof text === 'string') return
  if (blob === undefined) throw wrong(`${where}.text`, 'a text, or base64 in "blob"', text)
  checkMedia(mimeType, where, isFile, `${PICTURE_TYPES}, an audio type or application/pdf`)
  checkData(blob, `${where}.blob`)
}

const PICTURE_TYPES = 'image/png, image/jpeg, image/gif, image/webp'

const isAudio = (mimeType: string): boolean => mimeType.startsWith('audio/')

const isFile = (mimeType: string): boolean => isPicture(mimeType) || isAudio(mimeType) || mimeType === 'application/pdf'

function checkMedia(mimeType: unknown, where: string, isKnown: (mimeType: string) => boolean, expected: string): void {
  if (typeof mimeType !== 'string' || !isKnown(mimeType)) throw wrong(`${where}.mimeType`, expected, mimeType)
}

function checkData(data: unknown, where: string): void {
  if (typeof data !== 'string' || data === '' || !isBase64(data)) throw wrong(where, 'bytes in base64', data)
}

function wrong(where: string, expected: string, got: unknown): McpError {
  const shown = (JSON.stringify(got) ?? 'undefined').slice(0, 100)
  return new McpError('ERR_INVALID_PARAMS', `A message for the model: expected ${expected} in ${where}, got ${shown}`)
}
