/** How a server was started or reached, what it can do, what it says about itself, and its folders. */

import type { ReactNode } from 'react'
import type { ServerDetails } from '../../../../src/console/api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Fact, Facts } from '../../components/facts.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Section } from '../../components/page-header.tsx'
import { clientJson } from '../../state/client-json.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { countsText, namedFiles, originText, transportText } from '../../state/servers.ts'
import { ConnectionFacts } from './connection-facts.tsx'
import css from './page.module.css'
import { Roots } from './roots.tsx'

export function Overview({ server }: { server: ServerDetails }): ReactNode {
  const { facts, transport, budget } = server
  return (
    <>
      <Section title={transport.type === 'http' ? 'Address' : 'Command'}>
        <CodeBlock text={foreignName(transportText(transport))} label={transport.type === 'http' ? 'It connects to' : 'It runs'} />
        <Facts>
          <Fact name="Origin">{originText(server.from)}</Fact>
          {namedFiles(server.from).map((file) => (
            <Fact key={file} name="File">
              {foreignName(file)}
            </Fact>
          ))}
          {transport.type === 'stdio' && transport.cwd !== undefined && <Fact name="Folder">{foreignName(transport.cwd)}</Fact>}
          <Fact name="Trust">{server.tier}</Fact>
          <Fact name="Offers">{countsText(server.counts) || 'nothing yet'}</Fact>
          <Fact name="Model budget">
            {counted(budget.tokensLeft, 'token')} and {counted(budget.requestsLeft, 'request')} left
          </Fact>
        </Facts>
      </Section>
      {facts && <ConnectionFacts id={server.id} facts={facts} />}
      {facts?.instructions !== undefined && (
        <Section title="Its instructions for models">
          <CodeBlock text={foreignText(facts.instructions)} label="Written by the server" isForeign />
        </Section>
      )}
      <Roots id={server.id} roots={server.roots} />
      {server.settings.command !== undefined || server.settings.url !== undefined ? (
        <Fold label="For another client">
          <CodeBlock
            text={foreignText(clientJson(server))}
            copy={clientJson(server)}
            label="Its entry in the configuration of another client. Values of secrets are left out."
          />
        </Fold>
      ) : null}
      {facts && (
        <Fold label="Capabilities">
          <JsonTree value={facts.capabilities} label="Capabilities" />
        </Fold>
      )}
      {!facts && <p className={css.muted}>It says more about itself once it is connected.</p>}
    </>
  )
}
