/** portico/opentelemetry: traces and metrics of servers, clients and hosts, by the semantic conventions for MCP. */

export type {
  AroundAction,
  AroundRequest,
  ConnectedTo,
  HostAction,
  HostTelemetry,
  OutgoingRequest,
} from '../protocol/interfaces/telemetry.ts'
export { clientTelemetry, hostTelemetry } from './client-telemetry.ts'
export { serverTelemetry } from './server-telemetry.ts'
export { sessionTelemetry } from './session-telemetry.ts'
