/** The offering of every contestant: 20 tools, 50 resources, 10 prompts. Only `echo` is called. */

/** The names of the tools: `echo` and the given number of others. */
export const namesOf = (count) => ['echo', ...Array.from({ length: count - 1 }, (_, i) => `tool_${i}`)]
export const toolNames = namesOf(20)
export const resourceUris = Array.from({ length: 50 }, (_, i) => `bench://resource/${i}`)
export const promptNames = Array.from({ length: 10 }, (_, i) => `prompt_${i}`)
