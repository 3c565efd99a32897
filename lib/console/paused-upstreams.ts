// What operator pages say of upstreams that operators have paused.
import type { UpstreamPause } from '../catalog/pauses.ts';
import { message } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import { findUserEmails } from './user-emails.ts';
import type { UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    bar: (name: string, who: string, since: string) =>
      `The upstream ${name} has been paused since ${since} (by ${who}). Calls go to other upstreams; models without another one are unavailable.`,
    running: 'on',
    paused: 'paused',
    pause: 'Pause',
    resume: 'Resume',
  },
  ru: {
    bar: (name: string, who: string, since: string) =>
      `Провайдер ${name} на паузе с ${since} (кто поставил: ${who}). Запросы идут к другим провайдерам; модели, которых у них нет, недоступны.`,
    running: 'включён',
    paused: 'на паузе',
    pause: 'Пауза',
    resume: 'Возобновить',
  },
});

export function findPause({ services }: UserVisit, name: string): UpstreamPause | undefined {
  return services.catalog().paused?.upstreams.get(name);
}

/** Names that the catalog no longer has are left out. */
export function listPaused({ services }: UserVisit): readonly string[] {
  const { upstreams } = services.catalogParts().file;
  return [...(services.catalog().paused?.upstreams.keys() ?? [])].filter((name) => Object.hasOwn(upstreams, name));
}

/** A warning for each of them that is paused. */
export async function pausedBars(visit: UserVisit, names = listPaused(visit)): Promise<readonly Html[]> {
  const { services, language, format } = visit;
  const pauses = names.flatMap((name) => {
    const pause = findPause(visit, name);
    return pause ? [{ name, ...pause }] : [];
  });
  const emails = await findUserEmails(
    services.store.users,
    pauses.map(({ by }) => by),
  );
  return pauses.map(({ name, by, at }) =>
    message('error', WORDS[language].bar(name, emails.get(by) ?? by, format.time(at))),
  );
}

/** Whether an upstream that is switched on is paused, with a link to the button that changes it. */
export function pauseState(visit: UserVisit, name: string): Html {
  const words = WORDS[visit.language];
  const isPaused = findPause(visit, name) !== undefined;
  const link = html`<a href="/admin/upstreams/${encodeURIComponent(name)}#pause">${isPaused ? words.resume : words.pause}</a>`;
  return html`${isPaused ? html`<strong>${words.paused}</strong>` : words.running} · ${link}`;
}
