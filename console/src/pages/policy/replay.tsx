/** Which past decisions a draft would change. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ReplayView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Section } from '../../components/page-header.tsx'
import { Table } from '../../components/table.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { replayRows, replaySummary } from '../../state/policy.ts'

export function Replay({ replay }: { replay: ReplayView }): ReactNode {
  const rows = replayRows(replay)
  return (
    <Section title="What would have been different">
      <p role="status">{replaySummary(replay)}</p>
      {rows.length > 0 && (
        <Table
          label="Changed decisions"
          rows={rows}
          keyOf={({ seq }) => String(seq)}
          columns={[
            {
              id: 'seq',
              head: 'Record',
              cell: ({ seq }) => (
                <Link to="/audit" search={{ record: String(seq) }}>
                  {seq}
                </Link>
              ),
            },
            {
              id: 'change',
              head: 'Decision',
              cell: ({ change, isLooser }) => (
                <>
                  {change} {isLooser && <Badge tone="waiting">less strict</Badge>}
                </>
              ),
            },
            { id: 'why', head: 'Why', cell: ({ why }) => foreignText(why) },
          ]}
        />
      )}
    </Section>
  )
}
