/** Requests whose answers differ, each with the members that changed. */

import type { ReactNode } from 'react'
import type { ReplayedRequest } from '../../../../src/console/api.ts'
import { DiffView } from '../../components/diff-view.tsx'
import { Fold } from '../../components/fold.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'

export function Differences({ requests }: { requests: readonly ReplayedRequest[] }): ReactNode {
  return requests.map(({ method, name, params, differences }) => (
    <Fold
      key={`${method} ${name} ${JSON.stringify(params)}`}
      label={`${foreignName([method, name].filter(Boolean).join(' '))}: ${counted(differences.length, 'difference')}`}
    >
      {differences.map(({ pointer, before, after }) => (
        <div key={pointer}>
          <code>{foreignName(pointer || '/')}</code>
          <DiffView before={shown(before)} after={shown(after)} label={`Difference at ${pointer || '/'}`} />
        </div>
      ))}
    </Fold>
  ))
}

const shown = (value: unknown): string =>
  value === undefined ? '' : foreignText(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
