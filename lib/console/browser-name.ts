// The browser and system of a user agent in words, for lists of sessions.
import { defineWords, type Language } from './language.ts';

const WORDS = defineWords({
  en: { on: (browser: string, system: string) => `${browser} on ${system}`, unknown: 'unknown program' },
  ru: { on: (browser: string, system: string) => `${browser}, ${system}`, unknown: 'неизвестная программа' },
});

/** In order: others name Chrome, Chrome names Safari. */
const BROWSERS = [
  ['YaBrowser', /YaBrowser\//],
  ['Edge', /Edg(?:A|iOS)?\//],
  ['Opera', /OPR\/|Opera/],
  ['Samsung Internet', /SamsungBrowser\//],
  ['Firefox', /Firefox\/|FxiOS\//],
  ['Chrome', /Chrome\/|CriOS\//],
  ['Safari', /Version\/[\d.]+ .*Safari\//],
  ['curl', /^curl\//],
] as const;

const SYSTEMS = [
  ['Android', /Android/],
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X|Macintosh/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const;

/** Such as “Firefox on Windows”; an agent that names neither, as it is. */
export function describeBrowser(language: Language, agent: string): string {
  const words = WORDS[language];
  const find = (names: typeof BROWSERS | typeof SYSTEMS) => names.find(([, mark]) => mark.test(agent))?.[0];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser !== undefined && system !== undefined) return words.on(browser, system);
  return browser ?? system ?? (agent === '' ? words.unknown : agent);
}
