/** How a server is connected, and a ping by hand. */

import type { ReactNode } from 'react'
import type { ServerFacts } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Fact, Facts } from '../../components/facts.tsx'
import { Section } from '../../components/page-header.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { dateText } from '../../state/format.ts'
import { pingText } from '../../state/servers.ts'

export function ConnectionFacts({ id, facts }: { id: string; facts: ServerFacts }): ReactNode {
  const ping = useAction('POST /api/servers/:id/ping')
  return (
    <Section
      title="Connection"
      actions={
        <Button isSmall isBusy={ping.isPending} onClick={() => ping.mutate({ params: { id } })}>
          Ping
        </Button>
      }
    >
      <div role="status">
        {ping.isSuccess && (
          <p>
            <Badge tone="fine">answered</Badge> {foreignName(pingText(ping.data, facts.revision))}
          </p>
        )}
        {ping.isError && (
          <p>
            <Badge tone="danger">no answer</Badge> {foreignText(ping.error.message)}
          </p>
        )}
      </div>
      <Facts>
        <Fact name="Program">{foreignName([facts.info.title ?? facts.info.name, facts.info.version].join(' '))}</Fact>
        <Fact name="Revision">{foreignName(facts.revision)}</Fact>
        <Fact name="Since">
          {dateText(facts.connectedAt)}
          {facts.pid !== undefined && `, process ${facts.pid}`}
        </Fact>
      </Facts>
    </Section>
  )
}
