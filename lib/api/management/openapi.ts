// The management API and the API of owners in the API document, made of the table of verbs.

import type { Json } from '../../base/json-schema.ts';
import type { InputFields } from '../../manage/input.ts';
import { REPLY_SCHEMAS } from '../../manage/reply-schemas.ts';
import type { Verb } from '../../manage/verb.ts';
import { VERBS } from '../../manage/verbs.ts';
import { body as defineBody, optional, required } from '../dialects/fields.ts';
import { describeFields } from '../openapi/body.ts';
import { errorResponses } from '../openapi/errors.ts';
import { type Chapter, headers, json } from '../openapi/schema.ts';
import { MANAGE, OWN } from './routes.ts';

export const MANAGEMENT_TAGS: readonly Json[] = [
  {
    name: 'Management',
    description:
      'What the command line does, for the programs of an operator. Needs a management key (`tg-mk-…`) with the scope that ' +
      'each route names. The reply is what the command prints with `--json`.',
  },
  {
    name: 'Own account',
    description: 'Keys, usage, calls and the wallet of one account, with a management key that its owner has made.',
  },
];

const GET_STATUSES = [400, 401, 403, 404, 429, 500, 503];
const POST_STATUSES = [400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503];
const PAID_STATUSES = [402];

const NAMES: Readonly<Record<string, string>> = {
  account: 'The account. Reads also take its name, if no other has it.',
  key: 'The id of the API key.',
  payment: 'The payment: `pay_…`.',
  hold: 'The hold: `hold_…`.',
  grant: 'The id of the grant.',
  user: 'The email address or the id of the person.',
  request: 'The `x-request-id` of a reply, or the id of a video.',
};

const IDEMPOTENCY_KEY: Json = {
  name: 'idempotency-key',
  in: 'header',
  required: true,
  description:
    'A text of your own, the same for each repeat of the request: the change is made once, and a repeat within 24 hours ' +
    'gets the same reply. A refused request has changed nothing and may be sent again under the same key.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function describeVerb(verb: Verb, path: string, isOwn: boolean): Json {
  const { route, words, summary, description, input, reply } = verb;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const params = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: NAMES[name] ?? name,
    schema: { type: 'string' },
  }));
  const isPost = route.method === 'POST';
  const body = describeBody(input) as { properties: Readonly<Record<string, Json>>; required: readonly string[] };
  const query = Object.entries(body.properties).map(([name, schema]) => {
    const { description: about, ...plain } = schema;
    return { name, in: 'query', required: body.required.includes(name), description: about, schema: dropNull(plain) };
  });
  const hasBody = isPost && Object.keys(input).length > 0;
  const needs = isOwn ? 'account' : route.scope;
  return {
    operationId: `${isOwn ? 'own' : 'manage'}${words.split(/[ -]/).map(capitalize).join('')}`,
    tags: [isOwn ? 'Own account' : 'Management'],
    summary,
    description: [description, `Scope: \`${needs}\`. Command: \`tollgate ${words}\`.`].filter(Boolean).join(' '),
    parameters: [...params, ...(isPost ? [IDEMPOTENCY_KEY] : query)],
    ...(hasBody && { requestBody: { required: body.required.length > 0, content: json(body) } }),
    responses: {
      200: {
        description: 'Done.',
        headers: headers('x-request-id', 'request-id', ...(isPost ? ['idempotent-replayed'] : [])),
        content: json(reply),
      },
      ...errorResponses('message', [
        ...(words === 'hold create' ? PAID_STATUSES : []),
        ...(isPost ? POST_STATUSES : GET_STATUSES),
      ]),
    },
  };
}

/** The JSON schema of a body. */
function describeBody(fields: InputFields): Json {
  const entries = Object.entries(fields).map(([name, { schema, hint, isRequired }]) => [
    name,
    isRequired ? required(schema, hint) : optional(schema, hint),
  ]);
  return { ...describeFields(defineBody(Object.fromEntries(entries))), additionalProperties: false };
}

/** A query has no null. */
function dropNull({ type, enum: values, ...schema }: Json): Json {
  return {
    ...schema,
    ...(type !== undefined && { type: Array.isArray(type) ? type.find((each) => each !== 'null') : type }),
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
  };
}

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function collectPaths(): Readonly<Record<string, Json>> {
  const paths: Record<string, Json> = {};
  const add = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const verb of VERBS) {
    const { path, own } = verb.route;
    const method = verb.route.method.toLowerCase();
    add(`${MANAGE}${path}`, method, describeVerb(verb, path, false));
    if (own !== undefined) add(`${OWN}${own}`, method, describeVerb(verb, own, true));
  }
  return paths;
}

export const managementChapter: Chapter = { paths: collectPaths(), schemas: REPLY_SCHEMAS };
