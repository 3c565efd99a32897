// The usage of an account: a stacked chart with its table by time, model, key and kind.
import { catchUpUsage, type UsageBehind } from '../../ledger/usage-fold.ts';
import { findHourDay, hasSplitHours } from '../../money/days.ts';
import { type ChargeQuery, chargeFilterForm, chargeQueryText, keyName, readChargeQuery } from '../charge-query.ts';
import { checkbox, message, select } from '../components.ts';
import { type Html, html } from '../html.ts';
import { type KeyOwner, readKeyOwners } from '../key-owners.ts';
import { page } from '../page.ts';
import { SLOT_UNITS } from '../time-slots.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import type { OwnerVisit } from '../visit.ts';
import { chargeWords } from './charge-table.ts';
import { periodLinks, readUsageFigures, usageChart, usageSums } from './usage-explorer.ts';
import { countMinimum } from './usage-minimum.ts';
import { usageTable } from './usage-table.ts';
import { listStacks, readUsageView, selectMember, USAGE_RANGE, USAGE_SHOWS, type UsageView } from './usage-view.ts';
import { USAGE_WORDS as WORDS } from './usage-words.ts';

export const usage = page({
  path: '/account/usage',
  who: 'account',
  async get(visit) {
    const { language, services, account } = visit;
    const words = WORDS[language];
    const [behind, keys] = await Promise.all([catchUpUsage(services.store, account.id), listVisibleKeys(visit)]);
    if (behind) services.usage.foldSoon(account.id);
    const owners = await readKeyOwners(visit, keys);
    const selection = selectMember(visit, readChargeQuery(visit, USAGE_RANGE), owners);
    const view = readUsageView(visit, selection, owners);
    const figures = await readUsageFigures(visit, view, selection, owners);
    const counted = { filter: selection.filter, calls: figures.total.calls };
    const minimum = await countMinimum(services.store.ledger, account.id, counted);
    const { kinds } = chargeWords(visit);
    const names = new Map([
      ...keys.map((key) => [key.id, keyName(key)] as const),
      ...Object.entries(kinds),
      ...owners.map(({ id, name }) => [id, name === '' ? words.nobody : name] as const),
    ]);
    const shown = { view, figures, nameGroup: (group: string) => names.get(group) ?? group };
    const body = html`${periodLinks(visit, view)}
${chargeFilterForm(visit, selection, { keys, owners, kinds, more: moreFields(visit, view, owners) })}
${isSplit(visit, selection) && html`<p class="hint">${words.split}</p>`}
<section id="figures"${behind && html` data-again`}>${behind && progress(visit, behind)}
${
  figures.total.calls > 0
    ? html`${usageSums(visit, figures, minimum)}
${usageChart(visit, shown)}
${usageTable(visit, shown)}`
    : !behind && html`<p>${words.none}</p>`
}
${!behind && html`<p><a href="/account/usage.csv${chargeQueryText(visit)}" download>${words.csv}</a></p>`}</section>`;
    return { title: words.title, body };
  },
});

function moreFields(
  { language, query }: OwnerVisit,
  { by, split, show, isCompared }: UsageView,
  owners: readonly KeyOwner[],
): Html {
  const words = WORDS[language];
  const people = owners.flatMap(({ id, name }) => (id === '' ? [] : [[id, name] as const]));
  const stacks = listStacks(owners).map((stack) => [stack, words.groups[stack]] as const);
  const unit = SLOT_UNITS.find((name) => name === query.get('unit'));
  return html`${select({ name: 'by', label: words.by, chosen: by }, [['day', words.groups.day], ...stacks])}
${select({ name: 'split', label: words.splitBy, all: words.noSplit, chosen: split }, stacks)}
${people.length > 0 && select({ name: 'member', label: words.member, all: words.all, chosen: query.get('member') ?? undefined }, people)}
${select(
  { name: 'show', label: words.show, chosen: show },
  USAGE_SHOWS.map((name) => [name, words.shows[name]]),
)}
${select({ name: 'unit', label: words.unit, all: words.auto, chosen: unit }, Object.entries(words.slotUnits))}
${checkbox({ name: 'compare', label: words.compare, checked: isCompared })}`;
}

function isSplit({ services, zone }: OwnerVisit, { from, to }: ChargeQuery): boolean {
  return hasSplitHours(
    [from, to].map((day) => day ?? findHourDay(services.now(), zone)),
    zone,
  );
}

function progress(visit: OwnerVisit, { entries, counted, until }: UsageBehind): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const share = `${format.number(Math.floor((counted * 100) / entries))}\u00a0%`;
  const text = html`${words.counting} ${words.soFar(share, until === undefined ? until : format.time(until))}`;
  return html`${message('done', text)}
<p><a href="${visit.path}${chargeQueryText(visit)}">${words.again}</a></p>`;
}
