// The contract suite of provider plugins: a list of checks for any folder, run by `tollgate provider check` and by tests.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Provider, ProviderPlugin } from '../contract/provider.ts';
import { loadPlugin } from '../host/loader.ts';
import { createProvider } from '../host/settings.ts';
import { abortChecks } from './abort.ts';
import { afterChecks } from './after.ts';
import { askingChecks } from './asking.ts';
import { caseChecks } from './cases.ts';
import { chargingCheck } from './charging.ts';
import { embedChecks } from './embed.ts';
import { firstCallChecks } from './first-call.ts';
import { loadWriteFrame } from './frames.ts';
import { limitChecks } from './limits.ts';
import { localChecks } from './local.ts';
import { longPieceChecks } from './long-pieces.ts';
import { recordingChecks } from './playback.ts';
import { loadNevers, loadRecordings, type Recording } from './recording.ts';
import { requiredChecks } from './required.ts';
import { sendingChecks } from './sending.ts';
import { toolSendingChecks } from './sending-tools.ts';
import { settingsChecks } from './shape.ts';
import { settingsAt, UNUSED_URL, usesNetwork } from './stage.ts';
import { statusChecks } from './status.ts';
import { streamChecks } from './stream.ts';
import type { Check, Subject } from './subject.ts';
import { KINDS, ordinary } from './subject.ts';
import { videoChecks } from './video.ts';

export type { Check } from './subject.ts';

/** Loads the plugin in a folder and lists its checks; throws if it does not load, or has no recordings. */
export async function collectChecks(folder: string, { thorough = false } = {}): Promise<readonly Check[]> {
  const plugin = await loadPlugin(folder);
  const subject: Subject = {
    folder: realpathSync(folder),
    plugin,
    recordings: loadRecordings(folder, await loadWriteFrame(folder)),
    nevers: loadNevers(folder),
    thorough,
  };
  if (!usesNetwork(plugin)) return [...settingsChecks(subject), ...localChecks(subject)];
  if (subject.recordings.length === 0) {
    const missing = existsSync(join(folder, 'fixtures')) ? 'has no recording' : 'does not exist';
    throw new Error(`${join(folder, 'fixtures')} ${missing}: a plugin is checked against recorded answers`);
  }
  const provider = await createOnce(plugin, subject.recordings[0] as Recording);
  const kinds = KINDS.filter((kind) => provider[kind] !== undefined);
  for (const kind of kinds) ordinary(subject, kind);
  return [
    ...settingsChecks(subject),
    ...requiredChecks(subject, provider),
    ...limitChecks(subject),
    // First, because what blocks takes its time in every other check.
    ...kinds.flatMap((kind) => firstCallChecks(subject, kind)),
    ...recordingChecks(subject),
    ...kinds.flatMap((kind) => [
      ...askingChecks(subject, kind),
      ...sendingChecks(subject, kind, provider),
      ...(kind === 'text' && provider.tools ? toolSendingChecks(subject) : []),
      chargingCheck(subject, kind),
      ...longPieceChecks(subject, kind),
      ...(kind === 'text' ? [...streamChecks(subject), ...caseChecks(subject, provider)] : []),
      ...(kind === 'embed' ? embedChecks(subject) : []),
      ...(kind === 'video' ? videoChecks(subject, provider) : []),
      ...statusChecks(subject, kind),
      ...abortChecks(subject, kind),
      ...afterChecks(subject, kind),
    ]),
  ];
}

/** For its capabilities; one that cannot be created fails the checks of its settings. */
async function createOnce(plugin: ProviderPlugin, { settings }: Recording): Promise<Provider> {
  const open = createProvider({
    plugin,
    upstream: 'check',
    settings: settingsAt(UNUSED_URL, plugin, settings),
    log: { warn() {} },
  });
  await open.close();
  return open.provider;
}
