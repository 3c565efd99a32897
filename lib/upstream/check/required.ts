// The recordings that a plugin cannot do without: answers that cost money if they are misread. What an upstream never
// does is said in a file of the fixtures, with the reason.
import assert from 'node:assert/strict';
import type { Provider } from '../contract/provider.ts';
import type { NeverCase, Recording } from './recording.ts';
import type { Check, Subject } from './subject.ts';

interface Required {
  readonly kind: Recording['kind'];
  readonly label: NeverCase;
  readonly name: string;
  /** False where the plugin does not offer it; by default, whatever offers the kind. */
  readonly concerns?: (provider: Provider, recordings: readonly Recording[]) => boolean;
  readonly shows: (recording: Recording) => boolean;
}

const REQUIRED: readonly Required[] = [
  {
    kind: 'text',
    label: 'tool',
    name: 'a call of a tool',
    concerns: ({ tools }) => tools === true,
    shows: ({ kind, expect }) => kind === 'text' && expect.finish === 'tool' && (expect.tools?.length ?? 0) > 0,
  },
  {
    kind: 'text',
    label: 'limit',
    name: 'an answer that reaches the limit',
    shows: ({ kind, expect }) => kind === 'text' && expect.finish === 'length',
  },
  {
    kind: 'text',
    label: 'filtered',
    name: 'an answer that is filtered',
    shows: ({ kind, expect }) => kind === 'text' && expect.finish === 'filter',
  },
  {
    kind: 'text',
    label: 'error',
    name: 'an error under status 200',
    shows: ({ kind, reply, expect: { fault } }) =>
      kind === 'text' && reply.status === 200 && fault !== undefined && fault !== 'truncated' && fault !== 'empty',
  },
  {
    kind: 'image',
    label: 'filtered',
    name: 'an image that is refused for its content',
    shows: ({ kind, expect }) => kind === 'image' && expect.about === 'content',
  },
  {
    kind: 'image',
    label: 'failed',
    name: 'an image whose job fails',
    concerns: (_provider, recordings) => recordings.some(isImageJob),
    shows: (recording) => recording.expect.fault !== undefined && isJobReply(recording),
  },
  {
    kind: 'video',
    label: 'failed',
    name: 'a video whose job fails',
    shows: (recording) => hasFailed(recording, (about) => about !== 'content'),
  },
  {
    kind: 'video',
    label: 'filtered',
    name: 'a video that is refused for its content',
    shows: (recording) =>
      hasFailed(recording, (about) => about === 'content') ||
      (recording.kind === 'video' && recording.expect.about === 'content'),
  },
];

export function requiredChecks({ recordings, nevers }: Subject, provider: Provider): readonly Check[] {
  return REQUIRED.filter(({ kind, concerns }) => provider[kind] && concerns?.(provider, recordings) !== false).map(
    ({ kind, label, name, shows }) => ({
      group: 'recorded',
      name,
      run: async () => {
        const isNever = nevers.some((never) => never.kind === kind && never.case === label);
        const why = `no recording of kind ${kind} shows it; where the upstream has no such thing, say so in a file of the \
fixtures: { "kind": "${kind}", "case": "${label}", "never": "why" }`;
        assert(isNever || recordings.some(shows), why);
      },
    }),
  );
}

function isImageJob(recording: Recording): boolean {
  return recording.expect.fault === undefined && isJobReply(recording);
}

/** The answer to a poll of an image's job. */
function isJobReply({ kind, before, reply }: Recording): boolean {
  return kind === 'image' && before.length > 0 && reply.status === 200;
}

function hasFailed(recording: Recording, isSuch: (about: string | undefined) => boolean): boolean {
  if (recording.kind !== 'video') return false;
  return recording.expect.states?.some(({ status, about }) => status === 'failed' && isSuch(about)) ?? false;
}
