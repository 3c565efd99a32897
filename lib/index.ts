// The package `tollgate`: what a program needs to run a gateway inside itself. docs/testing.md shows it.
export { OperatorError } from './base/operator-error.ts';
export { type Config, readConfig } from './config.ts';
export {
  type CreateTransform,
  createGateway,
  type Gateway,
  type GatewayFacts,
  type GatewayOptions,
  type StreamPart,
  type Timings,
  type Transform,
} from './gateway.ts';
export type { FinishedRequest } from './http/access-log.ts';
export { createLog, type Log, type LogOptions } from './http/log.ts';
export { StoreError } from './store/store.ts';
