/** Starts a call as a task, and opens the task. */

import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { Button } from '../components/button.tsx'
import { focusFault } from '../forms/focus-fault.ts'
import type { SchemaFormState } from '../forms/use-schema-form.ts'
import { useNotify, useOperation } from '../hooks/use-console.tsx'
import type { Arguments } from '../state/arguments.ts'

export function RunAsTask({ tool, args, form }: { tool: string; args: Arguments; form: Pick<SchemaFormState, 'check'> }): ReactNode {
  const run = useOperation()
  const navigate = useNavigate()
  const notify = useNotify()
  const { operation, startError, reset } = run
  const id = operation?.state === 'done' ? (operation.result as { id?: string } | undefined)?.id : undefined
  const fault = startError?.message ?? (operation?.state === 'failed' ? operation.error?.message : undefined)
  useEffect(() => {
    if (id !== undefined) void navigate({ to: '/tasks', search: { task: id } })
  }, [id, navigate])
  useEffect(() => {
    if (fault === undefined) return
    notify({ tone: 'danger', text: `The task did not start: ${fault}` })
    reset()
  }, [fault, notify, reset])
  const start = (): void => {
    if (!form.check()) return focusFault()
    void run.start('POST /api/tasks', { body: { tool, args: { ...args } } })
  }
  return (
    <Button isBusy={run.isRunning} onClick={start} title="The call goes on in the background. Its result is on the page Tasks">
      Run as task
    </Button>
  )
}
