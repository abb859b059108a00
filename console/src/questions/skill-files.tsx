/** The files of a skill, to read before you approve it. Reading one is no use of the skill. */

import { type ReactNode, useState } from 'react'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ErrorState, Skeleton } from '../components/states.tsx'
import { useOperation } from '../hooks/use-console.tsx'
import { foreignName, foreignText } from '../state/foreign-text.ts'
import { bytesText } from '../state/format.ts'
import { textOfContents } from '../state/skills.ts'
import css from './question-card.module.css'

export interface SkillFilesProps {
  server: string
  uri: string
  files: readonly { path: string; size: number }[]
}

/** Files with a button of their own. A skill may have hundreds. */
const FIRST_FILES = 8

export function SkillFiles({ server, uri, files }: SkillFilesProps): ReactNode {
  const [path, setPath] = useState<string>()
  const [max, setMax] = useState(FIRST_FILES)
  const read = useOperation()
  const { operation, startError } = read
  const show = (chosen: string): void => {
    setPath(chosen)
    void read.start('POST /api/skills/read', { body: { server, uri, path: chosen } })
  }
  const failure = startError ?? (operation?.state === 'failed' ? operation.error : undefined)
  const text = operation?.state === 'done' ? textOfContents(operation.result) : undefined
  return (
    <div className={css.item}>
      <div className={css.buttons}>
        {files.slice(0, max).map((file) => (
          <Button
            key={file.path}
            isSmall
            aria-expanded={path === file.path}
            isBusy={read.isRunning && path === file.path}
            onClick={() => show(file.path)}
          >
            Read {foreignName(file.path)} ({bytesText(file.size)})
          </Button>
        ))}
        {files.length > max && (
          <Button isSmall kind="quiet" onClick={() => setMax(files.length)}>
            {files.length - max} more files
          </Button>
        )}
      </div>
      {read.isRunning && <Skeleton lines={3} />}
      {failure && <ErrorState title="The file could not be read" error={failure} />}
      {path !== undefined && text !== undefined && (
        <CodeBlock text={foreignText(text)} label={`${foreignName(path)}, written by the server`} isForeign />
      )}
    </div>
  )
}
