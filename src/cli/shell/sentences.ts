/** The sentences that the scripted model understands, about the sample servers. Other lines are not sent to it. */

import type { Conversation } from '../../host/index.ts'

const SENTENCES: readonly { example: string; pattern: RegExp }[] = [
  { example: 'add a note title="Milk" text="2 l"', pattern: /^(?:please\s+)?add\s+(?:a\s+|the\s+)?(?:new\s+)?note\b/i },
  { example: 'list notes', pattern: /^(?:list|show)\s+(?:all\s+|my\s+|the\s+)*notes$/i },
  { example: 'search notes for milk', pattern: /^(?:search|find)\s+(?:in\s+)?(?:my\s+|the\s+)?notes?\b/i },
  { example: 'summarise notes', pattern: /^summari[sz]e\s+(?:my\s+|the\s+)?notes\b/i },
  { example: 'remove the note with id=ID', pattern: /^(?:remove|delete|edit|read)\s+(?:a\s+|the\s+)?note\b/i },
  { example: 'deploy api 1.4.0 to staging', pattern: /^(?:deploy|plan|roll\s?back)\s+\S/i },
]

export const SENTENCE_EXAMPLES: readonly string[] = SENTENCES.map(({ example }) => example)

/** Whether the script can do something with the line: it is one of the sentences, or completes one. */
export const isSentence = (line: string, conversation: Conversation): boolean =>
  SENTENCES.some(({ pattern }) => pattern.test(line.trim())) || (/^\s*[\w-]+=/.test(line) && hasOpenQuestion(conversation))

/** The script asks for a missing argument with these words. */
function hasOpenQuestion({ messages }: Conversation): boolean {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return false
  return [last.content].flat().some((block) => block.type === 'text' && block.text.includes('also needs to know'))
}
