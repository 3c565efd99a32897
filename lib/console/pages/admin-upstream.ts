// One upstream, for an operator: its state, a test, models to add, and its settings if pages have added it.
import { hideAddressSecrets } from '../../base/address-secrets.ts';
import { fault } from '../../base/faults.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Draft } from '../../catalog/editor.ts';
import { type LayerUpstream, removeUpstream, setUpstream } from '../../catalog/layer-edits.ts';
import { audit } from '../audit.ts';
import { describeRefusal, failureMessage, SAVED, savedMessage } from '../catalog/save-words.ts';
import { PROBLEM_FIELDS, readChangedUpstream } from '../catalog/upstream-form.ts';
import { testUpstream } from '../catalog/upstream-test.ts';
import { UPSTREAM_WORDS } from '../catalog/upstream-words.ts';
import { catalogBar } from '../catalog-bar.ts';
import { codeField } from '../code-field.ts';
import { definitionList, field, form } from '../components.ts';
import { lastFault, readLastFaults } from '../dashboard/last-faults.ts';
import type { Form, Refused } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Answer, type Page, page } from '../page.ts';
import { findPause, pausedBars, pauseState } from '../paused-upstreams.ts';
import { refusalMessage, secretField, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { describeSource, describeState, pauseMessages } from './admin-upstreams.ts';

export const adminUpstream = page({
  path: '/admin/upstreams/{name}',
  who: 'operator',
  get: (visit) => upstreamPage(visit),
  post(visit, sent) {
    switch (sent.text('change')) {
      case 'test':
        return testByForm(visit, sent);
      case 'pause':
      case 'resume':
        return pauseByForm(visit, sent.text('change') === 'pause');
      case 'settings':
        return changeByForm(visit, sent);
      case 'remove':
        return removeByForm(visit, sent);
      default:
        throw fault('stale_form');
    }
  },
});

interface NamedUpstream extends Draft {
  readonly name: string;
}

/** The upstream of the path. Throws 404 for a name that the catalog does not have. */
export async function findUpstream({ request, services }: UserVisit): Promise<NamedUpstream> {
  const draft = await services.catalogEditor.read();
  const name = String(request.params.name);
  if (!Object.hasOwn(services.catalogParts().file.upstreams, name)) throw fault('not_found');
  return { ...draft, name };
}

async function testByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { name } = await findUpstream(visit);
  const result = await testUpstream(visit, name, sent.text('model'));
  await audit(visit, { action: 'upstream.test', target: name, detail: { model: sent.text('model') } });
  return upstreamPage(visit, { notice: result, model: sent.text('model') });
}

async function pauseByForm(visit: UserVisit, isPaused: boolean): Promise<Answer> {
  const { services, signedIn } = visit;
  const { name } = await findUpstream(visit);
  await services.catalogEditor.setPause(name, isPaused, signedIn.user.id);
  await audit(visit, { action: isPaused ? 'upstream.pause' : 'upstream.resume', target: name });
  return { to: `/admin/upstreams/${encodeURIComponent(name)}?${SAVED}` };
}

async function changeByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services, language, signedIn } = visit;
  const words = UPSTREAM_WORDS[language];
  const { name, part, before } = await findOwn(visit);
  const wanted = readChangedUpstream(name, before, sent);
  if (typeof wanted === 'string')
    return refuse(visit, { sent, text: words.problems[wanted], field: PROBLEM_FIELDS[wanted] });
  const hasKey = Object.keys(wanted.secrets).length > 0;
  if (hasKey && !services.catalogEditor.keepsSecrets)
    return refuse(visit, { sent, text: words.noSecretsKey, field: 'key' });
  const saved = await services.catalogEditor.save({
    seen: Number(sent.text('seen')),
    part: setUpstream(part, name, wanted.upstream),
    secrets: wanted.secrets,
    user: signedIn.user.id,
    note: `upstream.change ${name}`,
  });
  if (saved.status !== 'saved') return refuse(visit, { sent, text: '' }, describeRefusal(visit, saved));
  const detail = { base_url: wanted.upstream.settings.baseUrl, key: hasKey ? 'replaced' : 'kept' };
  await audit(visit, { action: 'upstream.change', target: name, detail });
  return { to: `/admin/upstreams/${encodeURIComponent(name)}?${SAVED}` };
}

async function removeByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services, signedIn } = visit;
  const { name, part } = await findOwn(visit);
  const saved = await services.catalogEditor.save({
    seen: Number(sent.text('seen')),
    part: removeUpstream(part, name),
    user: signedIn.user.id,
    note: `upstream.remove ${name}`,
  });
  if (saved.status !== 'saved') return refuse(visit, { sent, text: '' }, describeRefusal(visit, saved));
  // Another one of this name is not paused.
  if (findPause(visit, name)) await services.catalogEditor.setPause(name, false, signedIn.user.id);
  await audit(visit, { action: 'upstream.remove', target: name });
  return { to: `/admin/upstreams?${SAVED}` };
}

/** Throws 404 for an upstream that a file defines. */
async function findOwn(visit: UserVisit) {
  const found = await findUpstream(visit);
  const before = found.part.upstreams?.[found.name];
  if (!before) throw fault('not_found');
  return { ...found, before };
}

async function refuse(visit: UserVisit, refused: Refused, notice?: Html): Promise<Page> {
  const again = { ...visit, refused };
  return { ...(await upstreamPage(again, { notice: notice ?? refusalMessage(again) })), status: 400 };
}

