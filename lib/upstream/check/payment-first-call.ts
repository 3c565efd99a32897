// The first checks of each call of a payment plugin: that it shows no secret, and does not hold the event loop, in which
// all other calls wait. What blocks takes its time in every other check.
import type { PaymentProvider } from '../contract/payment.ts';
import { leavesLoop } from './first-call.ts';
import { writeNotice } from './payment-fixture.ts';
import { listCallNames, onStage, type PaymentSubject } from './payment-stage.ts';
import type { Check } from './subject.ts';

function noop(): void {}

export function paymentFirstCallChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  return [
    ...listCallNames(provider).flatMap((call) => [
      {
        group: call,
        name: 'runs, and keeps its secrets out of log and output',
        run: () => onStage(subject, async (stage) => void (await stage.call(call).catch(noop))),
      },
      {
        group: call,
        name: 'leaves the event loop to other calls',
        run: () => onStage(subject, (stage) => leavesLoop('a call', () => stage.call(call).catch(noop))),
      },
    ]),
    { group: 'webhook', name: 'leaves the event loop to other calls', run: () => receiveOften(subject) },
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
