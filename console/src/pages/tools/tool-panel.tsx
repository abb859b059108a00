/** One tool: what it does, its form, and its result. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { CallToolResult } from '../../../../src/client/index.ts'
import type { OperationView as Operation, ToolView } from '../../../../src/console/api.ts'
import css from '../../catalog/catalog.module.css'
import { draftOf, keepDraft } from '../../catalog/drafts.ts'
import { LinkNotice } from '../../catalog/link-notice.tsx'
import { PanelHead } from '../../catalog/panel-head.tsx'
import { PastCalls } from '../../catalog/past-calls.tsx'
import { RunAsTask } from '../../catalog/run-as-task.tsx'
import { RunBar } from '../../catalog/run-bar.tsx'
import { useResultInView } from '../../catalog/use-panel.ts'
import { Button, buttonClass } from '../../components/button.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { focusFault } from '../../forms/focus-fault.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useSchemaForm } from '../../forms/use-schema-form.ts'
import { useOperation } from '../../hooks/use-console.tsx'
import { AppFrame } from '../../results/app-frame.tsx'
import { CallResult } from '../../results/call-result.tsx'
import { OperationView } from '../../results/operation-view.tsx'
import type { Arguments } from '../../state/arguments.ts'
import { toolBadges } from '../../state/catalog.ts'
import { MessageList } from '../../traffic/message-list.tsx'
import { TestDialog } from '../../traffic/test-dialog.tsx'
import { AllowLater } from './allow-later.tsx'
import { ExplainDialog } from './explain-dialog.tsx'

export interface ToolPanelProps {
  tool: ToolView
  /** From the address. */
  args: Arguments | undefined
  argsFault: string | undefined
  /** Set if the address is a link from elsewhere: its arguments are used after a click. */
  onUseLink: (() => void) | undefined
}

export function ToolPanel({ tool, args, argsFault, onUseLink }: ToolPanelProps): ReactNode {
  const { exposed, server, definition } = tool
  const draft = draftOf(`tool ${exposed}`)
  const form = useSchemaForm(definition.inputSchema, (onUseLink ? undefined : args) ?? draft.value)
  const run = useOperation(draft.operation)
  const [isExplaining, setExplaining] = useState(false)
  const [isTesting, setTesting] = useState(false)
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
      {args && onUseLink && <LinkNotice what="arguments" text={JSON.stringify(args, undefined, 2)} use="Use them" onUse={onUseLink} />}
      <div className={css.form}>
        <SchemaForm form={form} nothing="This tool needs no input. Run it." />
      </div>
      <RunBar label="Run" run={run} onRun={() => void start()}>
        {tool.mayBeTask && <RunAsTask tool={exposed} args={value} form={form} />}
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
              {tool.view !== undefined && !(result as CallToolResult).isError && (
                <AppFrame key={run.operation?.id} tool={exposed} args={value} result={result as CallToolResult} />
              )}
              <CallResult
                result={result as CallToolResult}
                outputSchema={definition.outputSchema}
                name={definition.name}
                messages={run.operation && <CallMessages server={server} operation={run.operation} />}
                actions={
                  <>
                    <AllowLater tool={exposed} args={value} onOpen={() => setExplaining(true)} />
                    <Button isSmall onClick={() => setTesting(true)}>
                      Make a test of this
                    </Button>
                    {(result as CallToolResult).isError && (
                      <Link to="/servers" search={{ server, tab: 'log' }} className={buttonClass({ kind: 'quiet', isSmall: true })}>
                        Log of the server
                      </Link>
                    )}
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
      {isTesting && run.operation && <TestDialog of={{ operation: run.operation.id }} onClose={() => setTesting(false)} />}
      {isExplaining && <ExplainDialog tool={exposed} args={value} onClose={() => setExplaining(false)} />}
    </section>
  )
}

/** The messages between the host and the server while the call ran. */
function CallMessages({ server, operation: { startedAt, endedAt } }: { server: string; operation: Operation }): ReactNode {
  const [selected, setSelected] = useState<string>()
  const [period] = useState({ from: startedAt, to: endedAt ?? Number.POSITIVE_INFINITY })
  return <MessageList server={server} selected={selected} onSelect={setSelected} period={period} />
}
