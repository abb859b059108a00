/** What every contestant offers: 20 tools, 50 resources, 10 prompts. Only `echo` is called. */

export const toolNames = ['echo', ...Array.from({ length: 19 }, (_, i) => `tool_${i}`)]
export const resourceUris = Array.from({ length: 50 }, (_, i) => `bench://resource/${i}`)
export const promptNames = Array.from({ length: 10 }, (_, i) => `prompt_${i}`)
