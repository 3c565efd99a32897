// The upstreams of the catalog with their state, for an operator, and a form that adds one.
import { basename } from 'node:path';
import { FAILURE_WORDS } from '../../alerts/failure-words.ts';
import { hideAddressSecrets } from '../../base/address-secrets.ts';
import { LAYER_FILE } from '../../catalog/layer.ts';
import { setUpstream } from '../../catalog/layer-edits.ts';
import { listVendors } from '../../catalog/vendors.ts';
import { KEY_FAULTS } from '../../upstream/host/key-ring.ts';
import { audit } from '../audit.ts';
import { describeRefusal, failureMessage, SAVED, savedMessage } from '../catalog/save-words.ts';
import { PROBLEM_FIELDS, readNewUpstream } from '../catalog/upstream-form.ts';
import { UPSTREAM_WORDS, type UpstreamProblem } from '../catalog/upstream-words.ts';
import { catalogBar } from '../catalog-bar.ts';
import { codeField } from '../code-field.ts';
import { field, foldAway, form, message, select, table } from '../components.ts';
import { type LastFaults, lastFault, readLastFaults } from '../dashboard/last-faults.ts';
import type { Refused } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Page, page } from '../page.ts';
import { pausedBars, pauseState } from '../paused-upstreams.ts';
import { refusalMessage, secretField, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';

const PATH = '/admin/upstreams';

export const adminUpstreams = page({
  path: PATH,
  who: 'operator',
  get: (visit) => upstreamsPage(visit),
  async post(visit, sent) {
    const { services, language, signedIn } = visit;
    const { problems } = UPSTREAM_WORDS[language];
    const { part } = await services.catalogEditor.read();
    const wanted = readNewUpstream(sent);
    const refuseField = (problem: UpstreamProblem) =>
      refuse(visit, { sent, text: problems[problem], field: PROBLEM_FIELDS[problem] });
    if (typeof wanted === 'string') return refuseField(wanted);
    const { name, upstream, secrets } = wanted;
    if (Object.hasOwn(services.catalogParts().file.upstreams, name)) return refuseField('taken');
    if (Object.keys(secrets).length > 0 && !services.catalogEditor.keepsSecrets)
      return refuse(visit, { sent, text: UPSTREAM_WORDS[language].noSecretsKey, field: 'key' });
    const saved = await services.catalogEditor.save({
      seen: Number(sent.text('seen')),
      part: setUpstream(part, name, upstream),
      secrets,
      user: signedIn.user.id,
      note: `upstream.add ${name}`,
    });
    if (saved.status !== 'saved') return refuse(visit, { sent, text: '' }, describeRefusal(visit, saved));
    const { plugin, settings } = upstream;
    await audit(visit, { action: 'upstream.add', target: name, detail: { plugin, base_url: settings.baseUrl } });
    return { to: `${PATH}/${encodeURIComponent(name)}?${SAVED}` };
  },
});

async function refuse(visit: UserVisit, refused: Refused, notice?: Html): Promise<Page> {
  const again = { ...visit, refused };
  return { ...(await upstreamsPage(again, notice ?? refusalMessage(again))), status: 400 };
}

async function upstreamsPage(visit: UserVisit, notice?: Html): Promise<Page> {
  const { services, language } = visit;
  const words = UPSTREAM_WORDS[language];
  const { version } = await services.catalogEditor.read();
  const faults = await readLastFaults(services.store, services.now());
  const body = html`${notice}${savedMessage(visit)}${catalogBar(visit)}${await failureMessage(visit)}${await pausedBars(visit)}
<p>${words.intro}</p>
${upstreamTables(visit, faults)}
<h2>${words.add}</h2>
${!services.catalogEditor.keepsSecrets && html`<p class="message error">${words.noSecretsKey}</p>`}
${addForm(visit, version)}`;
  return { title: words.title, body };
}

/** Those that are switched off come last, folded away. */
function upstreamTables(visit: UserVisit, faults: LastFaults): Html {
  const { services, language, format } = visit;
  const words = UPSTREAM_WORDS[language];
  const { file, upstreams } = services.catalogParts();
  const names = Object.keys(file.upstreams);
  const [on, off] = [names.filter((name) => upstreams.has(name)), names.filter((name) => !upstreams.has(name))];
  const draw = (caption: string, shown: readonly string[]) => upstreamTable(visit, { caption, names: shown, faults });
  const offTitle = words.offTitle(format.number(off.length));
  return html`${on.length === 0 ? html`<p>${words.none}</p>` : draw(words.title, on)}
${off.length > 0 && foldAway(offTitle, draw(offTitle, off))}`;
}

interface UpstreamRows {
  readonly caption: string;
  readonly names: readonly string[];
  readonly faults: LastFaults;
}

function upstreamTable(visit: UserVisit, { caption, names, faults }: UpstreamRows): Html {
  const { services, language, format } = visit;
  const words = UPSTREAM_WORDS[language];
  const { file, upstreams } = services.catalogParts();
  const health = new Map(services.upstreams().map((each) => [each.upstream, each]));
  const columns = [
    ...[words.name, words.plugin, words.from, words.state].map((title) => ({ title })),
    ...[words.routes, words.paused, words.keys, words.keysPaused].map((title) => ({ title, number: true })),
    { title: words.lastFault },
  ];
  const rows = names.map((name) => {
    const known = health.get(name);
    const { keys = 0, ...refused } = known?.keys ?? {};
    const resting = Object.values(refused).reduce((sum, count) => sum + count, 0);
    const counts = known ? [known.routes, known.outages.length, keys, resting] : [0, 0, 0, 0];
    return [
      html`<a href="${PATH}/${encodeURIComponent(name)}">${name}</a>`,
      html`<code>${file.upstreams[name]?.plugin ?? ''}</code>`,
      describeSource(visit, `upstreams.${name}`),
      upstreams.has(name) ? pauseState(visit, name) : describeState(visit, name),
      ...counts.map((count) => format.number(count)),
      lastFault(visit, faults, name),
    ];
  });
  return table(caption, columns, rows);
}

/** What keeps calls from an upstream now, and what to do about it. */
export function pauseMessages({ services, language, format }: UserVisit, name: string): readonly Html[] {
  const words = UPSTREAM_WORDS[language];
  const known = services.upstreams().find(({ upstream }) => upstream === name);
  if (!known) return [];
  const { keys, routes, outages } = known;
  const paused = KEY_FAULTS.filter((kind) => keys[kind] > 0).map((kind) =>
    words.pausedKeys(format.number(keys[kind]), format.number(keys.keys), words.whyPaused[kind]),
  );
  if (outages.length > 0) {
    paused.push(words.pausedRoutes(format.number(outages.length), format.number(routes)));
    const lines = outages.map(({ models, kind, openMs }) =>
      words.outage(models.join(', '), FAILURE_WORDS[language][kind ?? 'plugin'], format.time(services.now() - openMs)),
    );
    paused.push(...new Set(lines));
  }
  return paused.map((text) => message('error', text));
}

/** Where an entry of the catalog is defined. */
export function describeSource({ services, language }: UserVisit, entry: string): string {
  const source = services.catalogParts().file.sources?.get(entry);
  return source === undefined || source === LAYER_FILE ? UPSTREAM_WORDS[language].console : basename(source);
}

export function describeState({ services, language }: UserVisit, name: string): string {
  const words = UPSTREAM_WORDS[language];
  const { upstreams, switchedOff } = services.catalogParts();
  if (upstreams.has(name)) return words.on;
  const missing = switchedOff.get(name);
  return missing ? words.off(missing.join(', ')) : words.sandbox;
}

function addForm(visit: UserVisit, version: number): Html {
  const words = UPSTREAM_WORDS[visit.language];
  const vendors = listVendors().map(({ id, title }) => [id, title === '' ? (words.own[id] ?? id) : title] as const);
  const typed = typedFields(visit, {});
  const fields = html`<input type="hidden" name="seen" value="${version}">
${select({ name: 'vendor', label: words.vendor, chosen: typed('vendor').value ?? '' }, vendors)}
${field({ ...typed('name'), label: words.newName, hint: words.nameHint })}
${field({ ...typed('url'), value: hideAddressSecrets(typed('url').value ?? ''), label: words.url, hint: words.urlHint, optional: true })}
${field({ ...secretField(visit, {}, { name: 'key', lost: words.keyLost }), label: words.key, hint: words.keyHint, type: 'password', optional: true })}${codeField(visit, 'add')}`;
  return html`${form(visit, { action: PATH, button: words.addButton, fields })}<p class="hint">${words.others}</p>`;
}
