// The routes that may answer a text call, and what is asked of each.
import { fault } from '../../base/faults.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Route, TextModel } from '../../catalog/model.ts';
import { capOutput } from '../../catalog/text-facts.ts';
import { type KeyLimits, NO_LIMITS } from '../../money/key-limits.ts';
import type { CallsAllowed } from '../../stream/guard-options.ts';
import type { FinishPart } from '../../stream/part.ts';
import type { TextCall } from '../../upstream/contract/provider.ts';
import { moveSystemMessages } from '../../upstream/formats/system-messages.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth, RouteRef } from '../health.ts';
import { type Abilities, findInability, formatFor, preferAble } from './abilities.ts';
import { type Caller, nameConversation, orderRoutes, preferStateMaker } from './affinity.ts';
import { addBreakpoints } from './breakpoints.ts';
import { UPSTREAM_ADDITIONS } from './estimate.ts';
import { convertDocumentsToText } from './files.ts';
import { placeAnswerImages } from './history-images.ts';
import { toProviderMessages } from './images.ts';
import { resolveReasoning } from './reasoning.ts';
import type { TextRequest } from './request.ts';
import { findSamplingProblem, toSampling } from './sampling.ts';
import { convertReferencesToText, dropTools, fitFields, usesTools } from './tools.ts';
import { listVisionModels } from './vision.ts';

/** Some models show nothing of their reasoning. */
const FIRST_TOKEN_MS_REASONING = 600_000;

/** A route, and the model that answers on it. */
export interface Candidate extends RouteRef {
  readonly route: Route;
  readonly model: string;
  readonly delivery: TextModel['delivery'];
  /** Input tokens that its upstream may add to the prompt. */
  readonly additions: number;
  /** How long the first content may take; undefined: as long as with any model. */
  readonly firstTokenMs: number | undefined;
  /** What the model supports on the route; `tools` is false if the request has no tools. */
  readonly abilities: RouteAbilities;
  /** Opaque; undefined where no choice depends on it. */
  readonly conversation: string | undefined;
}

type RouteAbilities = Abilities &
  Pick<TextModel, 'reasoning' | 'sampling' | 'cache' | 'maxOutput' | 'vision'> & {
    /** System messages between others stay where they are. */
    readonly systemMessages: boolean;
    /** Images of earlier answers stay where they are. */
    readonly answerImages: boolean;
  };

interface Choosing {
  readonly request: TextRequest;
  readonly model: TextModel;
  readonly catalog: Catalog;
  readonly health: RouteHealth;
  readonly caller: Caller;
  readonly limits?: KeyLimits;
}

/**
 * The routes of the model; for a call with images those of the models that see. Routes that lack what the request needs
 * are tried only if there are no others.
 */
export function findCandidates(choosing: Choosing): readonly Candidate[] {
  const { request, model, catalog, limits = NO_LIMITS } = choosing;
  const find = (models: readonly TextModel[]) => preferAble(listCandidates(models, choosing), request);
  if (request.images === 0) return preferStateMaker(find([model]), request);
  const models = listVisionModels(catalog, model, limits);
  const others = find(models.filter((each) => each !== model));
  if (!models.includes(model)) return preferStateMaker(others, request);
  // The requested model sees images itself, so it comes first even if others suit the request better.
  const able = others.filter((each) => !findInability(each.model, each.abilities, request));
  return [...preferStateMaker(find([model]), request), ...able];
}

function listCandidates(models: readonly TextModel[], { request, health, caller }: Choosing): readonly Candidate[] {
  return models.flatMap((each) => {
    const conversation = nameConversation(each, request, caller);
    return orderRoutes(each, conversation, health).map((route) => {
      const { id, delivery, reasoning, upstreamAdditions: additions = UPSTREAM_ADDITIONS } = each;
      const { upstream, key } = route;
      const abilities = findAbilities(each, route, request);
      const firstTokenMs = each.firstTokenMs ?? (reasoning ? FIRST_TOKEN_MS_REASONING : undefined);
      return { upstream, key, route, model: id, delivery, additions, firstTokenMs, abilities, conversation };
    });
  });
}

