// Words that all pages share which change the catalog: what a save came to, and what it changes.
import { hash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import type { SaveResult } from '../../catalog/editor.ts';
import { type LayerPart, listLayerChanges } from '../../catalog/layer-edits.ts';
import type { ValueChange } from '../../catalog/value-changes.ts';
import { foldAway, message, table } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { UserVisit } from '../visit.ts';
import { describeProblem, describeWarning } from './problem-words.ts';

const WORDS = defineWords({
  en: {
    saved: 'Saved. Every gateway uses it within a few seconds.',
    changed: 'Somebody else has changed the catalog in the meantime. Look at it and try again.',
    refused: 'Not saved: the catalog would not load.',
    failed: (version: string, at: string) =>
      `A gateway could not load version ${version} (${at}) and keeps the one before:`,
    changes: 'What changes',
    savedChanges: 'What changed',
    more: (count: string) => `and ${count} more`,
    nothing: 'Nothing changes.',
    field: 'Field',
    before: 'Before',
    after: 'After',
    none: 'none',
  },
  ru: {
    saved: 'Сохранено. Все шлюзы перейдут на новую версию за несколько секунд.',
    changed: 'Каталог за это время изменил кто-то другой. Проверьте его и повторите.',
    refused: 'Не сохранено: такой каталог не загрузится.',
    failed: (version: string, at: string) =>
      `Один из шлюзов не смог загрузить версию ${version} (${at}) и работает с прежней:`,
    changes: 'Что изменится',
    savedChanges: 'Что изменилось',
    more: (count: string) => `и ещё ${count}`,
    nothing: 'Ничего не изменится.',
    field: 'Поле',
    before: 'Было',
    after: 'Станет',
    none: 'нет',
  },
});

/** A hidden field that says what has been previewed: only that is saved. */
export function previewMark(part: LayerPart): Html {
  return html`<input type="hidden" name="previewed" value="${hash('sha256', JSON.stringify(part))}">`;
}

export function isPreviewed(sent: Form, part: LayerPart): boolean {
  return sent.text('step') === 'save' && sent.text('previewed') === hash('sha256', JSON.stringify(part));
}

/** The query of the page that follows a save. */
export const SAVED = 'done=saved';

export function savedMessage({ query, language }: UserVisit): Html | undefined {
  return query.get('done') === 'saved' ? message('done', WORDS[language].saved) : undefined;
}

/** Why it was not saved. */
export function describeRefusal({ language }: UserVisit, result: Exclude<SaveResult, { status: 'saved' }>): Html {
  const words = WORDS[language];
  if (result.status === 'changed') return message('error', words.changed);
  return refusedMessage(language, result.problem);
}

export function refusedMessage(language: UserVisit['language'], problem: string): Html {
  const known = describeProblem(language, problem);
  const why = known ? known.map((line) => html`<br>${line}`) : html` <code>${problem}</code>`;
  return message('error', html`${WORDS[language].refused}${why}`);
}

/** Undefined if every gateway has loaded the latest version, or has said nothing. */
export async function failureMessage({ services, language, format }: UserVisit): Promise<Html | undefined> {
  const failure = await services.catalogEditor.failure();
  if (!failure) return undefined;
  const words = WORDS[language].failed(format.number(failure.version), format.time(failure.at));
  return message('error', html`${words} <code>${failure.reason}</code>`);
}

/** What a catalog that was tried warns of and the current one does not. */
export function newWarnings({ services, language }: UserVisit, tried: Catalog): readonly Html[] {
  const known = new Set(services.catalog().warnings);
  const fresh = tried.warnings.filter((warning) => !known.has(warning));
  return fresh.map((warning) => message('error', describeWarning(language, warning)));
}

/** More are folded away: new models have ten each, and the button that saves is below. */
const CHANGES_OPEN = 10;

export function changesTable({ language }: UserVisit, before: LayerPart, after: LayerPart): Html {
  const words = WORDS[language];
  const changes = listLayerChanges(before, after);
  if (changes.length === 0) return html`<p>${words.nothing}</p>`;
  const columns = [words.field, words.before, words.after].map((title) => ({ title }));
  const show = (value: ValueChange['before']) => value ?? words.none;
  const rows = changes.map(({ name, before: old, after: now }) => [html`<code>${name}</code>`, show(old), show(now)]);
  return foldAway(words.changes, table(words.changes, columns, rows), rows.length <= CHANGES_OPEN);
}

/** Of a page that shows many saves. */
const SAVED_CHANGES_MAX = 100;

/** What a save has changed, folded away; undefined if nothing. */
export function savedChanges({ language, format }: UserVisit, before: LayerPart, after: LayerPart): Html | undefined {
  const words = WORDS[language];
  const changes = listLayerChanges(before, after);
  if (changes.length === 0) return undefined;
  const show = (value: ValueChange['before']) => value ?? words.none;
  const lines = changes
    .slice(0, SAVED_CHANGES_MAX)
    .map(({ name, before: old, after: now }) => html`<li><code>${name}</code>: ${show(old)} → ${show(now)}</li>`);
  const left = changes.length - lines.length;
  const list = html`<ul>${lines}${left > 0 && html`<li>${words.more(format.number(left))}</li>`}</ul>`;
  return foldAway(words.savedChanges, list);
}
