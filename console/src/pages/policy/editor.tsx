/** Edits your policy file: checks it while you type, and shows which past decisions it would change before you save. */

import { type ReactNode, useEffect, useState } from 'react'
import type { LintFinding, PolicyView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { useAction, useNotify } from '../../hooks/use-console.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { FIRST_POLICY } from '../../state/policy.ts'
import css from './page.module.css'
import { Replay } from './replay.tsx'

/** How long the person must pause before the draft is checked. */
const PAUSE_MS = 400

export function Editor({ policy }: { policy: PolicyView }): ReactNode {
  const { file } = policy
  const [before] = useState(file?.text || FIRST_POLICY)
  const [text, setText] = useState(before)
  const save = useAction('PUT /api/policy', { stale: ['GET /api/policy', 'GET /api/policy/hits'] })
  const replay = useAction('POST /api/policy/replay')
  const lint = useAction('POST /api/policy/lint')
  const notify = useNotify()
  const { mutate: check } = lint
  useEffect(() => {
    const timer = setTimeout(() => check({ body: { draft: text } }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, check])
  if (!file) {
    return <EmptyState title="There is no policy file to edit">The program that opened this console gave the rules in code.</EmptyState>
  }
  const isChanged = text !== before
  const store = (): void =>
    save.mutate(
      { body: { text, hash: file.hash } },
      { onSuccess: () => notify({ tone: 'fine', text: 'Saved. The new rules apply from now on.' }) },
    )
  return (
    <>
      <Section
        title="Your policy file"
        actions={
          <>
            <Button isBusy={replay.isPending} onClick={() => replay.mutate({ body: { draft: text } })}>
              Try on the log
            </Button>
            <Button kind="main" isBusy={save.isPending} disabled={!isChanged || lint.isError} onClick={store}>
              Save
            </Button>
          </>
        }
      >
        {save.isError && (
          <ErrorState
            title="The file was not saved"
            error={save.error}
            advice={
              save.error.code === 'ERR_CONFLICT' ? 'The file was changed elsewhere. Copy your text, then open this page again.' : undefined
            }
          />
        )}
        <Field label={foreignText(file.path)} help="The strictest matching rule decides. A project can only make your rules stricter.">
          {(control) => <TextArea {...control} isCode rows={18} value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
        <Findings findings={lint.data?.findings} error={lint.error?.message ?? file.problem} />
      </Section>
      {replay.isError && <ErrorState title="The log could not be replayed" error={replay.error} />}
      {replay.data && <Replay replay={replay.data} />}
    </>
  )
}

function Findings({ findings, error }: { findings: readonly LintFinding[] | undefined; error: string | undefined }): ReactNode {
  return (
    <div role="status" className={css.findings}>
      {error !== undefined && (
        <p>
          <Badge tone="danger">Not valid</Badge> {foreignText(error)}
        </p>
      )}
      {error === undefined && findings?.length === 0 && (
        <p>
          <Badge tone="fine">Valid</Badge> The check found nothing.
        </p>
      )}
      {error === undefined && findings !== undefined && findings.length > 0 && (
        <>
          <p>{counted(findings.length, 'note')} from the check:</p>
          <ul className={css.list}>
            {findings.map((finding) => (
              <li key={`${finding.rule} ${finding.text}`}>
                {finding.severity === 'error' && <Badge tone="danger">error</Badge>} {foreignText(finding.rule)}:{' '}
                {foreignText(finding.text)}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
