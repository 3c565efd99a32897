// Translates YooKassa's responses about payments and refunds into the gateway's states, amounts, methods and reasons.
import type {
  Decline,
  Host,
  JsonObject,
  MethodKind,
  PaymentState,
  RefundState,
  SavedMethod,
  Started,
} from '../../lib/upstream/contract/payment.ts';
import { METHOD_TYPES, MICRO_PER_KOPECK, ORDER, REFUND, toFields } from './fields.ts';

/** How long a pay link is valid. */
const LINK_MS = 3_600_000;

const STATES = new Map<unknown, PaymentState['status']>([
  ['pending', 'pending'],
  ['waiting_for_capture', 'pending'],
  ['succeeded', 'succeeded'],
  ['canceled', 'canceled'],
]);

export function createReader(host: Host) {
  function requireText(value: unknown, name: string): string {
    if (typeof value !== 'string' || value === '') throw host.fault.make('protocol', `an answer without ${name}`);
    return value;
  }

  /** Reads the fields that payments and refunds share. */
  function readBase({ id, status: said, amount, metadata }: JsonObject, name: typeof ORDER | typeof REFUND) {
    const status = STATES.get(said);
    if (!status) throw host.fault.make('protocol', `the state is ${said}`);
    const { value, currency } = toFields(amount);
    const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(String(value)) ?? [];
    if (whole === undefined) throw host.fault.make('protocol', `an amount that is not a decimal: ${value}`);
    const kopecks = BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'));
    const order = toFields(metadata)[name];
    return {
      id: requireText(id, 'id'),
      status,
      amount: kopecks * MICRO_PER_KOPECK,
      currency: requireText(currency, 'currency'),
      order: typeof order === 'string' ? order : null,
    };
  }

  const refund = (answer: JsonObject): RefundState => readBase(answer, REFUND);

  return {
    refund,
    started(answer: JsonObject): Started {
      const { id } = readBase(answer, ORDER);
      const { confirmation_url: url } = toFields(answer.confirmation);
      const createdAt = Date.parse(String(answer.created_at));
      return {
        id,
        // The vendor sends no link for an ended payment; the gateway's own page shows how it ended.
        payUrl: typeof url === 'string' ? url : `https://yoomoney.ru/checkout/payments/v2/contract?orderId=${id}`,
        expiresAt: (Number.isNaN(createdAt) ? host.clock.now() : createdAt) + LINK_MS,
      };
    },
    payment(answer: JsonObject, refunds: readonly JsonObject[]): PaymentState {
      const base = readBase(answer, ORDER);
      return {
        ...base,
        shop: requireText(toFields(answer.recipient).account_id, 'shop'),
        test: answer.test === true,
        saved: readSavedMethod(toFields(answer.payment_method)),
        refunds: refunds.map(refund),
        reason: base.status === 'canceled' ? readDecline(toFields(answer.cancellation_details)) : null,
      };
    },
  };
}

/** https://yookassa.ru/developers/payment-acceptance/after-the-payment/declined-payments; unlisted reasons are soft. */
const REASONS: Readonly<Record<Decline['kind'], string>> = {
  expired: 'expired_on_confirmation',
  soft: `insufficient_funds payment_method_limit_exceeded 3d_secure_failed call_issuer general_decline invalid_csc
    identification_required`,
  hard: `card_expired invalid_card_number payment_method_restricted permission_revoked country_forbidden fraud_suspected
    unsupported_mobile_operator`,
  technical: 'issuer_unavailable internal_timeout canceled_by_merchant expired_on_capture deal_expired',
};

const KINDS = new Map(
  Object.entries(REASONS).flatMap(([kind, codes]) => codes.split(/\s+/).map((code) => [code, kind as Decline['kind']])),
);

function readDecline({ reason }: JsonObject): Decline {
  const code = typeof reason === 'string' ? reason : 'unknown';
  return { kind: KINDS.get(code) ?? 'soft', code };
}

const METHOD_KINDS = new Map<unknown, MethodKind>(
  Object.entries(METHOD_TYPES).map(([kind, type]) => [type, kind as MethodKind]),
);

/** Null unless the method was saved: every payment has a method with an id, but only a saved one can be charged. */
function readSavedMethod({ id, type, saved, card }: JsonObject): SavedMethod | null {
  if (saved !== true || typeof id !== 'string') return null;
  const { card_type: brand, last4, expiry_year: year, expiry_month: month } = toFields(card);
  const knownText = (value: unknown) => (typeof value === 'string' && value !== 'Unknown' ? value : null);
  return {
    id,
    kind: METHOD_KINDS.get(type) ?? 'bank',
    brand: knownText(brand),
    last4: knownText(last4),
    expiry: knownText(year) && knownText(month) && `${year}-${month}`,
    fingerprint: null,
  };
}
