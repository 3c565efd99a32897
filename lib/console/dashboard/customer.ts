// What one customer used in 30 days, by day and model, for the operator's page of the account: in the days of the account, like
// the owner's usage and the calls that the bars lead to.
import { readZone } from '../../accounts/zone.ts';
import { readUsageSlots } from '../../ledger/usage-slots.ts';
import { addDays, findHourDay } from '../../money/days.ts';
import { toRub } from '../../money/money.ts';
import { barChart, mergeSmallSeries } from '../chart.ts';
import { CUSTOMER_DAYS } from '../customers.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { isCurrent, listDaySlots, nameSlots } from '../time-slots.ts';
import type { UserVisit } from '../visit.ts';
import { markUnpriced, unpricedNote } from './unpriced.ts';

const WORDS = defineWords({
  en: {
    title: `Usage, ${CUSTOMER_DAYS} days`,
    sums: (charged: string, calls: string, failed: string) => `Spent: ${charged}. Calls: ${calls}, failed: ${failed}.`,
    money: (cost: string, margin: string) => `Cost: ${cost}, margin: ${margin}.`,
    calls: 'All calls',
    zone: (zone: string) => `Time zone of the account: ${zone}.`,
    others: 'other models',
  },
  ru: {
    title: `Расходы за ${CUSTOMER_DAYS} дней`,
    sums: (charged: string, calls: string, failed: string) =>
      `Списано: ${charged}. Запросов: ${calls}, из них с ошибкой: ${failed}.`,
    money: (cost: string, margin: string) => `Себестоимость: ${cost}, маржа: ${margin}.`,
    calls: 'Все запросы',
    zone: (zone: string) => `Часовой пояс аккаунта: ${zone}.`,
    others: 'прочие модели',
  },
});

export async function customerUsage(visit: UserVisit, account: string): Promise<Html> {
  const { services, language, format, signedIn } = visit;
  const words = WORDS[language];
  const zone = await readZone(services.store.users, account, signedIn.user);
  const today = findHourDay(services.now(), zone);
  const slots = listDaySlots(addDays(today, 1 - CUSTOMER_DAYS), today, zone);
  const { total, groups } = await readUsageSlots(services.store.usage, account, {
    slots,
    by: 'model',
    counts: ['calls', 'charged', 'failed', 'cost', 'unpriced'],
  });
  services.usage.foldSoon(account);
  const names = nameSlots('day', language, zone);
  const sumSlot = (at: number) => groups.reduce((sum, { slots: sums }) => sum + (sums[at]?.charged ?? 0n), 0n);
  const chart = barChart({
    id: 'spent',
    title: words.title,
    slots: slots.map((slot, at) => ({
      text: `${names.name(slot)}: ${format.rub(sumSlot(at))}`,
      tick: names.tick(slot, at, slots.length),
      href: groups.some(({ slots: sums }) => (sums[at]?.calls ?? 0) > 0)
        ? `/admin/accounts/${account}/calls?from=${slot.day}&to=${slot.day}`
        : undefined,
      isNow: isCurrent(slot, services.now()),
    })),
    series: mergeSmallSeries(
      groups.map(({ name, slots: sums }) => ({ name, values: sums.map(({ charged }) => toRub(charged)) })),
      words.others,
    ),
    format: format.rubAxis,
  });
  return html`<h2>${words.title}</h2>
<p>${words.sums(format.rub(total.charged), format.number(total.calls), format.number(total.failed))}
${words.money(markUnpriced(format.rub(total.cost), total), markUnpriced(format.rub(total.charged - total.cost), total))}
<a href="/admin/accounts/${account}/calls">${words.calls}</a></p>
<p class="hint">${words.zone(zone)}</p>
${unpricedNote(visit, total)}
${total.calls > 0 && chart}`;
}
