import { expect } from 'chai';
import {
  type Abilities,
  findInability,
  formatFor,
  preferAble,
  type Wishes,
} from '../../../lib/calls/text/abilities.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';

const NONE: Abilities = { tools: false, demands: false, json: false, schema: false };
const SCHEMA = { type: 'json-schema', name: 'n', schema: {} } as const;
const JSON_ONLY = { type: 'json' } as const;
const tools = (choice: 'auto' | 'any' | { readonly name: string }) => ({ list: [], choice, text: '' });

/** Ways with these abilities, by name. */
const WAYS = Object.entries({
  plain: {},
  tools: { tools: true },
  demands: { tools: true, demands: true },
  schema: { json: true, schema: true },
  all: { tools: true, demands: true, json: true, schema: true },
}).map(([name, abilities]) => ({ name, abilities: { ...NONE, ...abilities } }));

const preferred = (wishes: object, ways = WAYS) => preferAble(ways, wishes as Wishes).map(({ name }) => name);

describe('abilities', () => {
  it('choose the ways that can do all that is asked for', () => {
    expect(preferred({})).to.deep.equal(WAYS.map(({ name }) => name));
    expect(preferred({ format: JSON_ONLY })).to.deep.equal(WAYS.map(({ name }) => name));
    expect(preferred({ tools: tools('auto') })).to.deep.equal(['tools', 'demands', 'all']);
    expect(preferred({ hasCalls: true })).to.deep.equal(['tools', 'demands', 'all']);
    expect(preferred({ tools: tools('any') })).to.deep.equal(['demands', 'all']);
    expect(preferred({ tools: tools({ name: 'find' }) })).to.deep.equal(['demands', 'all']);
    expect(preferred({ format: SCHEMA })).to.deep.equal(['schema', 'all']);
    expect(preferred({ tools: tools('any'), format: SCHEMA })).to.deep.equal(['all']);
  });

  it('choose by the tools where no way can do everything, then by the schema, and leave all where none can', () => {
    const wishes = { tools: tools('any'), format: SCHEMA };
    expect(preferred(wishes, WAYS.slice(0, 4))).to.deep.equal(['demands']);
    expect(preferred(wishes, [WAYS[0], WAYS[1], WAYS[3]] as typeof WAYS)).to.deep.equal(['schema']);
    expect(preferred(wishes, WAYS.slice(0, 2))).to.deep.equal(['plain', 'tools']);
  });

  it('choose the ways that take what files and which tools of a vendor a request has', () => {
    const FILES = Object.entries({
      plain: { tools: true },
      documents: { documents: true },
      audio: { audio: true },
      both: { documents: true, audio: true },
      vendor: { tools: true, messageFormat: true },
      bare: { messageFormat: true },
    }).map(([name, abilities]) => ({ name, abilities: { ...NONE, ...abilities } }));
    const [document, audio] = ['messages[0]', 'messages[1]'];
    expect(preferred({ files: {} }, FILES)).to.have.length(6);
    expect(preferred({ files: { document } }, FILES)).to.deep.equal(['documents', 'both']);
    expect(preferred({ files: { audio } }, FILES)).to.deep.equal(['audio', 'both']);
    expect(preferred({ files: { document, audio } }, FILES)).to.deep.equal(['both']);
    const predefined = { field: 'tools[0].type', type: 'bash_20250124' };
    expect(preferred({ tools: { ...tools('auto'), predefined } }, FILES)).to.deep.equal(['vendor']);
    const why = (abilities: Partial<Abilities>, request: object) =>
      findInability('m', { ...NONE, ...abilities }, request as TextRequest)?.message;
    expect(why({ audio: true }, { files: { document, audio } })).to.equal(
      'Invalid `messages[0]`: is a document, which `m` does not take.',
    );
    expect(why({ documents: true }, { files: { document, audio } })).to.equal(
      'Invalid `messages[1]`: is audio, which `m` does not take.',
    );
    expect(why({ documents: true, audio: true }, { files: { document, audio } })).to.equal(undefined);
    const own = { tools: { ...tools('auto'), predefined } };
    for (const abilities of [{ tools: true }, { messageFormat: true }]) {
      expect(why(abilities, own)).to.match(
        /^Invalid `tools\[0\]\.type`: is bash_20250124, which .* with `input_schema`\.$/,
      );
    }
    expect(why({ tools: true, messageFormat: true }, own)).to.equal(undefined);
  });

  it('require a call of any tool only where that is possible', () => {
    const certain = { tools: true, demands: 'named' } as const;
    const ways = [{ name: 'certain', abilities: { ...NONE, ...certain } }, ...WAYS];
    const two = { ...tools('any'), list: [{ name: 'find' }, { name: 'look' }] };
    const rows = [
      [tools({ name: 'find' }), true],
      [{ ...tools('any'), list: [{ name: 'find' }] }, true],
      [two, false],
    ] as const;
    for (const [offered, isPossible] of rows) {
      expect(preferred({ tools: offered }, ways).includes('certain')).to.equal(isPossible);
      const refusal = findInability('m', { ...NONE, ...certain }, { tools: offered } as unknown as TextRequest);
      expect(refusal === undefined).to.equal(isPossible);
    }
    const refusal = findInability('m', { ...NONE, ...certain }, { tools: two } as unknown as TextRequest);
    expect(refusal?.message).to.equal('Invalid `tool_choice`: `m` can be required to call a certain tool, not any.');
  });

  it('leave a format to models that support it', () => {
    expect(formatFor({ ...NONE, json: true }, JSON_ONLY)).to.equal(JSON_ONLY);
    expect(formatFor({ ...NONE, schema: true }, SCHEMA)).to.equal(SCHEMA);
    expect(formatFor({ ...NONE, json: true }, SCHEMA)).to.equal(undefined);
    expect(formatFor({ ...NONE, schema: true }, JSON_ONLY)).to.equal(undefined);
    expect(formatFor({ ...NONE, json: true, schema: true }, undefined)).to.equal(undefined);
  });

  it('say what a model cannot do at all', () => {
    const why = (abilities: Partial<Abilities>, request: object) =>
      findInability('m', { ...NONE, ...abilities }, request as TextRequest)?.message;
    const demanding = { tools: tools('any') };
    expect(why({}, demanding)).to.equal('Invalid `tool_choice`: `m` has no tools that it could call.');
    expect(why({ tools: true }, demanding)).to.equal('Invalid `tool_choice`: `m` calls tools only as it sees fit.');
    expect(why({ tools: true, demands: true }, demanding)).to.equal(undefined);
    expect(why({}, { tools: tools('auto') })).to.equal(undefined);
    const refusal = 'answers in JSON, but keeps to no schema.';
    expect(why({ json: true }, { format: SCHEMA })).to.equal(`Invalid \`response_format\`: \`m\` ${refusal}`);
    expect(why({ json: true }, { format: SCHEMA, formatField: 'f' })).to.equal(`Invalid \`f\`: \`m\` ${refusal}`);
    expect(why({ json: true, schema: true }, { format: SCHEMA })).to.equal(undefined);
    expect(why({ json: true }, { format: JSON_ONLY })).to.equal(undefined);
    expect(why({}, { format: SCHEMA })).to.equal(undefined);
  });
});
