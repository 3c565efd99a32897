// Request bodies for YooKassa: payments, charges and refunds with their amounts, metadata and receipts.
import type { Host, JsonObject, Order, RefundOrder, SavedMethod } from '../../lib/upstream/contract/payment.ts';
import { fieldsOf, METHOD_TYPES, MICRO_PER_KOPECK, ORDER, REFUND } from './fields.ts';

/** The operator's accountant decides these: codes of 54-FZ as numbered by the vendor. */
export interface Receipt {
  readonly taxSystemCode?: number;
  readonly vatCode: number;
  readonly paymentSubject: string;
  readonly paymentMode: string;
  /** `piece`, for receipts that the vendor issues itself. */
  readonly measure?: string;
  readonly description?: string;
}

const DESCRIPTION_CHARS_MAX = 128;
const REASON_CHARS_MAX = 250;

type Sum = Pick<Order, 'amount' | 'currency'>;

export function createBodies(settings: { readonly autopayments: boolean; readonly receipt?: Receipt }, host: Host) {
  const { autopayments, receipt } = settings;

  /** A fraction of a kopeck would be lost. */
  function sumOf({ amount, currency }: Sum) {
    const kopecks = amount / MICRO_PER_KOPECK;
    if (kopecks <= 0n || kopecks * MICRO_PER_KOPECK !== amount) {
      throw host.fault.make('request', `${amount} micro-roubles are not whole kopecks`);
    }
    return { value: `${kopecks / 100n}.${String(kopecks % 100n).padStart(2, '0')}`, currency };
  }

  function receiptOf(order: Sum & { readonly description: string; readonly email?: string }): object {
    if (!receipt) return {};
    if (!order.email) throw host.fault.make('request', 'a receipt needs an email address');
    const { taxSystemCode, vatCode, paymentSubject, paymentMode, measure, description = order.description } = receipt;
    const item = {
      description: cut(description, DESCRIPTION_CHARS_MAX),
      quantity: 1,
      amount: sumOf(order),
      vat_code: vatCode,
      payment_subject: paymentSubject,
      payment_mode: paymentMode,
      ...(measure !== undefined && { measure }),
    };
    const tax = taxSystemCode !== undefined && { tax_system_code: taxSystemCode };
    return { receipt: { customer: { email: order.email }, ...tax, items: [item] } };
  }

  function base(order: Order): object {
    return {
      amount: sumOf(order),
      capture: true,
      description: cut(order.description, DESCRIPTION_CHARS_MAX),
      metadata: { [ORDER]: order.id },
      merchant_customer_id: order.customer,
      ...receiptOf(order),
    };
  }

  return {
    payment: (order: Order): object => ({
      ...base(order),
      confirmation: {
        type: 'redirect',
        return_url: order.returnUrl,
        locale: order.locale === 'ru' ? 'ru_RU' : 'en_US',
      },
      ...(order.method && { payment_method_data: { type: METHOD_TYPES[order.method as keyof typeof METHOD_TYPES] } }),
      // Without permission for autopayments, the vendor refuses the whole payment because of this field.
      ...(autopayments && { save_payment_method: order.saveMethod }),
    }),
    charge: (order: Order, { id }: SavedMethod): object => ({ ...base(order), payment_method_id: id }),
    /** For a full refund the vendor makes the receipt itself. */
    async refund(order: RefundOrder, payment: () => Promise<JsonObject>): Promise<object> {
      const amount = sumOf(order);
      const isWhole = !receipt || fieldsOf((await payment()).amount).value === amount.value;
      return {
        payment_id: order.payment,
        amount,
        description: cut(order.reason, REASON_CHARS_MAX),
        metadata: { [REFUND]: order.id },
        ...(!isWhole && receiptOf({ ...order, description: order.reason })),
      };
    },
  };
}

function cut(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed();
}
