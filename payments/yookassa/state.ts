// Translates YooKassa's answers about payments and refunds into the gateway's states, amounts, methods and reasons.
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
import { fieldsOf, METHOD_TYPES, MICRO_PER_KOPECK, ORDER, REFUND } from './fields.ts';

/** How long a link is valid. */
const LINK_MS = 3_600_000;

const STATES = new Map<unknown, PaymentState['status']>([
  ['pending', 'pending'],
  ['waiting_for_capture', 'pending'],
  ['succeeded', 'succeeded'],
  ['canceled', 'canceled'],
]);

export function createReader(host: Host) {
  function textOf(value: unknown, name: string): string {
    if (typeof value !== 'string' || value === '') throw host.fault.make('protocol', `an answer without ${name}`);
    return value;
  }

  /** What payments and refunds share. */
  function baseOf({ id, status: said, amount, metadata }: JsonObject, name: typeof ORDER | typeof REFUND) {
    const status = STATES.get(said);
    if (!status) throw host.fault.make('protocol', `the state is ${said}`);
    const { value, currency } = fieldsOf(amount);
    const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(String(value)) ?? [];
    if (whole === undefined) throw host.fault.make('protocol', `an amount that is not a decimal: ${value}`);
    const kopecks = BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'));
    const order = fieldsOf(metadata)[name];
    return {
      id: textOf(id, 'id'),
      status,
      amount: kopecks * MICRO_PER_KOPECK,
      currency: textOf(currency, 'currency'),
      order: typeof order === 'string' ? order : null,
    };
  }

  const refund = (answer: JsonObject): RefundState => baseOf(answer, REFUND);

  return {
    refund,
    started(answer: JsonObject): Started {
      const { id } = baseOf(answer, ORDER);
      const { confirmation_url: url } = fieldsOf(answer.confirmation);
      const createdAt = Date.parse(String(answer.created_at));
      return {
        id,
        // An ended payment has no link; our own page shows how it ended.
        payUrl: typeof url === 'string' ? url : `https://yoomoney.ru/checkout/payments/v2/contract?orderId=${id}`,
        expiresAt: (Number.isNaN(createdAt) ? host.clock.now() : createdAt) + LINK_MS,
      };
    },
    payment(answer: JsonObject, refunds: readonly JsonObject[]): PaymentState {
      const base = baseOf(answer, ORDER);
      return {
        ...base,
        shop: textOf(fieldsOf(answer.recipient).account_id, 'shop'),
        test: answer.test === true,
        saved: savedOf(fieldsOf(answer.payment_method)),
        refunds: refunds.map(refund),
        reason: base.status === 'canceled' ? declineOf(fieldsOf(answer.cancellation_details)) : null,
      };
    },
  };
}

/** https://yookassa.ru/developers/payment-acceptance/after-the-payment/declined-payments; one not listed there is soft. */
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

function declineOf({ reason }: JsonObject): Decline {
  const code = typeof reason === 'string' ? reason : 'unknown';
  return { kind: KINDS.get(code) ?? 'soft', code };
}

const METHOD_KINDS = new Map<unknown, MethodKind>(
  Object.entries(METHOD_TYPES).map(([kind, type]) => [type, kind as MethodKind]),
);

/** Every payment has a method with an id; only a saved one can be charged. */
function savedOf({ id, type, saved, card }: JsonObject): SavedMethod | null {
  if (saved !== true || typeof id !== 'string') return null;
  const { card_type: brand, last4, expiry_year: year, expiry_month: month } = fieldsOf(card);
  const known = (value: unknown) => (typeof value === 'string' && value !== 'Unknown' ? value : null);
  return {
    id,
    kind: METHOD_KINDS.get(type) ?? 'bank',
    brand: known(brand),
    last4: known(last4),
    expiry: known(year) && known(month) && `${year}-${month}`,
    fingerprint: null,
  };
}
