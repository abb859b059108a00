/** A configured server in words: its command or address, and where it comes from. */

import { type ServerSpec, withoutPlainSecrets } from '../../host/index.ts'
import { describeTransport } from './configured.ts'

/** The command or address; values that look like secrets are replaced by their length. */
export const shownTransport = (spec: ServerSpec, isWhole: boolean = false): string =>
  describeTransport(isWhole ? spec : withoutPlainSecrets(spec))

export const fromOf = ({ provenance }: Pick<ServerSpec, 'provenance'>): string => provenance.map(describeProvenance).join('; ')

export const describeProvenance = ({ client, scope }: ServerSpec['provenance'][number]): string =>
  scope === 'ours' ? 'portico' : `${client}, ${scope}`
