// Request bodies for YooKassa: payments, charges and refunds with their amounts, metadata and receipts.
import type { Host, JsonObject, Order, RefundOrder, SavedMethod } from '../../lib/upstream/contract/payment.ts';
import { METHOD_TYPES, MICRO_PER_KOPECK, ORDER, REFUND, toFields } from './fields.ts';

/** Codes of the law 54-FZ as numbered by the vendor; the operator's accountant chooses them. */
export interface Receipt {
  readonly taxSystemCode?: number;
  readonly vatCode: number;
  readonly paymentSubject: string;
  readonly paymentMode: string;
  /** `piece` if the vendor issues the receipts itself. */
  readonly measure?: string;
  readonly description?: string;
}

const DESCRIPTION_CHARS_MAX = 128;
const REASON_CHARS_MAX = 250;

type Sum = Pick<Order, 'amount' | 'currency'>;

export function createBodies(settings: { readonly autopayments: boolean; readonly receipt?: Receipt }, host: Host) {
  const { autopayments, receipt } = settings;

  /** Refuses fractions of a kopeck, which the vendor's format would lose. */
  function formatAmount({ amount, currency }: Sum) {
    const kopecks = amount / MICRO_PER_KOPECK;
    if (kopecks <= 0n || kopecks * MICRO_PER_KOPECK !== amount) {
      throw host.fault.make('request', `${amount} micro-roubles are not whole kopecks`);
    }
    return { value: `${kopecks / 100n}.${String(kopecks % 100n).padStart(2, '0')}`, currency };
  }

  function buildReceipt(order: Sum & { readonly description: string; readonly email?: string }): object {
    if (!receipt) return {};
    if (!order.email) throw host.fault.make('request', 'a receipt needs an email address');
    const { taxSystemCode, vatCode, paymentSubject, paymentMode, measure, description = order.description } = receipt;
    const item = {
      description: truncate(description, DESCRIPTION_CHARS_MAX),
      quantity: 1,
      amount: formatAmount(order),
      vat_code: vatCode,
      payment_subject: paymentSubject,
      payment_mode: paymentMode,
      measure,
    };
    return { receipt: { customer: { email: order.email }, tax_system_code: taxSystemCode, items: [item] } };
  }

  function buildBase(order: Order): object {
    return {
      amount: formatAmount(order),
      capture: true,
      description: truncate(order.description, DESCRIPTION_CHARS_MAX),
      metadata: { [ORDER]: order.id },
      merchant_customer_id: order.customer,
      ...buildReceipt(order),
    };
  }

  return {
    payment: (order: Order): object => ({
      ...buildBase(order),
      confirmation: {
        type: 'redirect',
        return_url: order.returnUrl,
        locale: order.locale === 'ru' ? 'ru_RU' : 'en_US',
      },
      payment_method_data: order.method && { type: METHOD_TYPES[order.method as keyof typeof METHOD_TYPES] },
      // Without permission for autopayments, the vendor refuses the whole payment because of this field.
      save_payment_method: autopayments ? order.saveMethod : undefined,
    }),
    charge: (order: Order, { id }: SavedMethod): object => ({ ...buildBase(order), payment_method_id: id }),
    /** A full refund needs no receipt here: the vendor creates it. */
    async refund(order: RefundOrder, payment: () => Promise<JsonObject>): Promise<object> {
      const amount = formatAmount(order);
      const isWhole = !receipt || toFields((await payment()).amount).value === amount.value;
      return {
        payment_id: order.payment,
        amount,
        description: truncate(order.reason, REASON_CHARS_MAX),
        metadata: { [REFUND]: order.id },
        ...(!isWhole && buildReceipt({ ...order, description: order.reason })),
      };
    },
  };
}

function truncate(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed();
}
