/** The reason of a question that neither a rule nor a guard causes: what the action can do. A start that changed has its own reason. */

import type { Action, ActionKind } from '../../model/action.ts'
import type { Subject } from '../../model/question.ts'

/** @returns undefined for kinds that are allowed by default: only a rule or a guard asks about them */
export function whyAsked({ kind, claimed }: Action, subject: Subject): string | undefined {
  if (subject.kind === 'approve') return whyApproved(subject)
  if ((kind === 'tool.call' || kind === 'app.call') && claimed.readOnlyHint === true) {
    return 'The server says that this tool only reads, and you have not accepted that'
  }
  return WHY[kind]
}

function whyApproved({ isFirst, isNew, revision }: Extract<Subject, { kind: 'approve' }>): string {
  if (revision !== undefined && !isFirst) return `You chose revision ${revision}, in which the server declares something else`
  return isFirst || isNew ? 'The model reads these texts' : 'It changed since you approved it'
}

const WHY: Readonly<Partial<Record<ActionKind, string>>> = {
  'server.launch': 'It runs a program on this computer',
  'server.connect': 'It sends what you and the model give it to this address',
  'tool.call': 'This tool can change things',
  'resource.read': 'The server learns what is read',
  'resource.subscribe': 'The server reports every change to this host',
  'prompt.get': 'The server writes a part of the conversation',
  'argument.complete': 'The server gets what you type',
  'sampling.create': 'The server writes what the model reads',
  'sampling.deliver': 'The server gets the answer of the model',
  'roots.expose': 'The server learns where your folders are',
  'app.open': 'The server wrote this page',
  'app.call': 'This tool can change things',
  'app.message': 'The model takes it for a message of yours',
  'task.cancel': 'It ends work that the server has begun',
  'task.update': 'The server gets your answer',
  'config.import': 'The servers can then be started here',
}
