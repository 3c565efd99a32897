// Notices that an upstream is at work: text, reasoning, a piece of a call, also of one that waits for its turn.
import type { ErrorPart, ProviderPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

export interface ProgressOptions {
  /** Content has arrived. Counts, comments and pings are none. */
  readonly onContent: () => void;
  /** The upstream has given its reason to end, and none before that content followed. */
  readonly onFinish: () => void;
}

type Incoming = ProviderPart | ErrorPart;

/** Passes everything on. */
export function createProgress({ onContent, onFinish }: ProgressOptions): Transform<Incoming> {
  let isFinished = false;
  /** Content followed a finish, so the next one may not be the last. */
  let isFollowed = false;
  return {
    push(batch) {
      let hasContent = false;
      let hasFinish = false;
      for (const part of batch) {
        if (part?.type === 'finish') hasFinish = true;
        else if (isContent(part)) {
          hasContent = true;
          isFollowed ||= isFinished || hasFinish;
        }
      }
      if (hasContent) onContent();
      isFinished ||= hasFinish;
      if (hasFinish && !isFollowed) onFinish();
      return batch;
    },
  };
}

function isContent(part: Incoming): boolean {
  switch (part?.type) {
    case 'block-delta':
      return part.text !== '';
    case 'block-start':
      return part.block?.type === 'tool';
    case 'block-state':
    case 'alive':
      return true;
    default:
      return false;
  }
}
