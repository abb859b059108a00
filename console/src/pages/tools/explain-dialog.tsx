/** What the policy decides about this call: for the person, and for a model. From here it can be allowed for good. */

import { type ReactNode, useEffect, useState } from 'react'
import type { Explanation } from '../../../../src/host/policy-tools/index.ts'
import css from '../../catalog/catalog.module.css'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Fold } from '../../components/fold.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { type Arguments, argumentsLine } from '../../state/arguments.ts'
import { canBeAllowed, decisionWords } from '../../state/explain.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'

export interface ExplainDialogProps {
  tool: string
  args: Arguments
  onClose(): void
}

export function ExplainDialog({ tool, args, onClose }: ExplainDialogProps): ReactNode {
  const asModel = useAction('POST /api/policy/explain')
  const asPerson = useAction('POST /api/policy/explain')
  const [{ explainModel, explainPerson }] = useState({ explainModel: asModel.mutate, explainPerson: asPerson.mutate })
  const [given] = useState(args)
  const [allowed, setAllowed] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is explained again after it was allowed
  useEffect(() => {
    explainModel({ body: { tool, args: { ...given }, as: 'model' } })
    explainPerson({ body: { tool, args: { ...given }, as: 'person' } })
  }, [explainModel, explainPerson, tool, given, allowed])
  const error = asModel.error ?? asPerson.error
  return (
    <Dialog title="Would it be asked?" isOpen onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <div className={css.stack}>
        <p className={css.muted}>
          {foreignName(tool)}, {foreignName(argumentsLine(given))}
        </p>
        {error && <ErrorState title="It could not be explained" error={error} />}
        <Side who="If a model runs it" explanation={asModel.data} isPending={asModel.isPending && !asModel.data} />
        {asModel.data && canBeAllowed(asModel.data) && <Allow tool={tool} args={given} onAllowed={() => setAllowed(allowed + 1)} />}
        <Side who="If you run it here" explanation={asPerson.data} isPending={asPerson.isPending && !asPerson.data} />
      </div>
    </Dialog>
  )
}

function Side({ who, explanation, isPending }: { who: string; explanation: Explanation | undefined; isPending: boolean }): ReactNode {
  if (isPending) return <Skeleton lines={2} />
  if (!explanation) return null
  const { word, tone } = decisionWords(explanation)
  const rules = explanation.rules.filter(({ outcome }) => outcome !== 'does-not-match')
  return (
    <section className={css.head} aria-label={who}>
      <p>
        {who}: <Badge tone={tone}>{word}</Badge>
      </p>
      <ul className={css.reasons}>
        {explanation.decision.reasons.map(({ id, text }) => (
          <li key={`${id} ${text}`}>{foreignText(text)}</li>
        ))}
        {explanation.decision.reasons.length === 0 && <li>No rule speaks against it.</li>}
      </ul>
      <Fold label={`Rules: ${rules.length} of ${explanation.rules.length} apply`}>
        <ul className={css.reasons}>
          {explanation.rules.map(({ id, outcome, why }) => (
            <li key={id} className={outcome === 'does-not-match' ? css.muted : undefined}>
              <code>{foreignName(id)}</code>: {foreignText(why)}
            </li>
          ))}
        </ul>
      </Fold>
    </section>
  )
}

function Allow({ tool, args, onAllowed }: { tool: string; args: Arguments; onAllowed(): void }): ReactNode {
  const grant = useAction('POST /api/grants', { stale: ['GET /api/grants'] })
  const allow = (width: 'exact' | 'any'): void => grant.mutate({ body: { tool, args: { ...args }, width } }, { onSuccess: onAllowed })
  return (
    <section className={css.head} aria-label="Allow it from now on">
      <p>Allow it from now on, without a question, until you revoke it:</p>
      <div className={css.bar}>
        <Button isSmall isBusy={grant.isPending} onClick={() => allow('exact')}>
          With exactly these arguments
        </Button>
        <Button isSmall isBusy={grant.isPending} onClick={() => allow('any')}>
          With any arguments
        </Button>
      </div>
      {grant.error && <p className={css.fault}>{grant.error.message}</p>}
    </section>
  )
}
