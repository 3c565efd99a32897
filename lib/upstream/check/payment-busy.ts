// Checks that no call of a payment plugin holds the event loop, in which all other calls wait. They are the first of each
// call, because what blocks takes its time in every other check.
import type { PaymentProvider } from '../contract/payment.ts';
import { leavesLoop } from './busy.ts';
import { writeNotice } from './payment-fixture.ts';
import { listCallNames, onStage, type PaymentSubject } from './payment-stage.ts';
import type { Check } from './subject.ts';

const NAME = 'leaves the event loop to other calls';

export function paymentBusyChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  return [
    ...listCallNames(provider).map((call) => ({
      group: call,
      name: NAME,
      run: () => onStage(subject, (stage) => leavesLoop('a call', () => stage.call(call).catch(() => undefined))),
    })),
    { group: 'webhook', name: NAME, run: () => receiveOften(subject) },
  ];
}

function receiveOften(subject: PaymentSubject): Promise<void> {
  const { fixture } = subject;
  return onStage(subject, async ({ vendor, provider }) => {
    for (const notice of fixture.notices) {
      const raw = { ...writeNotice(fixture, notice, vendor.facts), address: '127.0.0.1' };
      await leavesLoop('a webhook', () => void provider.notice(raw));
    }
  });
}
