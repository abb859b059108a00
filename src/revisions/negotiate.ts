/** Negotiates the revision: by handshake for a session, by a list of versions for stateless requests. */

import { isObject } from '../base/json.ts'
import type { Revision } from './revision.ts'

const latestOf = (dialect: Revision['dialect'], supported: readonly Revision[]): Revision | undefined =>
  supported.findLast((revision) => revision.dialect === dialect)

/** The server's answer to `initialize`: the requested version if it is supported, otherwise the newest with a handshake. */
export const answerHandshake = (requested: string, supported: readonly Revision[]): Revision | undefined =>
  supported.find((revision) => revision.version === requested && revision.dialect === 'session') ?? latestOf('session', supported)

/** The version that a client requests in `initialize`. */
export const offerHandshake = (supported: readonly Revision[]): Revision | undefined => latestOf('session', supported)

/** The version of a client's first stateless request. */
export const offerStateless = (supported: readonly Revision[]): Revision | undefined => latestOf('stateless', supported)

/** The newest stateless revision that both sides support. */
export const chooseStateless = (theirs: unknown, supported: readonly Revision[]): Revision | undefined =>
  Array.isArray(theirs) ? supported.findLast(({ version, dialect }) => dialect === 'stateless' && theirs.includes(version)) : undefined

/** The supported versions in the data of a version error. */
export function versionsIn(data: unknown): string[] | undefined {
  const list = isObject(data) ? data.supported : undefined
  return Array.isArray(list) && list.every((each) => typeof each === 'string') ? (list as string[]) : undefined
}

const VERSION_UNSUPPORTED = -32022
const MODERN_CODES = new Set([-32020, -32021, VERSION_UNSUPPORTED])

/** Whether only a server of the stateless dialect sends this error. */
export const isModernError = (code: number): boolean => MODERN_CODES.has(code)

/** Whether an error says that a version is unsupported, without a list of supported versions. */
export const isBareVersionError = (code: number, data: unknown): boolean => code === VERSION_UNSUPPORTED && versionsIn(data) === undefined
