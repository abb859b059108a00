import { connect } from 'portico'
import { benchServer } from './offering.mjs'

export async function open(revision = '2025-11-25') {
  const client = await connect(benchServer(), { revisions: [revision] })
  return { call: (text) => client.call('echo', { text }), close: () => client.close() }
}
