/**
 * Phrases of prompt injections. Only known phrasings are found; labels and consent protect against the others too.
 */

interface Injection {
  what: string
  /** Linear time: every repetition is bounded. */
  pattern: RegExp
}

export const INJECTIONS: readonly Injection[] = [
  {
    what: 'it tells the model to ignore its instructions',
    pattern:
      /\b(?:ignore|disregard|forget|override)\s{1,5}(?:(?:all|any|the|your|of|my|these|those)\s{1,5}){0,4}(?:previous|prior|above|earlier|preceding|system)\b[^.\n]{0,40}\b(?:instruction|prompt|message|rule|direction|context)/i,
  },
  {
    what: 'it tells the model to hide something from you',
    pattern:
      /\b(?:do not|don't|never|without)\s{1,5}(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|ask(?:ing)?|show(?:ing)?)\b[^.\n]{0,40}\b(?:user|person|human|owner|operator)\b/i,
  },
  {
    what: 'it imitates a conversation with a model',
    pattern:
      /<\/?(?:system|assistant|important|instructions?|tool_call|function_calls?|invoke)\b[^>\n]{0,80}>|\[\/?(?:INST|SYSTEM)\]|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>/i,
  },
  {
    what: 'it imitates a system message',
    pattern: /^[ \t#*>]{0,12}(?:system|assistant|developer)(?: (?:message|prompt|note))?[ \t*]{0,4}:/im,
  },
  {
    what: 'it gives the model a new role',
    pattern: /\byou are now\b|\bfrom now on,? you\b|\bnew (?:system )?instructions?\s{0,5}:/i,
  },
  {
    what: 'it tells the model to use a tool',
    pattern:
      /\b(?:must|please|always|first|now|then|immediately)\s{1,5}(?:call|use|invoke|run|execute)\s{1,5}(?:the\s{1,5})?[\w./`"'-]{1,64}\s{1,5}(?:tool|function)\b/i,
  },
  {
    what: 'it tells the model to send something somewhere',
    pattern: /\b(?:send|post|upload|forward|e-?mail|exfiltrate|submit)\b[^.\n]{0,80}\bto\s{1,5}(?:https?:\/\/|[\w.+-]{1,64}@)/i,
  },
]
