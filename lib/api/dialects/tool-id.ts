// The ids of calls as clients see them: what an upstream wants back with a call travels in its id, the one thing that
// every client keeps.
import { Buffer } from 'node:buffer';

/** Between the id and the state; clients and upstreams take letters, digits, `_` and `-`. */
const MARK = '__state_';

export interface CallId {
  readonly id: string;
  readonly state?: string;
}

export function toWireId({ id, state }: CallId): string {
  return state === undefined ? id : `${id}${MARK}${Buffer.from(state).toString('base64url')}`;
}

export function readWireId(wire: string): CallId {
  const at = wire.indexOf(MARK);
  if (at <= 0) return { id: wire };
  return { id: wire.slice(0, at), state: Buffer.from(wire.slice(at + MARK.length), 'base64url').toString() };
}
