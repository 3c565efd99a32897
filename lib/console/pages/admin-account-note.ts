// The note about an account, on its page for an operator.
import { NOTE_LENGTH_MAX, readNote, replaceNote } from '../../accounts/notes.ts';
import type { Account } from '../../store/ports/accounts.ts';
import { audit } from '../audit.ts';
import { textArea } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { isRefused } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { changeForm } from './account-access.ts';

const WORDS = defineWords({
  en: {
    title: 'Note',
    hint: 'Only operators see it.',
    button: 'Save the note',
    long: `A note has at most ${NOTE_LENGTH_MAX.toLocaleString('en')} characters.`,
    changed: (note: string) =>
      `Somebody has changed the note since you opened it. It is now: “${note}”. Saving replaces it.`,
  },
  ru: {
    title: 'Заметка',
    hint: 'Её видят только операторы.',
    button: 'Сохранить заметку',
    long: `В заметке может быть не больше ${NOTE_LENGTH_MAX} символов.`,
    changed: (note: string) =>
      `Пока вы писали, заметку изменили. Теперь она такая: «${note}». Если сохранить вашу, она её заменит.`,
  },
});

const NAME = 'note';
/** The note as the form showed it. */
const BEFORE = 'before';

export async function noteForm(visit: UserVisit, account: Account): Promise<Html> {
  const words = WORDS[visit.language];
  const note = await readNote(visit.services.store.settings, account.id);
  const value = isRefused(visit, { change: NAME }) ? (visit.refused?.sent.text(NAME) ?? note) : note;
  const area = textArea({
    name: NAME,
    label: words.title,
    value,
    rows: 3,
    max: NOTE_LENGTH_MAX,
    hint: words.hint,
    optional: true,
  });
  return changeForm(visit, account, {
    name: NAME,
    button: words.button,
    fields: html`${area}<input type="hidden" name="${BEFORE}" value="${note}">`,
  });
}

/** Resolves to why it was refused. */
export async function changeNote(visit: UserVisit, { id }: Account, sent: Form): Promise<string | undefined> {
  const words = WORDS[visit.language];
  const { settings } = visit.services.store;
  const read = (name: string) => sent.text(name).replaceAll('\r\n', '\n');
  const note = read(NAME);
  const before = read(BEFORE);
  const now = await readNote(settings, id);
  if (note.length > NOTE_LENGTH_MAX) return words.long;
  if (before !== now && note !== now) return words.changed(now);
  if (note === now) return undefined;
  if (!(await replaceNote(settings, id, { before: now, after: note })))
    return words.changed(await readNote(settings, id));
  await audit(visit, { action: 'account.note', target: id, account: id, detail: { note } });
  return undefined;
}
