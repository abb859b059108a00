/** The policy: the preset, the rules as sentences, grants, the editor, and what another policy would have decided. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../components/badge.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { counted } from '../../state/format.ts'
import { Editor } from './editor.tsx'
import { Grants } from './grants.tsx'
import { Presets } from './presets.tsx'
import { Rules } from './rules.tsx'

export function PolicyPage(): ReactNode {
  const { tab = 'rules' } = useSearch({ from: '/policy' })
  const navigate = useNavigate({ from: '/policy' })
  const policy = useRoute('GET /api/policy')
  const grants = useRoute('GET /api/grants')
  const { data } = policy
  return (
    <>
      <PageHeader title="Policy" about="What runs without a question, what you are asked about, and what is denied." />
      {data?.isBypassing && (
        <p role="alert">
          <Badge tone="danger">Rules are switched off</Badge> This host was started without rules: every action is allowed.
        </p>
      )}
      {policy.isPending && <Skeleton lines={6} />}
      {policy.isError && <ErrorState title="The policy could not be fetched" error={policy.error} onRetry={() => void policy.refetch()} />}
      {data && (
        <Tabs
          label="Policy"
          selected={tab}
          onSelect={(id) => void navigate({ search: { tab: id } })}
          tabs={[
            {
              id: 'rules',
              label: 'Rules',
              content: (
                <>
                  <Presets policy={data} />
                  <Rules policy={data} />
                </>
              ),
            },
            {
              id: 'grants',
              label: grants.data ? `Grants (${grants.data.grants.filter(({ isExpired }) => !isExpired).length})` : 'Grants',
              content: <Grants />,
            },
            { id: 'edit', label: 'Edit', content: <Editor policy={data} key={data.file?.hash} /> },
          ]}
        />
      )}
      {data?.file?.problem !== undefined && tab !== 'edit' && (
        <ErrorState
          title="Your policy file cannot be used"
          error={{ message: data.file.problem }}
          advice={`The rules that were in use before still apply: ${counted(data.rules.length, 'rule')}. Repair the file under Edit.`}
        />
      )}
    </>
  )
}
