/** The rules of all layers as sentences, with the number of actions that each matched. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { PolicyView, RuleView } from '../../../../src/console/api.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { buttonClass } from '../../components/button.tsx'
import { Section } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { EFFECT_WORDS, LAYER_WORDS } from '../../state/policy.ts'
import css from './page.module.css'

const TONES: Readonly<Record<string, Tone>> = { allow: 'fine', ask: 'waiting', deny: 'danger', quarantine: 'danger' }

export function Rules({ policy }: { policy: PolicyView }): ReactNode {
  const hits = useRoute('GET /api/policy/hits')
  return (
    <Section
      title="Rules"
      actions={
        policy.file && (
          <Link to="/policy" search={{ tab: 'edit' }} className={buttonClass({ isSmall: true })}>
            Edit your rules
          </Link>
        )
      }
    >
      {policy.rules.length === 0 ? (
        <EmptyState title="You have no rules of your own">
          The preset decides. Add a rule to allow what you always allow, or to deny what you never want.
        </EmptyState>
      ) : (
        <Table<RuleView>
          label="Rules"
          rows={policy.rules}
          keyOf={({ layer, id }) => `${layer} ${id}`}
          columns={[
            { id: 'effect', head: 'Decision', cell: ({ effect }) => <Badge tone={TONES[effect] ?? 'plain'}>{EFFECT_WORDS[effect]}</Badge> },
            {
              id: 'text',
              head: 'Rule',
              cell: ({ text, reason, id }) => (
                <>
                  {foreignText(text)}
                  <span className={css.ruleId}>
                    {foreignText(id)}
                    {reason !== undefined && `: ${foreignText(reason)}`}
                  </span>
                </>
              ),
            },
            { id: 'layer', head: 'From', isExtra: true, cell: ({ layer }) => LAYER_WORDS[layer] ?? layer },
            {
              id: 'hits',
              head: 'Matched',
              isNumber: true,
              cell: ({ id }) => (hits.data ? (hits.data.hits[id] ?? 0) : hits.isError ? '?' : '…'),
            },
          ]}
        />
      )}
    </Section>
  )
}
