// Ids of orders, refunds, methods and notices: those made later are greater, and nobody can guess one.
import { randomBytes } from 'node:crypto';

/** 12 digits of time, 24 of chance; at most 40 characters, which every provider takes as a key. */
export function newId(prefix: 'pay' | 'rfd' | 'pm' | 'con' | 'ntc', at: number): string {
  return `${prefix}_${at.toString(16).padStart(12, '0')}${randomBytes(12).toString('hex')}`;
}
