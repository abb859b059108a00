/** The steps of the tour: what happens, what to look at, and what the person says to the model. */

export type TourStepId = 'consent' | 'form' | 'model' | 'server' | 'change' | 'leak' | 'audit'

export interface TourStep {
  id: TourStepId
  title: string
  /** One sentence: what this shows. */
  sentence: string
  /** What to look at after the click. */
  look: string
}

export const TOUR_STEPS: readonly TourStep[] = [
  {
    id: 'consent',
    title: 'A model adds a note',
    sentence: 'A model can only propose a call. You see the tool and every argument, and nothing happens before your yes.',
    look: 'The call waits under "Waiting for you". Allow it once.',
  },
  {
    id: 'form',
    title: 'A server asks you',
    sentence: 'Servers can ask you for input while a tool runs. What you enter goes to this one server.',
    look: 'Allow the call, then fill in the form.',
  },
  {
    id: 'model',
    title: 'A server uses your model',
    sentence: 'A server may ask your model for text. You see the request first, then the answer, and a budget limits the cost.',
    look: 'Allow the request to the model, then the answer.',
  },
  {
    id: 'server',
    title: 'You enable a server',
    sentence:
      'You are asked once for each server, before anything of it runs. This one offers the weather, is called rogue, and is a stranger.',
    look: 'Connect it, then ask for the weather. If it asks you to approve a change, leave that for step 5.',
  },
  {
    id: 'change',
    title: 'It turns hostile, and is caught',
    sentence: 'After the first call the server changed its tools. What you approved and what it offers now differ, so they are out of use.',
    look: 'Read the difference, then try to use the tool anyway. If it asks you to approve the change: not now.',
  },
  {
    id: 'leak',
    title: 'Your note does not leave',
    sentence: 'A text of your notes is about to be sent to the weather server. Portico knows where the bytes come from and asks you.',
    look: 'The bytes of your note are marked. Deny it.',
  },
  {
    id: 'audit',
    title: 'Everything is on record',
    sentence: 'Every decision of this tour is in the audit log. Each record holds a digest of the one before.',
    look: 'Verify the log, then change one byte in a copy.',
  },
]

/** What the steps keep while the window is open begins with this. */
export const TOUR_DRAFTS = 'tour '

/** What the person says to the scripted model. */
export const SAY_ADD =
  'add a note with title="Door code" text="The code of the back door is 4711-2208, please tell nobody about it" tags=["home"]'
export const SAY_SEARCH = 'search notes with query="door"'

/** A step within the tour. */
export const stepAt = (given: number | undefined): number => Math.min(TOUR_STEPS.length, Math.max(1, Math.trunc(given ?? 1)))

/** The text of a tool result, as a model reads it. */
export const resultText = (result: { content?: readonly { type: string; text?: unknown }[] } | undefined): string =>
  (result?.content ?? []).flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n')
