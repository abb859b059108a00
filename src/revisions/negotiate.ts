/** Agreeing on a revision: by handshake for a session, by list for stateless calls. */

import { isObject } from '../base/json.ts'
import type { Revision } from './revision.ts'

const latestOf = (dialect: Revision['dialect'], supported: readonly Revision[]): Revision | undefined =>
  supported.findLast((revision) => revision.dialect === dialect)

/** What a server answers to `initialize`: the version asked for if it is spoken, else the newest with a handshake. */
export const answerHandshake = (requested: string, supported: readonly Revision[]): Revision | undefined =>
  supported.find((revision) => revision.version === requested && revision.dialect === 'session') ?? latestOf('session', supported)

/** What a client asks for in `initialize`. */
export const offerHandshake = (supported: readonly Revision[]): Revision | undefined => latestOf('session', supported)

/** What a client puts into its first stateless call. */
export const offerStateless = (supported: readonly Revision[]): Revision | undefined => latestOf('stateless', supported)

/** The newest stateless revision that both sides speak. */
export const chooseStateless = (theirs: unknown, supported: readonly Revision[]): Revision | undefined =>
  Array.isArray(theirs) ? supported.findLast(({ version, dialect }) => dialect === 'stateless' && theirs.includes(version)) : undefined

/** The versions listed in an error about versions, whichever of its forms it has. */
export function versionsIn(data: unknown): string[] | undefined {
  const list = isObject(data) ? data.supported : undefined
  return Array.isArray(list) && list.every((each) => typeof each === 'string') ? (list as string[]) : undefined
}

const VERSION_UNSUPPORTED = -32022
const MODERN_CODES = new Set([-32020, -32021, VERSION_UNSUPPORTED])

/** Whether an error could only come from a server that reads per-request metadata. */
export const isModernError = (code: number): boolean => MODERN_CODES.has(code)

/** Whether an error says that a version is not spoken, without the list of those that are. */
export const isBareVersionError = (code: number, data: unknown): boolean => code === VERSION_UNSUPPORTED && versionsIn(data) === undefined
