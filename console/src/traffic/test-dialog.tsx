/** A call as a test that can be copied or saved. */

import { type ReactNode, useEffect, useState } from 'react'
import type { BodyOf } from '../../../src/console/api.ts'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ErrorState, Skeleton } from '../components/states.tsx'
import { saveText } from '../hooks/save-text.ts'
import { useAction } from '../hooks/use-console.tsx'
import { foreignText } from '../state/foreign-text.ts'
import css from './traffic.module.css'

export function TestDialog({ of, onClose }: { of: BodyOf<'POST /api/timeline/test'>; onClose(): void }): ReactNode {
  const { mutate, data, error } = useAction('POST /api/timeline/test')
  const [body] = useState(of)
  useEffect(() => mutate({ body }), [mutate, body])
  return (
    <Dialog
      title="A test of this call"
      isOpen
      onClose={onClose}
      isWide
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" disabled={!data} onClick={() => data && saveText(data.file, data.text)}>
            Save as a file
          </Button>
        </>
      }
    >
      <p>It sends the same request and expects the same answer. It needs the packages portico and vitest.</p>
      {error && <ErrorState title="No test could be made" error={error} />}
      {!data && !error && <Skeleton lines={8} />}
      {data && data.secrets.length > 0 && (
        <p className={css.muted}>
          Secrets are not in it. Set these environment variables: <code>{data.secrets.join(', ')}</code>
        </p>
      )}
      {data && <CodeBlock text={foreignText(data.text)} copy={data.text} label={data.file} isUnwrapped />}
    </Dialog>
  )
}
