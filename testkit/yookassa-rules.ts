// What YooKassa refuses, in the words of its API.
import { type Body, readKopecks, type Shop } from './yookassa-shop.ts';

/** An error reply. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly description: string;
  readonly parameter?: string;
}

export const refusal = (status: number, code: string, description: string, parameter?: string): Refusal => ({
  status,
  code,
  description,
  ...(parameter !== undefined && { parameter }),
});

const invalid = (parameter: string, description = `Invalid parameter: ${parameter}`) =>
  refusal(400, 'invalid_request', description, parameter);

const NO_AUTOPAYMENTS = refusal(
  403,
  'forbidden',
  "This store can't make recurring payments. Contact the YooMoney manager to learn more",
);

/** Kopecks: a card takes up to 350,000 RUB, SBP up to 700,000. */
const CARD_MAX = 35_000_000n;
const SBP_MAX = 70_000_000n;

export function refuseKey(key: string | undefined): Refusal | undefined {
  if (key === undefined) return invalid('Idempotence-Key', 'Idempotence key is missing');
  return /^[0-9a-zA-Z+\-_.]{1,64}$/.test(key) ? undefined : invalid('Idempotence-Key', 'Idempotence key is illegal');
}

export const KEY_TAKEN = invalid('Idempotence-Key', 'Idempotence key duplicated');

export function refusePayment(shop: Shop, body: Body): Refusal | undefined {
  const isCharge = body.payment_method_id !== undefined;
  if (!isSum(body.amount)) return invalid('amount');
  const kopecks = readKopecks(body.amount);
  if (kopecks < 100n || kopecks > (body.payment_method_data?.type === 'bank_card' ? CARD_MAX : SBP_MAX))
    return invalid('amount.value', 'Amount is out of the limits');
  if (body.description !== undefined && !isText(body.description, 128)) return invalid('description');
  if (!isMetadata(body.metadata)) return invalid('metadata');
  if (body.merchant_customer_id !== undefined && !isText(body.merchant_customer_id, 200))
    return invalid('merchant_customer_id');
  if (!isCharge && !isConfirmation(body.confirmation)) return invalid('confirmation');
  if ((isCharge || body.save_payment_method === true) && !shop.autopayments) return NO_AUTOPAYMENTS;
  if (isCharge && !shop.methods.has(body.payment_method_id))
    return invalid(
      'payment_method_id',
      "This payment_method_id doesn't exist. Specify the id of the saved payment_method",
    );
  return refuseReceipt(shop, body);
}

export function refuseRefund(shop: Shop, body: Body): Refusal | undefined {
  const payment = shop.payments.get(body.payment_id);
  if (!payment) return invalid('payment_id', "Incorrect payment_id. Payment doesn't exist or access denied");
  if (!isSum(body.amount)) return invalid('amount');
  if (body.description !== undefined && !isText(body.description, 250)) return invalid('description');
  if (!isMetadata(body.metadata)) return invalid('metadata');
  if (payment.status !== 'succeeded') return invalid('payment_id', 'The payment is not succeeded');
  if (readKopecks(body.amount) > shop.left(payment))
    return invalid('amount', 'The amount is greater than what is left');
  // When a payment is refunded in full, the vendor makes the receipt itself.
  return body.amount.value === payment.amount.value ? undefined : refuseReceipt(shop, body);
}

function refuseReceipt({ receipts }: Shop, { receipt, amount }: Body): Refusal | undefined {
  if (receipt === undefined && !receipts) return undefined;
  return isReceipt(receipt, readKopecks(amount)) ? undefined : invalid('receipt', 'Receipt is missing or illegal');
}

function isReceipt(receipt: Body, kopecks: bigint): boolean {
  if (!/^\S+@\S+$/.test(receipt?.customer?.email ?? '') || !Array.isArray(receipt.items)) return false;
  const { tax_system_code: tax } = receipt;
  if (tax !== undefined && !isWhole(tax, 6)) return false;
  const isItem = (item: Body) =>
    isText(item.description, 128) &&
    typeof item.quantity === 'number' &&
    isSum(item.amount) &&
    isWhole(item.vat_code, 12) &&
    typeof item.payment_subject === 'string' &&
    typeof item.payment_mode === 'string';
  const total = (item: Body) => readKopecks(item.amount) * BigInt(item.quantity);
  return (
    receipt.items.every(isItem) && receipt.items.reduce((sum: bigint, item: Body) => sum + total(item), 0n) === kopecks
  );
}

function isSum(sum: Body): boolean {
  return sum?.currency === 'RUB' && /^\d{1,10}\.\d{2}$/.test(sum.value) && readKopecks(sum) > 0n;
}

function isConfirmation(confirmation: Body): boolean {
  const { type, return_url: url, locale } = confirmation ?? {};
  return type === 'redirect' && isText(url, 2048) && [undefined, 'ru_RU', 'en_US'].includes(locale);
}

function isMetadata(metadata: Body = {}): boolean {
  const entries = Object.entries(metadata);
  return entries.length <= 16 && entries.every(([name, value]) => name.length <= 32 && isText(value, 512));
}

function isText(value: unknown, chars: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= chars;
}

function isWhole(value: unknown, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;
}
