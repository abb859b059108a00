/** The search of each page's address. Names of servers, tools and so on are here and not in the path, because they may contain anything. */

import { choiceParam, jsonParam, numberParam, present, type RawSearch, textParam } from '../state/search-params.ts'

const SERVER_TABS = ['overview', 'offering', 'log', 'messages', 'settings', 'doctor'] as const

/** `add`: the dialog that adds servers. `message`: the selected one among its messages. */
export const serversSearch = (search: RawSearch) =>
  present({
    server: textParam(search, 'server'),
    tab: choiceParam(search, 'tab', SERVER_TABS),
    message: textParam(search, 'message'),
    add: choiceParam(search, 'add', ['new', 'import']),
  })

/** What a form starts with: `args` as JSON, the recent call `call`, or the message `sent` of the timeline. */
const given = (search: RawSearch) => ({
  args: jsonParam(search, 'args'),
  call: numberParam(search, 'call'),
  sent: numberParam(search, 'sent'),
})

/** `tool`: its unique name, or `server/name`. */
export const toolsSearch = (search: RawSearch) => present({ tool: textParam(search, 'tool'), q: textParam(search, 'q'), ...given(search) })

/** `template`: a URI template, of the server `server` if several have it. */
export const resourcesSearch = (search: RawSearch) =>
  present({
    uri: textParam(search, 'uri'),
    template: textParam(search, 'template'),
    server: textParam(search, 'server'),
    q: textParam(search, 'q'),
  })

export const promptsSearch = (search: RawSearch) =>
  present({ prompt: textParam(search, 'prompt'), q: textParam(search, 'q'), ...given(search) })

/** `say`: the beginning of a message. */
export const chatSearch = (search: RawSearch) => present({ conversation: textParam(search, 'conversation'), say: textParam(search, 'say') })

export const timelineSearch = (search: RawSearch) =>
  present({
    server: textParam(search, 'server'),
    message: textParam(search, 'message'),
    tab: choiceParam(search, 'tab', ['messages', 'recordings']),
    recording: textParam(search, 'recording'),
  })

/** `task`: its id. */
export const tasksSearch = (search: RawSearch) => present({ task: textParam(search, 'task') })

export const policySearch = (search: RawSearch) => present({ tab: choiceParam(search, 'tab', ['rules', 'grants', 'edit', 'replay']) })

export const auditSearch = (search: RawSearch) => present({ record: textParam(search, 'record'), server: textParam(search, 'server') })

export const settingsSearch = (search: RawSearch) =>
  present({ tab: choiceParam(search, 'tab', ['general', 'models', 'secrets', 'limits']) })

export const tourSearch = (search: RawSearch) => present({ step: numberParam(search, 'step') })
