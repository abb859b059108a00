/** The result of a tool: drawn, its structured content with the check of its schema, and raw. */

import { type ReactNode, useMemo, useState } from 'react'
import type { CallToolResult } from '../../../src/client/index.ts'
import { Button } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Tabs } from '../components/tabs.tsx'
import { saveText } from '../hooks/save-text.ts'
import { fileName, isRepeated, textOf } from '../state/results.ts'
import { BigText } from './big-text.tsx'
import { ContentView } from './content-view.tsx'
import css from './results.module.css'
import { SchemaCheck } from './schema-check.tsx'
import { ValueView } from './value-view.tsx'

type ResultTab = 'drawn' | 'structured' | 'raw' | 'messages'

export interface CallResultProps {
  result: CallToolResult
  outputSchema?: Record<string, unknown> | undefined
  /** Of the tool, for the names of saved files. */
  name: string
  /** The messages of the call, as a last tab. Default: none. */
  messages?: ReactNode
  /** More buttons beside Copy and Save. */
  actions?: ReactNode
}

export function CallResult({ result, outputSchema, name, messages, actions }: CallResultProps): ReactNode {
  const [tab, setTab] = useState<ResultTab>('drawn')
  const { structuredContent, isError = false } = result
  const content = Array.isArray(result.content) ? result.content : []
  const isOnlyRepeated = useMemo(() => isRepeated(content, structuredContent), [content, structuredContent])
  const isData = structuredContent !== undefined && (isOnlyRepeated || content.length === 0)
  const hasStructured = structuredContent !== undefined || (outputSchema !== undefined && !isError)
  return (
    <div className={css.stack}>
      {isError && (
        <p className={css.toolError} role="alert">
          <span aria-hidden="true">▲ </span>The tool reports an error. Its explanation is below.
        </p>
      )}
      <Tabs<ResultTab>
        label="Result"
        selected={tab}
        onSelect={setTab}
        tabs={[
          {
            id: 'drawn',
            label: 'Result',
            content: (
              <div className={css.stack}>
                {isData ? <ValueView value={structuredContent} label="Result as a tree" /> : <ContentView content={content} name={name} />}
                {hasStructured && <SchemaCheck schema={outputSchema} value={structuredContent} />}
              </div>
            ),
          },
          ...(structuredContent === undefined
            ? []
            : [
                {
                  id: 'structured' as const,
                  label: 'Structured',
                  content: (
                    <div className={css.stack}>
                      <SchemaCheck schema={outputSchema} value={structuredContent} />
                      <ValueView value={structuredContent} label="Structured content" />
                    </div>
                  ),
                },
              ]),
          { id: 'raw', label: 'Raw', content: <RawView value={result} /> },
          ...(messages === undefined ? [] : [{ id: 'messages' as const, label: 'Messages', content: messages }]),
        ]}
      />
      <div className={css.actions}>
        <CopyButton text={() => copied(result)} />
        <Button isSmall onClick={() => saveText(fileName(name, 'json'), `${JSON.stringify(result, undefined, 2)}\n`)}>
          Save
        </Button>
        {actions}
      </div>
    </div>
  )
}

/** The whole answer as JSON. It becomes text only when it is shown. */
export function RawView({ value }: { value: unknown }): ReactNode {
  const text = useMemo(() => JSON.stringify(value, undefined, 2) ?? 'null', [value])
  return <BigText text={text} label="Raw result" isCode />
}

/** The texts. Results without any: the whole result as JSON. */
function copied(result: CallToolResult): string {
  const text = textOf(Array.isArray(result.content) ? result.content : [])
  return text === '' ? JSON.stringify(result.structuredContent ?? result, undefined, 2) : text
}
