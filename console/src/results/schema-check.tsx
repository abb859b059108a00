/** Says whether structured content fits the output schema of its tool. */

import { type ReactNode, useEffect, useState } from 'react'
import { Badge } from '../components/badge.tsx'
import { Fold } from '../components/fold.tsx'
import { createValidator } from '../forms/validate.ts'
import { foreignText } from '../state/foreign-text.ts'
import { counted } from '../state/format.ts'
import css from './results.module.css'

type Checked = { kind: 'fits' } | { kind: 'faults'; faults: readonly string[] } | { kind: 'unknown'; why: string }

const MAX_FAULTS = 50

async function checked(schema: Record<string, unknown>, value: unknown): Promise<Checked> {
  const validator = await createValidator(schema)
  if (validator.fault !== undefined) return { kind: 'unknown', why: validator.fault }
  try {
    const issues = validator.check(value)
    if (issues.size === 0) return { kind: 'fits' }
    return {
      kind: 'faults',
      faults: [...issues].map(([key, text]) => `${(JSON.parse(key) as (string | number)[]).join('.') || 'the whole value'}: ${text}`),
    }
  } catch (error) {
    return { kind: 'unknown', why: (error as Error).message }
  }
}

export function SchemaCheck(props: { schema: Record<string, unknown> | undefined; value: unknown }): ReactNode {
  return (
    <div className={css.badge}>
      <Verdict {...props} />
    </div>
  )
}

function Verdict({ schema, value }: { schema: Record<string, unknown> | undefined; value: unknown }): ReactNode {
  const [result, setResult] = useState<Checked>()
  useEffect(() => {
    if (!schema) return
    let isCurrent = true
    setResult(undefined)
    void checked(schema, value).then((found) => isCurrent && setResult(found))
    return () => {
      isCurrent = false
    }
  }, [schema, value])
  if (!schema) return <Badge title="The server says nothing about the shape of its results">no output schema</Badge>
  if (value === undefined) return <Badge tone="danger">no structured content, although the tool has an output schema</Badge>
  if (!result) return <Badge>checking</Badge>
  if (result.kind === 'fits') return <Badge tone="fine">structured content fits its output schema</Badge>
  if (result.kind === 'unknown') return <Badge tone="waiting">not checked: {foreignText(result.why)}</Badge>
  return (
    <div className={css.check}>
      <Badge tone="danger">structured content does not fit its output schema</Badge>
      <Fold label={counted(result.faults.length, 'fault')} isOpen={result.faults.length <= 3}>
        <ul className={css.faults}>
          {result.faults.slice(0, MAX_FAULTS).map((fault) => (
            <li key={fault}>{foreignText(fault)}</li>
          ))}
        </ul>
      </Fold>
    </div>
  )
}
