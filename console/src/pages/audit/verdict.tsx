/** Verifies the log, and shows the first record that was changed. */

import type { ReactNode } from 'react'
import type { AuditVerdict } from '../../../../src/host/index.ts'
import { Badge } from '../../components/badge.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import css from './page.module.css'

export function Verdict({ verdict, onShow }: { verdict: AuditVerdict; onShow(seq: number): void }): ReactNode {
  const { ok, records, signedUpTo, firstBad, recovered, unmatchedIntents } = verdict
  return (
    <div className={css.verdict} data-ok={ok} role="status">
      <p>
        <Badge tone={ok ? 'fine' : 'danger'}>{ok ? 'Unchanged' : 'Changed'}</Badge>{' '}
        {ok
          ? `${counted(records, 'record')} verified. Signed up to record ${signedUpTo}.`
          : `The log was changed after it was written. ${counted(records, 'record')} before this place ${records === 1 ? 'is' : 'are'} good.`}
      </p>
      {firstBad && (
        <p>
          First bad record: {firstBad.seq} (file {foreignName(firstBad.segment)}, line {firstBad.line}): {foreignName(firstBad.reason)}.{' '}
          <button type="button" className={css.link} onClick={() => onShow(firstBad.seq)}>
            Show record {firstBad.seq}
          </button>
        </p>
      )}
      {unmatchedIntents.length > 0 && (
        <p className={css.muted}>
          {counted(unmatchedIntents.length, 'action')} without an outcome: still running, or interrupted by a crash.
        </p>
      )}
      {recovered > 0 && <p className={css.muted}>{counted(recovered, 'incomplete line')} set aside after a crash.</p>}
    </div>
  )
}
