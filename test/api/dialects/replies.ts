// What both dialects render: a collected reply, its bill, and how the smart model chose.

import type { SmartRouting } from '../../../lib/base/smart-tiers.ts';
import type { CollectedReply } from '../../../lib/stream/collect.ts';
import type { BillingPart } from '../../../lib/stream/part.ts';

export const BILLING: BillingPart = {
  type: 'billing',
  charged: 1_500_000n,
  reserved: 4_000_000n,
  balance: 90_250_000n,
  priceInput: 400_000_000n,
  priceOutput: 240_000_000n,
};

export const BILLING_BLOCK = {
  charged_rub: 1.5,
  reserved_rub: 4,
  balance_rub: 90.25,
  unit: '1M_tokens',
  rub_per_mtok_in: 400,
  rub_per_mtok_out: 240,
  rub_per_mtok: 400,
};

export const SMART: SmartRouting = { tier: 'heavy', score: 71, signals: ['code', 'long_text'] };

export const COLLECTED: CollectedReply = {
  id: '1',
  model: 'm',
  blocks: [{ type: 'text', text: 'Hi' }],
  usage: { input: 5, output: 7 },
  reason: 'stop',
  billing: BILLING,
};
