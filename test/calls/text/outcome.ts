// What a call on the stage came to: the fault that was told, and what it did to the wallet.
import { expect } from 'chai';
import { type FaultCode, isFault } from '../../../lib/base/faults.ts';
import { BALANCE, type CallResult } from './stage.ts';

export const MINIMUM = 500_000n;

export function codeOf({ parts, thrown }: CallResult): FaultCode | undefined {
  const last = parts.at(-1);
  if (last?.type === 'error') return last.fault.data?.code;
  return isFault(thrown) ? thrown.data?.code : undefined;
}

export function isRefunded({ parts, thrown }: CallResult): boolean {
  const last = parts.at(-1);
  const failure = last?.type === 'error' ? last.fault : (thrown as Error);
  return failure.message.endsWith('Charge refunded.');
}

export function expectCharged(result: CallResult, charged: bigint): void {
  expect(result.charge).to.include({ state: 'settled', charged });
  expect(result.wallet).to.include({ avail: BALANCE - charged, charged, held: 0n });
}

export function expectReleased(result: CallResult): void {
  expect(result.charge).to.include({ state: 'released', charged: 0n, usage: null });
  expect(result.wallet).to.include({ avail: BALANCE, charged: 0n, held: 0n });
}
