/** The skills of a server: instructions for models. Each is read, approved and revoked here. */

import type { ReactNode } from 'react'
import type { SkillView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Fold } from '../../components/fold.tsx'
import { Card, Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction, useConsoleState, useOperation, useRoute } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'
import { SkillFiles } from '../../questions/skill-files.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { SKILL_STATES } from '../../state/skills.ts'
import css from './page.module.css'

export function Skills({ server }: { server: string }): ReactNode {
  const list = useRoute('GET /api/skills', { query: { server } })
  const skills = list.data?.skills ?? []
  if (list.isError) return <ErrorState title="The skills could not be fetched" error={list.error} onRetry={() => void list.refetch()} />
  if (skills.length === 0) return null
  return (
    <Section title="Skills">
      <p className={css.muted}>A skill tells a model what to do, in the words of the server. Read it before you approve it.</p>
      {skills.map((skill) => (
        <Skill key={skill.uri} skill={skill} />
      ))}
    </Section>
  )
}

function Skill({ skill: { server, uri, name, description, state, files } }: { skill: SkillView }): ReactNode {
  const approve = useOperation()
  const showWaiting = useShowWaiting()
  // The host may have asked itself. Then the question waits in the tray already.
  const isAsked = useConsoleState(({ questions }) =>
    questions.some((each) => each.server === server && each.action === 'server.approve' && each.end === undefined),
  )
  const ask = (): void => {
    if (isAsked) showWaiting()
    else void approve.start('POST /api/skills/approve', { body: { server, uri } })
  }
  const revoke = useAction('POST /api/skills/revoke', { stale: ['GET /api/skills', 'GET /api/servers/:id', 'GET /api/servers'] })
  const { word, tone, about } = SKILL_STATES[state]
  const error = approve.startError ?? approve.operation?.error ?? revoke.error
  const shown = foreignName(name)
  return (
    <Card label={`Skill ${shown}`}>
      <div className={css.line}>
        <strong>{shown}</strong>
        <Badge tone={tone}>{word}</Badge>
        <code className={css.muted}>{foreignName(uri)}</code>
      </div>
      <p className={css.theirs}>{foreignText(description)}</p>
      <p className={css.muted}>{about}</p>
      <div className={css.cardActions}>
        {state === 'approved' ? (
          <Button isBusy={revoke.isPending} onClick={() => revoke.mutate({ body: { server, uri } })}>
            Revoke the approval
          </Button>
        ) : (
          <Button kind="main" isBusy={approve.isRunning && !isAsked} onClick={ask}>
            {state === 'changed' ? 'Review what changed' : 'Approve'}
          </Button>
        )}
      </div>
      {error && <ErrorState title="That did not work" error={error} />}
      <Fold label={`Read it (${counted(files.length, 'file')})`}>
        <SkillFiles server={server} uri={uri} files={files} />
      </Fold>
    </Card>
  )
}
