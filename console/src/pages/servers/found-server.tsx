/** A server that could be added: its exact command or address, warnings, and the secrets that would move to the vault. */

import type { ReactNode } from 'react'
import type { ImportableServer } from '../../../../src/console/api.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { transportText } from '../../state/servers.ts'
import css from './page.module.css'

/** @param head the name of the server, with a badge or a checkbox */
export const FoundServer = ({ server, head }: { server: Omit<ImportableServer, 'from' | 'isImported'>; head: ReactNode }): ReactNode => (
  <div className={css.found}>
    {head}
    <p className={css.address}>{foreignName(transportText(server.transport))}</p>
    {server.warnings.map((warning) => (
      <p key={warning} className={css.fault}>
        ▲ {foreignText(warning)}
      </p>
    ))}
    {server.plainSecrets.length > 0 && (
      <p className={css.muted}>
        {counted(server.plainSecrets.length, 'secret')} would move to the vault: {server.plainSecrets.map(foreignName).join(', ')}
      </p>
    )}
  </div>
)
