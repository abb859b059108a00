import { connect } from 'portico'

export async function open(command, args, revision = '2025-11-25') {
  const client = await connect({ command, args }, { revisions: [revision] })
  return { call: (text) => client.call('echo', { text }), close: () => client.close() }
}
