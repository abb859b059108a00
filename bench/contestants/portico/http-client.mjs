import { connect } from 'portico'

export async function open(url, revision = '2025-11-25') {
  const client = await connect(url, { revisions: [revision] })
  return { call: (text) => client.call('echo', { text }), close: () => client.close() }
}
