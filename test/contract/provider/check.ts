// The contract suite of provider plugins: a list of checks for any folder, run by mocha and by `npm run provider:check`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderPlugin } from '../../../lib/plugin/contract.ts';
import { loadPlugin } from '../../../lib/plugin/loader.ts';
import { loadRecordings, type Recording } from '../../helpers/recordings.ts';
import { abortChecks } from './abort.ts';
import { localChecks } from './local.ts';
import { recordingChecks } from './playback.ts';
import { settingsChecks } from './shape.ts';
import { statusChecks } from './status.ts';
import { usesNetwork } from './subject.ts';

/** One check: `run` rejects with what is wrong. */
export interface Check {
  readonly group: string;
  readonly name: string;
  run(): Promise<void>;
}

/** What the checks of a plugin work on. */
export interface Subject {
  readonly plugin: ProviderPlugin;
  readonly recordings: readonly Recording[];
  /** True cuts and ends every recording at every byte; otherwise only the ordinary one, the others at a sample. */
  readonly thorough: boolean;
}

/** Loads the plugin of a folder and lists its checks; throws when it does not load. */
export async function collectChecks(folder: string, { thorough = false } = {}): Promise<readonly Check[]> {
  const plugin = await loadPlugin(folder);
  const subject: Subject = { plugin, recordings: loadRecordings(folder), thorough };
  if (!usesNetwork(plugin)) return [...settingsChecks(subject), ...localChecks(subject)];
  if (subject.recordings.length === 0) {
    const missing = existsSync(join(folder, 'fixtures')) ? 'has no recording' : 'does not exist';
    throw new Error(`${join(folder, 'fixtures')} ${missing}: a plugin is checked against recorded answers`);
  }
  return [...settingsChecks(subject), ...recordingChecks(subject), ...statusChecks(subject), ...abortChecks(subject)];
}

/** The recording that stands for an ordinary answer. */
export function ordinary({ recordings }: Subject): Recording {
  const whole = recordings.find(({ reply, expect }) => reply.status === 200 && expect.finish && expect.text);
  if (!whole) throw new Error('no recording is of an ordinary answer: status 200, text and a finish');
  return whole;
}
