/** Whether an answer of a server may contain files of this computer. */

import { uriTemplate } from '../../protocol/uri-template/index.ts'
import { pathArguments } from '../consent/path-arguments.ts'
import type { HostedServer } from '../servers/hosted-server.ts'

type Server = Pick<HostedServer, 'spec' | 'facts'>

/** A server with folders may read them for any request. A server on another computer cannot read the files of this one. */
export function mayReadFiles({ spec, facts }: Server, args: Readonly<Record<string, unknown>>): boolean {
  if ((facts.roots?.length ?? 0) > 0 || (spec.roots?.length ?? 0) > 0) return true
  return spec.transport.type !== 'http' && pathArguments(args)?.length !== 0
}

/** Like `mayReadFiles`, for the address of a resource: only the values of its template can name a path of the caller. */
export const mayReadFilesAt = (server: Server, uri: string, template: string | undefined): boolean =>
  mayReadFiles(server, template === undefined ? {} : valuesIn(template, uri))

function valuesIn(template: string, uri: string): Readonly<Record<string, unknown>> {
  try {
    return uriTemplate(template).match(uri) ?? { uri }
  } catch {
    // An address that cannot be read may name anything.
    return { uri }
  }
}
