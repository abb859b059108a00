/** Actions in plain words, for errors that people and models read. */

import type { ActionKind } from '../../model/action.ts'

interface Named {
  kind: ActionKind
  server: { id: string }
  primitive?: { name: string }
}

/** What did not happen: `notes was not started`, `notes/add was denied`. */
export const notDone = (action: Named, otherwise = 'was denied'): string =>
  NOT_DONE[action.kind]?.(action.server.id, targetOf(action)) ?? `${targetOf(action)} ${otherwise}`

/** What the action is about: `starting notes`, `calling notes/add`. */
export const actionName = (action: Named): string =>
  DOING[action.kind]?.(action.server.id, targetOf(action)) ?? `the use of ${targetOf(action)}`

const targetOf = ({ server, primitive }: Named): string => (primitive ? `${server.id}/${primitive.name}` : server.id)

type Words = Readonly<Partial<Record<ActionKind, (server: string, target: string) => string>>>

const NOT_DONE: Words = {
  'server.launch': (id) => `${id} was not started`,
  'server.connect': (id) => `${id} was not connected`,
  'server.approve': (id) => `What is new or changed on ${id} stays out of use`,
  'sampling.create': (id) => `No model was asked on behalf of ${id}`,
  'sampling.deliver': (id) => `The answer of the model was not sent to ${id}`,
  'elicit.form': (id) => `The form of ${id} was not filled in`,
  'elicit.url': (id) => `The page for ${id} was not opened`,
  'roots.expose': (id) => `No folder was shared with ${id}`,
  'app.open': (id) => `The view of ${id} was not shown`,
  'app.message': (id) => `The message of the app of ${id} was not sent`,
}

const DOING: Words = {
  'server.launch': (id) => `starting ${id}`,
  'server.connect': (id) => `connecting to ${id}`,
  'server.approve': (id) => `the offering of ${id}`,
  'tool.call': (_id, target) => `calling ${target}`,
  'resource.read': (_id, target) => `reading ${target}`,
  'sampling.create': (id) => `asking a model for ${id}`,
  'sampling.deliver': (id) => `sending the answer of the model to ${id}`,
  'elicit.form': (id) => `the form of ${id}`,
  'elicit.url': (id) => `the page for ${id}`,
  'roots.expose': (id) => `sharing folders with ${id}`,
}
