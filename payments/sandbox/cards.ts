// The sandbox's cards, named by what happens when they are charged without their owner, and the decline reasons of banks.
import type { Decline, SavedMethod } from '../../lib/upstream/contract/payment.ts';

interface Card {
  readonly name: 'good' | 'soft' | 'hard' | 'hang';
  readonly last4: string;
  /** The reason for which every charge is declined. */
  readonly decline?: string;
  /** Charges are never answered. */
  readonly hangs?: boolean;
}

const ALL: readonly Card[] = [
  { name: 'good', last4: '4242' },
  { name: 'soft', last4: '0051', decline: 'insufficient_funds' },
  { name: 'hard', last4: '0054', decline: 'card_expired' },
  { name: 'hang', last4: '0091', hangs: true },
];

export const CARDS: ReadonlyMap<string, Card> = new Map(ALL.map((card) => [card.name, card]));

/** Kinds of declines by reason; the kind decides about retries. */
export const DECLINES: Readonly<Record<string, Decline['kind']>> = {
  insufficient_funds: 'soft',
  limit_exceeded: 'soft',
  confirmation_failed: 'soft',
  declined_without_reason: 'soft',
  card_expired: 'hard',
  card_blocked: 'hard',
  permission_revoked: 'hard',
  bank_unavailable: 'technical',
  canceled_by_payer: 'expired',
};

/** `id` starts with the name of the card. */
export function toSandboxMethod({ name, last4 }: Card, id: string): SavedMethod {
  return { id, kind: 'card', brand: 'Sandbox', last4, expiry: '2099-12', fingerprint: name };
}
