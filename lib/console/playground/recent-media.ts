// The account's images and videos of the last day, for those who see all of its calls: nobody knows whose key made which.
import { DAY_MS } from '../../base/durations.ts';
import type { StoredMedia } from '../../store/ports/media.ts';
import { shortTime } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { mayVisit, type OwnerVisit } from '../visit.ts';
import { toLocalPath } from './answer.ts';

const WORDS = defineWords({
  en: { title: 'The last 24 hours', image: (time: string) => `Image, ${time}`, video: 'Video' },
  ru: { title: 'За последние 24 часа', image: (time: string) => `Картинка, ${time}`, video: 'Видео' },
});

/** Images are loaded whole. */
const SHOWN_MAX = 8;

/** Undefined if there are none. */
export async function recentMedia(visit: OwnerVisit): Promise<Html | undefined> {
  const { services, account } = visit;
  if (visit.ownKeys || !mayVisit(visit, '/account/calls')) return undefined;
  const now = services.now();
  const found = await services.store.media.latest(account.id, { now, from: now - DAY_MS, limit: SHOWN_MAX });
  if (found.length === 0) return undefined;
  const words = WORDS[visit.language];
  return html`<h2>${words.title}</h2>
<ul class="strip">${found.map((media) => html`<li>${renderMedia(visit, media)}</li>`)}</ul>`;
}

/** A video shows its time: without a script, its first frame would be loaded with it. */
function renderMedia(visit: OwnerVisit, media: StoredMedia): Html {
  const words = WORDS[visit.language];
  const { services, format } = visit;
  const path = toLocalPath(services.results.buildLink(media));
  if (media.kind === 'video') return html`<a href="${path}">${words.video}, ${shortTime(visit, media.createdAt)}</a>`;
  const alt = words.image(format.moment(media.createdAt, services.now()));
  return html`<a href="${path}"><img src="${path}" alt="${alt}" title="${alt}" loading="lazy"></a>`;
}
