// A client of the connect page, and what the lists of clients have in common.
import type { Language } from '../language.ts';

/** What the settings are filled with. */
export interface Connection {
  /** For clients that append `/chat/completions` or `/responses`. */
  readonly v1: string;
  /** For clients that append `/v1/…` themselves. */
  readonly api: string;
  readonly key: string;
  readonly model: string;
  /** Cheaper, for titles and other small tasks. */
  readonly small: string;
}

type Text = Readonly<Record<Language, string>>;

/** A text to paste, or fields to fill in. */
interface Settings {
  /** Where it goes. */
  readonly where: Text;
  readonly paste?: (to: Connection) => string;
  readonly fields?: (to: Connection) => readonly (readonly [label: Text, value: string])[];
}

export interface Client {
  readonly id: string;
  readonly name: string;
  /** The heading in docs/clients.md. */
  readonly heading: string;
  readonly settings: readonly Settings[];
  readonly note?: Text;
}

export const sameInAll = (text: string): Text => ({ en: text, ru: text });
export const inFile = (path: string): Text => ({ en: `In the file ${path}`, ru: `В файле ${path}` });
export const inPackage = (name: string): Text => ({ en: `Package ${name}`, ru: `Пакет ${name}` });
export const TERMINAL: Text = { en: 'In the terminal', ru: 'В терминале' };

export const joinLines = (...all: readonly string[]) => all.join('\n');