async function upstreamPage(
  visit: UserVisit,
  { notice, model }: { readonly notice?: Html | undefined; readonly model?: string } = {},
): Promise<Page> {
  const { services, language, format } = visit;
  const words = UPSTREAM_WORDS[language];
  const { name, version, part } = await findUpstream(visit);
  const { file, upstreams } = services.catalogParts();
  const open = upstreams.get(name);
  const faults = await readLastFaults(services.store, services.now());
  const facts = definitionList([
    [words.plugin, html`<code>${file.upstreams[name]?.plugin ?? ''}</code>`],
    [words.address, html`<code>${open?.origin ?? '—'}</code>`],
    [words.from, describeSource(visit, `upstreams.${name}`)],
    [words.state, open ? pauseState(visit, name) : describeState(visit, name)],
    [words.keys, format.number(open?.keyHealth().keys ?? 0)],
    [words.lastFault, lastFault(visit, faults, name) ?? words.noFault],
  ]);
  const own = part.upstreams?.[name];
  const body = html`${notice}${savedMessage(visit)}${catalogBar(visit)}${await failureMessage(visit)}
${await pausedBars(visit, [name])}${pauseMessages(visit, name)}
${facts}
${open && listForm(visit, name)}
${open && testForm(visit, name, model)}
${pauseForm(visit, name)}
${own && settingsForm(visit, { name, own, version })}`;
  return { title: `${words.name} ${name}`, body };
}

function testForm(visit: UserVisit, name: string, model: string | undefined): Html {
  const words = UPSTREAM_WORDS[visit.language];
  const { file, upstreams } = visit.services.catalogParts();
  const isText = upstreams.get(name)?.provider.text !== undefined;
  const routes = file.models.filter(({ type }) => type === 'text').flatMap((each) => each.routes);
  const first = routes.find(({ upstream }) => upstream === name)?.model;
  const field1 = field({ name: 'model', id: 'test-model', label: words.testModel, value: model ?? first });
  return html`<h2>${words.test}</h2><p class="hint">${isText ? words.testText : words.testReach}</p>
${form(visit, {
  action: `/admin/upstreams/${encodeURIComponent(name)}`,
  button: words.testButton,
  fields: html`<input type="hidden" name="change" value="test">${isText && field1}${codeField(visit, 'test')}`,
})}`;
}

function listForm(visit: UserVisit, name: string): Html {
  const words = UPSTREAM_WORDS[visit.language];
  return html`<h2>${words.sell}</h2><p class="hint">${words.sellText}</p>
${form(visit, {
  action: `/admin/upstreams/${encodeURIComponent(name)}/models`,
  button: words.list,
  fields: html`<input type="hidden" name="step" value="list">
${field({ name: 'filter', label: words.filter, optional: true })}${codeField(visit, 'list')}`,
})}`;
}

/** One that is switched off can only be resumed. */
function pauseForm(visit: UserVisit, name: string): Html | undefined {
  const words = UPSTREAM_WORDS[visit.language];
  const isPaused = findPause(visit, name) !== undefined;
  if (!isPaused && !visit.services.catalogParts().upstreams.has(name)) return undefined;
  const change = isPaused ? 'resume' : 'pause';
  const text = isPaused ? words.resumeText : words.pauseText(nameDependents(visit.services.catalog().models, name));
  const button = isPaused ? words.resumeButton : words.pauseButton;
  return html`<h2 id="pause">${isPaused ? words.resumeTitle : words.pauseTitle}</h2><p class="hint">${text}</p>
${form(visit, {
  action: `/admin/upstreams/${encodeURIComponent(name)}`,
  button,
  danger: !isPaused,
  confirm: isPaused ? undefined : `${button}? ${text}`,
  fields: html`<input type="hidden" name="change" value="${change}">${codeField(visit, change)}`,
})}`;
}

const NAMED_MAX = 20;

/** Those of the models that nobody could call without the upstream. */
function nameDependents(models: Catalog['models'], name: string): string {
  const alone = models.filter(({ routes }) => routes.length > 0 && routes.every(({ upstream }) => upstream === name));
  const names = alone.slice(0, NAMED_MAX).map(({ id }) => id);
  return `${names.join(', ')}${alone.length > NAMED_MAX ? ', …' : ''}`;
}

interface Own {
  readonly name: string;
  readonly own: LayerUpstream;
  readonly version: number;
}

function settingsForm(visit: UserVisit, { name, own, version }: Own): Html {
  const { services, language } = visit;
  const words = UPSTREAM_WORDS[language];
  const action = `/admin/upstreams/${encodeURIComponent(name)}`;
  const hidden = (change: string) =>
    html`<input type="hidden" name="change" value="${change}"><input type="hidden" name="seen" value="${version}">`;
  const typed = typedFields(visit, { change: 'settings' });
  const address = typed('url', String(own.settings.baseUrl ?? ''));
  const url = field({ ...address, value: hideAddressSecrets(address.value ?? ''), label: words.url });
  const key = field({
    ...secretField(visit, { change: 'settings' }, { name: 'key', lost: words.keyLost }),
    label: words.key,
    hint: words.keyKept,
    type: 'password',
    optional: true,
  });
  const { models, paused } = services.catalog();
  const removeText = words.removeText(nameDependents(paused?.models ?? models, name));
  return html`<h2>${words.change}</h2>
${!services.catalogEditor.keepsSecrets && html`<p class="hint">${words.noSecretsKey}</p>`}
${form(visit, { action, button: words.changeButton, fields: html`${hidden('settings')}${url}${key}${codeField(visit, 'settings')}` })}
<h2>${words.remove}</h2><p class="hint">${removeText}</p>
${form(visit, {
  action,
  button: words.remove,
  danger: true,
  confirm: `${words.remove}? ${removeText}`,
  fields: html`${hidden('remove')}${codeField(visit, 'remove')}`,
})}`;
}
