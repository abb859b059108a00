/** Reads a URI, shows its contents, and follows its changes on request. */

import type { ReactNode } from 'react'
import type { ReadResourceResult } from '../../../../src/client/index.ts'
import css from '../../catalog/catalog.module.css'
import { RunBar } from '../../catalog/run-bar.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Switch } from '../../components/field.tsx'
import { Fold } from '../../components/fold.tsx'
import { ErrorState } from '../../components/states.tsx'
import { focusFault } from '../../forms/focus-fault.ts'
import { saveText } from '../../hooks/save-text.ts'
import { RawView } from '../../results/call-result.tsx'
import { FirstParts } from '../../results/first-parts.tsx'
import { OperationView } from '../../results/operation-view.tsx'
import { ResourceContentsView } from '../../results/resource-view.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { clockText, counted } from '../../state/format.ts'
import { endingOf, fileName } from '../../state/results.ts'
import { useReading } from './use-reading.ts'
import { useSubscription } from './use-subscription.ts'

/** @param onCheck whether it can be read; shows what is missing */
export function ReadUri({ uri, onCheck }: { uri: string | undefined; onCheck?: () => boolean }): ReactNode {
  const { run, shown, read } = useReading(uri)
  const follow = useSubscription(uri, () => uri !== undefined && shown?.uri === uri && void read(uri))
  const start = (): void => {
    if (onCheck && !onCheck()) focusFault()
    else if (uri !== undefined) void read(uri)
  }
  const failed = follow.run.startError ?? follow.run.operation?.error
  const isReadingAgain = shown !== undefined && (run.isRunning || run.operation === undefined)
  return (
    <>
      <RunBar label={shown?.uri === uri && shown ? 'Read again' : 'Read'} run={run} onRun={start}>
        {uri !== undefined && <CopyButton text={uri} label="Copy URI" isSmall={false} />}
        <Switch
          label="Follow changes"
          isOn={follow.isOn}
          disabled={uri === undefined || follow.run.isRunning}
          onToggle={(isOn) => {
            follow.turn(isOn)
            if (isOn && shown?.uri !== uri) start()
          }}
        />
      </RunBar>
      {failed && !follow.isOn && (
        <ErrorState title="Its changes cannot be followed" error={{ code: failed.code, message: foreignText(failed.message) }} />
      )}
      <section aria-label="Contents" aria-live="polite">
        {!isReadingAgain && <OperationView run={run}>{() => null}</OperationView>}
        {shown && (
          <>
            <div className={css.resultHead}>
              <h3>Contents</h3>
              <span className={css.muted}>
                {shown.uri === uri ? '' : `${foreignName(shown.uri)} · `}
                read at {clockText(shown.at).slice(0, 8)}
              </span>
              {follow.isOn && shown.uri === uri && (
                <Badge tone="fine">{follow.changes === 0 ? 'up to date' : `up to date after ${counted(follow.changes, 'change')}`}</Badge>
              )}
            </div>
            <Contents result={shown.result} uri={shown.uri} />
          </>
        )}
      </section>
    </>
  )
}

function Contents({ result, uri }: { result: ReadResourceResult; uri: string }): ReactNode {
  const contents = Array.isArray(result.contents) ? result.contents : []
  const [only] = contents
  const text = contents.length === 1 && only && 'text' in only ? only.text : undefined
  return (
    <div className={css.stack}>
      {contents.length === 0 && <p className={css.muted}>The resource is empty.</p>}
      <FirstParts parts={contents} more="Show more parts">
        {(each, index) => <ResourceContentsView key={index} contents={each} isBare={contents.length === 1 && each.uri === uri} />}
      </FirstParts>
      <div className={css.bar}>
        {text !== undefined && <CopyButton text={text} />}
        {text !== undefined && (
          <Button isSmall onClick={() => saveText(fileName(uri, endingOf(only?.mimeType ?? 'text/plain')), text)}>
            Save
          </Button>
        )}
      </div>
      <Fold label="Raw">
        <RawView value={result} />
      </Fold>
    </div>
  )
}
