// An embedder's transform for one answer, whose mistakes are told apart from those of the gateway and of upstreams.
import assert from 'node:assert/strict';
import { OperatorError } from '../../base/operator-error.ts';
import { refuseUnknownFields } from '../../base/unknown-fields.ts';
import type { StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

/** Creates an embedder's transform for one answer; it gets every part between the guard and the delivery. */
export type CreateTransform = () => Transform<StreamPart>;

/** Throws an `OperatorError` for a name that is not known, and for transforms that cannot be created. */
export function refuseWrongOptions<Options extends { readonly transforms?: unknown }>(
  options: Options,
  known: readonly (keyof Options & string)[],
): void {
  refuseUnknownFields('options', options, known);
  const { transforms = [] } = options;
  if (!Array.isArray(transforms) || transforms.some((create) => typeof create !== 'function'))
    throw new OperatorError('options: `transforms` must be a list of functions, each of which creates a transform.');
}

/** What the transform throws itself has its own place; what it returns is checked here. */
export function createEmbedderTransform(create: CreateTransform): Transform<StreamPart> {
  const transform: Transform<StreamPart> | undefined = create();
  const name = `the transform of ${create.name || 'a function without a name'}`;
  assert(typeof transform?.push === 'function', `${name} has no push()`);
  const check = (member: string, parts: readonly StreamPart[]) => {
    assert(Array.isArray(parts), `${member}() of ${name} does not return a list of parts; it must not be async`);
    return parts;
  };
  return {
    push: (batch) => check('push', transform.push(batch)),
    end: () => check('end', transform.end?.() ?? []),
    get done() {
      return transform.done === true;
    },
  };
}
