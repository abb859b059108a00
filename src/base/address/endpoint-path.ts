/** What the path of an endpoint must be. Requests cannot have another one. */

export const PATH_RULES = 'begin with a slash, and have no spaces, ? or #'

export const isEndpointPath = (path: string): boolean => /^\/[^\s?#]*$/.test(path)
