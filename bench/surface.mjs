/** What every contestant offers: 20 tools, 50 resources, 10 prompts. Only `echo` is called. */

/** `echo` and as many others as are asked for. */
export const namesOf = (count) => ['echo', ...Array.from({ length: count - 1 }, (_, i) => `tool_${i}`)]
export const toolNames = namesOf(20)
export const resourceUris = Array.from({ length: 50 }, (_, i) => `bench://resource/${i}`)
export const promptNames = Array.from({ length: 10 }, (_, i) => `prompt_${i}`)
