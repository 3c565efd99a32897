// What a request needs of a model beyond text, and what happens to it at models without those abilities.

import { type Fault, fault } from '../../base/faults.ts';
import type { TextModel } from '../../catalog/model.ts';
import type { OutputFormat } from '../../upstream/contract/provider.ts';
import type { TextRequest } from './request.ts';
import { demandsCertainTool, demandsTool, usesTools } from './tools.ts';

export type Wishes = Pick<TextRequest, 'tools' | 'hasCalls' | 'format' | 'files'>;

/** What a model supports beyond text, on the route it is asked through. */
export type Abilities = Pick<
  TextModel,
  'tools' | 'demands' | 'json' | 'schema' | 'documents' | 'audio' | 'messageFormat'
>;

type Test = (model: Abilities) => boolean;

/** The abilities of the best-suited models, then of less suited ones; any other comes last. */
export function listPreferences(wishes: Wishes): readonly Test[] {
  const tests: Test[] = [];
  const { document, audio } = wishes.files ?? {};
  if (document !== undefined || audio !== undefined) {
    tests.push(
      (model) => (document === undefined || model.documents === true) && (audio === undefined || model.audio === true),
    );
  }
  if (wishes.tools?.predefined) tests.push(({ tools, messageFormat }) => tools && messageFormat === true);
  if (demandsTool(wishes)) tests.push((model) => meetsDemand(model, wishes));
  else if (usesTools(wishes)) tests.push(({ tools }) => tools);
  if (wishes.format?.type === 'json-schema') tests.push(({ schema }) => schema);
  return tests.length > 1 ? [(model) => tests.every((test) => test(model)), ...tests] : tests;
}

/** The best-suited candidates; all if none is suited. */
export function preferAble<Candidate extends { readonly abilities: Abilities }>(
  candidates: readonly Candidate[],
  wishes: Wishes,
): readonly Candidate[] {
  for (const test of listPreferences(wishes)) {
    const able = candidates.filter(({ abilities }) => test(abilities));
    if (able.length > 0) return able;
  }
  return candidates;
}

/** The answer format as the model supports it; undefined if it supports none. */
export function formatFor({ json, schema }: Abilities, format: OutputFormat | undefined): OutputFormat | undefined {
  return (format?.type === 'json-schema' ? schema : json) ? format : undefined;
}

function meetsDemand({ demands }: Abilities, wishes: Pick<Wishes, 'tools'>): boolean {
  return demands === 'named' ? demandsCertainTool(wishes) : demands;
}

/** Why a model cannot answer the request at all; undefined if it can. */
export function findInability(model: string, abilities: Abilities, request: TextRequest): Fault | undefined {
  if (demandsTool(request) && !meetsDemand(abilities, request)) {
    return fault('invalid_field', { field: 'tool_choice', hint: `\`${model}\` ${whyNoDemand(abilities)}` });
  }
  const { predefined } = request.tools ?? {};
  if (predefined && !(abilities.tools && abilities.messageFormat)) {
    const { field, type } = predefined;
    const hint = `is ${type}, which only vendors of the messages format know, and \`${model}\` is at none`;
    return fault('invalid_field', { field, hint: `${hint}: define a tool of your own with \`input_schema\`` });
  }
  const { document, audio } = request.files ?? {};
  if (document !== undefined && !abilities.documents) {
    return fault('invalid_field', { field: document, hint: `is a document, which \`${model}\` does not take` });
  }
  if (audio !== undefined && !abilities.audio) {
    return fault('invalid_field', { field: audio, hint: `is audio, which \`${model}\` does not take` });
  }
  const { format, formatField: field = 'response_format' } = request;
  // A model without any answer formats ignores it.
  if (format?.type !== 'json-schema' || abilities.schema || !abilities.json) return undefined;
  return fault('invalid_field', { field, hint: `\`${model}\` answers in JSON, but keeps to no schema` });
}

function whyNoDemand({ tools, demands }: Abilities): string {
  if (!tools) return 'has no tools that it could call';
  return demands === 'named' ? 'can be required to call a certain tool, not any' : 'calls tools only as it sees fit';
}
