// Lets plugins and recordings say `picture`, as the contract once did, where it now says `image`.
import type { FaultFacts, RefusalCause } from '../contract/fault.ts';
import type { Host } from '../contract/host.ts';
import type { VideoFillOptions } from '../contract/video.ts';

/** Of a cause, and of the format of an image in a recording's call. */
export const FORMER_IMAGE = 'picture';

export function renameCause<Cause extends RefusalCause | string | undefined>(about: Cause): Cause | 'image' {
  return about === FORMER_IMAGE ? 'image' : about;
}

/** Fault words or texts, with their causes renamed. */
export function renameCauses<Words>(words: Words): Words {
  if (typeof words !== 'object' || words === null || !(FORMER_IMAGE in words)) return words;
  const { [FORMER_IMAGE]: image, ...rest } = words;
  return { image, ...rest } as Words;
}

/** A host that answers to the former names as well. */
export function addFormerNames<Given extends Host>(host: Given): Given {
  const { fault, contents, video } = host;
  return {
    ...host,
    fault: { ...fault, make: (kind, detail, facts) => fault.make(kind, detail, renameFacts(facts)) },
    contents: { ...contents, picturesOf: contents.readImages },
    video: { ...video, fill: (call, template, how) => video.fill(call, template, renameOptions(how)) },
  } satisfies Host as Given;
}

function renameFacts(facts: FaultFacts | undefined): FaultFacts | undefined {
  return facts?.about ? { ...facts, about: renameCause(facts.about) } : facts;
}

function renameOptions(how: VideoFillOptions & { readonly isAspectOfPicture?: boolean }): VideoFillOptions {
  return how.isAspectOfPicture ? { ...how, isAspectOfImage: true } : how;
}