function findAbilities(model: TextModel, { provider }: Route, request: TextRequest): RouteAbilities {
  const { json, schema, reasoning, sampling, cache, maxOutput, vision } = model;
  const tools = usesTools(request) && model.tools && provider.tools === true;
  const documents = model.documents === true && provider.documents === true;
  const audio = model.audio === true && provider.audio === true;
  const messageFormat = provider.messageFormat === true;
  // Of models behind the messages format, only some take them.
  const systemMessages = provider.systemMessages === true && !(messageFormat && request.hasSystemAnywhere === true);
  const answerImages = provider.answerImages === true;
  const demands = tools && model.demands;
  const taken = { tools, demands, json, schema, reasoning, documents, audio, vision };
  return { ...taken, messageFormat, sampling, cache, maxOutput, systemMessages, answerImages };
}

export function refuseUnable(request: TextRequest, candidates: readonly Candidate[]): void {
  const [first] = candidates;
  const takesSampling = candidates.some(({ abilities }) => abilities.sampling);
  const refusal =
    (first && findInability(first.model, first.abilities, request)) ??
    (takesSampling && request.sampling ? findSamplingProblem(request.sampling) : undefined);
  if (refusal) throw refusal;
}

/** Which tool calls the client gets; others are hidden. */
export function allowCalls({ tools }: TextRequest, abilities: RouteAbilities): CallsAllowed {
  if (!abilities.tools) return 'none';
  return tools?.single ? 'one' : 'any';
}

/** At most `outputMax` tokens, and as many as the answering model gives. */
export function createCall(
  request: TextRequest,
  abilities: RouteAbilities,
  outputMax: number,
): Omit<TextCall, 'model' | 'options'> {
  const maxTokens = capOutput(abilities, outputMax);
  const { system, images, answerImages = 0, tools, reasoning, stops, cacheKey, cacheRetention } = request;
  const { messageFields, betas, sampling, modalities, verbosity } = request;
  const call: Omit<TextCall, 'model' | 'options'> = {
    messages: toProviderMessages({ messages: fitMessages(request, abilities), images: images + answerImages }),
    maxTokens,
    system,
    tools: abilities.tools && tools ? fitFields(tools, abilities) : undefined,
    format: formatFor(abilities, request.format),
    reasoning: reasoning && abilities.reasoning ? resolveReasoning(reasoning, maxTokens) : undefined,
    ...(abilities.reasoning && { mayReason: true }),
    stops,
    ...(sampling && abilities.sampling && { sampling: toSampling(sampling) }),
    ...(verbosity && { verbosity }),
    ...(modalities && abilities.answerImages && { modalities }),
    ...(cacheKey !== undefined && { cacheKey }),
    ...(cacheRetention !== undefined && { cacheRetention }),
    ...(abilities.messageFormat && messageFields && { messageFields }),
    ...(abilities.messageFormat && betas && { betas }),
  };
  const placed = abilities.systemMessages ? call : moveSystemMessages(call);
  return abilities.cache === 'auto' ? addBreakpoints(placed) : placed;
}

/** Without what the model, or its vendor, does not take. */
function fitMessages(request: TextRequest, abilities: RouteAbilities): TextRequest['messages'] {
  const { answerImages = 0, files, hasReferences } = request;
  const messages = abilities.tools ? request.messages : dropTools(request);
  const takesReferences = abilities.tools && abilities.messageFormat;
  const plain = hasReferences && !takesReferences ? convertReferencesToText(messages) : messages;
  const readable = files && !abilities.documents ? convertDocumentsToText(plain) : plain;
  return answerImages > 0 ? placeAnswerImages(readable, abilities) : readable;
}

/** Why no vision model answered: what the client can fix is passed on unchanged. */
export function asVisionFailure(ending: Ending<FinishPart>): Ending<FinishPart> {
  if (ending.type !== 'error' || ending.fault.data?.retryable === false) return ending;
  return { type: 'error', fault: fault('vision_unavailable', {}, ending.fault.cause) };
}
