import { expect, test } from 'vitest'
import type { AskingTask } from '../../../src/host/servers/server-services.ts'
import { RunningTasks } from '../../../src/host/tasks/running-tasks.ts'

test('the end of a task does not hide another one to which its server gave the same id', () => {
  const tasks = new RunningTasks()
  const [one, other] = [{ id: 'a' }, { id: 'b' }] as unknown as [AskingTask, AskingTask]
  const forgetOne = tasks.add('server', 't1', one)
  const forgetOther = tasks.add('server', 't1', other)
  forgetOne()
  expect(tasks.find('server', 't1')).toBe(other)
  forgetOther()
  expect(tasks.find('server', 't1')).toBeUndefined()
})
