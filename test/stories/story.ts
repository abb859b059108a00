/** One story: what a person does with a host, and how many questions it may cost them. */

import { createHost, type Host, type HostOptions } from '../../src/host/index.ts'
import type { StoryPerson } from './person.ts'
import { storyPerson } from './person.ts'

export interface StoryContext {
  person: StoryPerson
  /** A folder for the files of the story. */
  folder: string
  /** Starts the host of the story; a later start finds what the earlier ones stored. */
  start(options: Omit<HostOptions, 'ask' | 'folder' | 'keychain'>): Promise<Host>
  /** Ends all hosts, as when the person closes the program. */
  stop(): Promise<void>
}

export interface Story {
  title: string
  /** The most questions that the story may ask. */
  maxQuestions: number
  /** The most lines that these questions may have in total, at 80 columns. */
  maxLines: number
  run(context: StoryContext): Promise<void>
}

export interface StoryOutcome {
  questions: number
  lines: number
  kinds: string
}

/** @param onCost called with the cost, also when the story fails */
export async function tell(
  story: Pick<Story, 'run'>,
  folder: string,
  onCost: (cost: StoryOutcome) => void = () => {},
): Promise<StoryOutcome> {
  const person = storyPerson()
  const hosts: Host[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(hosts.splice(0).map((host) => host.close()))
  }
  const start: StoryContext['start'] = async (options) => {
    const host = await createHost({ ...options, ask: person, folder: `${folder}/host`, keychain: false })
    hosts.push(host)
    await host.settled()
    return host
  }
  try {
    await story.run({ person, folder, start, stop })
  } finally {
    await stop()
    onCost(costOf(person))
  }
  return costOf(person)
}

const costOf = ({ times, lines, kinds }: StoryPerson): StoryOutcome => ({ questions: times, lines, kinds })
