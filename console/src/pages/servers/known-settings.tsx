/** The settings of a server that another program or file decides about: everything that is known, nothing to change. */

import type { ReactNode } from 'react'
import type { ServerDetails } from '../../../../src/console/api.ts'
import { Fact, Facts } from '../../components/facts.tsx'
import { Section } from '../../components/page-header.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { durationText } from '../../state/format.ts'
import { namedFiles } from '../../state/servers.ts'
import css from './page.module.css'
import { SecretsOfServer } from './secrets-of-server.tsx'

export function KnownSettings({ server }: { server: ServerDetails }): ReactNode {
  const { title, tier, labels, timeoutMs, env, headers, command, args = [], cwd, url, roots, revisions, httpTransport } = server.settings
  const files = namedFiles(server.from)
  return (
    <>
      <Section title="Settings">
        <p className={css.muted}>
          {files.length === 0
            ? 'The program that added this server decides about them.'
            : `They come from ${files.map(foreignName).join(', ')}. Change them there.`}
        </p>
        <Facts>
          <Fact name="Title">{title === undefined ? 'none' : foreignName(title)}</Fact>
          <Fact name="Trust">{tier}</Fact>
          {command !== undefined && <Fact name="Command">{foreignName(command)}</Fact>}
          {args.length > 0 && <Fact name="Arguments">{lines(args)}</Fact>}
          {cwd !== undefined && <Fact name="Folder">{foreignName(cwd)}</Fact>}
          {url !== undefined && <Fact name="Address">{foreignName(url)}</Fact>}
          {env && <Fact name="Variables">{pairs(env)}</Fact>}
          {headers && <Fact name="Headers">{pairs(headers)}</Fact>}
          <Fact name="Protocol revision">{revisions === undefined ? 'automatic' : revisions.join(', ')}</Fact>
          {url !== undefined && <Fact name="HTTP transport">{httpTransport ?? 'automatic'}</Fact>}
          <Fact name="Shared folders">{roots.length === 0 ? 'none' : foreignText(roots.join(', '))}</Fact>
          <Fact name="Labels">{labels.length === 0 ? 'none' : foreignName(labels.join(', '))}</Fact>
          <Fact name="Time limit">{timeoutMs === undefined ? 'the default' : durationText(timeoutMs)}</Fact>
        </Facts>
      </Section>
      <SecretsOfServer settings={server.settings} />
    </>
  )
}

function pairs(values: Readonly<Record<string, string>>): ReactNode {
  const entries = Object.entries(values)
  return entries.length === 0 ? 'none' : lines(entries.map(([name, value]) => `${name}=${value}`))
}

const lines = (texts: readonly string[]): ReactNode =>
  texts.map((text, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: settings do not move
    <div key={at}>
      <code>{foreignName(text)}</code>
    </div>
  ))
