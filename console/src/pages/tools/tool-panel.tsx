/** One tool: what it does, its form, and its result. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { CallToolResult } from '../../../../src/client/index.ts'
import type { ToolView } from '../../../../src/console/api.ts'
import css from '../../catalog/catalog.module.css'
import { draftOf, keepDraft } from '../../catalog/drafts.ts'
import { PanelHead } from '../../catalog/panel-head.tsx'
import { PastCalls } from '../../catalog/past-calls.tsx'
import { RunBar } from '../../catalog/run-bar.tsx'
import { focusFault, useResultInView } from '../../catalog/use-panel.ts'
import { Button, buttonClass } from '../../components/button.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useSchemaForm } from '../../forms/use-schema-form.ts'
import { useOperation } from '../../hooks/use-console.tsx'
import { CallResult } from '../../results/call-result.tsx'
import { OperationView } from '../../results/operation-view.tsx'
import type { Arguments } from '../../state/arguments.ts'
import { toolBadges } from '../../state/catalog.ts'
import { AllowLater } from './allow-later.tsx'
import { ExplainDialog } from './explain-dialog.tsx'

export interface ToolPanelProps {
  tool: ToolView
  /** From the address. */
  args: Arguments | undefined
  argsFault: string | undefined
}

export function ToolPanel({ tool, args, argsFault }: ToolPanelProps): ReactNode {
  const { exposed, server, definition } = tool
  const draft = draftOf(`tool ${exposed}`)
  const form = useSchemaForm(definition.inputSchema, args ?? draft.value)
  const run = useOperation(draft.operation)
  const [isExplaining, setExplaining] = useState(false)
  const resultBox = useResultInView<HTMLElement>(run)
  const value = (form.value ?? {}) as Arguments
  useEffect(() => keepDraft(`tool ${exposed}`, { value: form.value }), [exposed, form.value])
  const start = async (): Promise<void> => {
    if (!form.check()) return focusFault()
    const started = await run.start('POST /api/tools/call', { body: { tool: exposed, args: { ...value } } })
    if (started) keepDraft(`tool ${exposed}`, { operation: started.id })
  }
  return (
    <section className={css.panel} aria-label="Tool">
      <PanelHead
        title={definition.title ?? definition.annotations?.title ?? definition.name}
        name={definition.name}
        server={server}
        description={definition.description}
        badges={toolBadges(tool)}
      />
      {argsFault && <p className={css.fault}>{argsFault} The form starts with its defaults.</p>}
      <div className={css.form}>
        <SchemaForm form={form} nothing="This tool needs no input. Run it." />
      </div>
      <RunBar label="Run" run={run} onRun={() => void start()}>
        <PastCalls target={{ kind: 'tool', server, name: definition.name }} args={value} onUse={(used) => form.reset(used)} />
        <Button onClick={() => setExplaining(true)}>Would it be asked?</Button>
      </RunBar>
      <section ref={resultBox} aria-label="Result" aria-live="polite">
        <OperationView run={run}>
          {(result, ended) => (
            <>
              <div className={css.resultHead}>
                <h3>Result</h3>
                {ended}
              </div>
              <CallResult
                result={result as CallToolResult}
                outputSchema={definition.outputSchema}
                name={definition.name}
                actions={
                  <>
                    <AllowLater tool={exposed} args={value} onOpen={() => setExplaining(true)} />
                    <Link to="/timeline" search={{ server }} className={buttonClass({ kind: 'quiet', isSmall: true })}>
                      Messages
                    </Link>
                  </>
                }
              />
            </>
          )}
        </OperationView>
      </section>
      <Fold label="Definition: schemas and hints, as the server wrote them">
        <JsonTree value={definition} label="Definition" openLevels={1} />
      </Fold>
      {isExplaining && <ExplainDialog tool={exposed} args={value} onClose={() => setExplaining(false)} />}
    </section>
  )
}
