/** Reads the search of an address, which can hold anything. Each page lists its own names with these helpers. */

export type RawSearch = Readonly<Record<string, unknown>>

/** A text. Numbers and truth values count: `?tool=1` is parsed as a number. */
export const textParam = (search: RawSearch, name: string): string | undefined => {
  const value = search[name]
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

export const numberParam = (search: RawSearch, name: string): number | undefined => {
  const value = search[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** One of the given texts. */
export const choiceParam = <Choice extends string>(search: RawSearch, name: string, choices: readonly Choice[]): Choice | undefined =>
  choices.find((choice) => choice === search[name])

/** Only the names that have a value, so that addresses stay short. */
export const present = <Params extends object>(params: Params): { [Name in keyof Params]?: Exclude<Params[Name], undefined> } =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Params]?: Exclude<Params[Name], undefined>
  }

/** JSON as text. The address parser has parsed what was written without quotes. */
export const jsonParam = (search: RawSearch, name: string): string | undefined =>
  typeof search[name] === 'object' && search[name] !== null ? JSON.stringify(search[name]) : textParam(search, name)
