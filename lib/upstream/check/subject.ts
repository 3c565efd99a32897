// What the checks of a plugin work on.
import type { ProviderPlugin } from '../contract/provider.ts';
import type { Never, Recording } from './recording.ts';

/** One check: `run` rejects with what is wrong. */
export interface Check {
  readonly group: string;
  readonly name: string;
  /** Why nothing is checked: the folder has no recording that shows it. */
  readonly unchecked?: string;
  run(): Promise<void>;
}

export interface Subject {
  /** Where the plugin is. */
  readonly folder: string;
  readonly plugin: ProviderPlugin;
  readonly recordings: readonly Recording[];
  /** What the upstream never does. */
  readonly nevers: readonly Never[];
  /** True cuts and truncates every recording at every byte; otherwise only the ordinary one, the others at a sample. */
  readonly thorough: boolean;
}

export const KINDS = ['text', 'embed', 'image', 'video'] as const;

const ORDINARY = {
  text: 'status 200, text and a finish',
  embed: 'status 200 and vectors',
  image: 'status 200 and images',
  video: 'a start with status 200, and a last state that is completed',
};

/** The recording that represents an ordinary answer of a kind. */
export function ordinary<Kind extends Recording['kind']>(
  { recordings }: Subject,
  kind: Kind,
): Extract<Recording, { readonly kind: Kind }> {
  const found = recordings.find((recording) => recording.kind === kind && isOrdinary(recording));
  if (!found) throw new Error(`no recording of kind ${kind} is of an ordinary answer: ${ORDINARY[kind]}`);
  return found as Extract<Recording, { readonly kind: Kind }>;
}

function isOrdinary(recording: Recording): boolean {
  switch (recording.kind) {
    case 'text':
      return recording.reply.status === 200 && Boolean(recording.expect.finish && recording.expect.text);
    case 'embed':
      return recording.reply.status === 200 && recording.expect.vectors !== undefined;
    case 'image':
      return recording.reply.status === 200 && (recording.expect.images?.length ?? 0) > 0;
    case 'video':
      return recording.ref === undefined && recording.expect.states?.at(-1)?.status === 'completed';
  }
}
