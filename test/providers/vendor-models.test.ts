// The list of a vendor's models, in each of the forms that vendors have it.
import { expect } from 'chai';
import type { ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import anthropic from '../../providers/anthropic/index.ts';
import gemini from '../../providers/gemini/index.ts';
import chat from '../../providers/openai-compatible/index.ts';
import responses from '../../providers/openai-responses/index.ts';
import { useVendor } from '../../testkit/vendor.ts';
import { rejection } from '../contract/store/context.ts';

const ORIGIN = 'https://vendor.example';
const KEY = 'sk-test-01234';
const LISTED = { data: [{ id: 'm-2', object: 'model' }, { id: 'm-1' }, { id: 'm-2' }, { id: 7 }, { id: 'a\nb' }] };
const CONTENTS = { models: [{ name: 'models/m-2' }, { name: 'm-1' }] };

const FORMS: readonly (readonly [
  plugin: ProviderPlugin,
  path: string,
  header: string,
  value: string,
  reply: object,
])[] = [
  [chat as ProviderPlugin, '/models', 'authorization', `Bearer ${KEY}`, LISTED],
  [responses as ProviderPlugin, '/models', 'authorization', `Bearer ${KEY}`, LISTED],
  [anthropic as ProviderPlugin, '/v1/models?limit=1000', 'x-api-key', KEY, LISTED],
  [gemini as ProviderPlugin, '/models?pageSize=1000', 'x-goog-api-key', KEY, CONTENTS],
];

for (const [plugin, path, header, value, reply] of FORMS) {
  describe(`models of ${plugin.name}`, () => {
    const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: KEY });
    const list = () => vendor.open().models?.(new AbortController().signal) ?? Promise.reject(new Error('no list'));

    it('are listed once each, in order', async () => {
      vendor.answer(reply, { method: 'GET' });
      expect(await list()).to.deep.equal([{ id: 'm-1' }, { id: 'm-2' }]);
      expect([vendor.sent[0]?.path, vendor.sent[0]?.headers[header]]).to.deep.equal([path, value]);
    });
  });
}

describe('a list of models that is none', () => {
  const vendor = useVendor(chat as ProviderPlugin, ORIGIN, { baseUrl: ORIGIN, apiKey: KEY });
  const list = () => vendor.open().models?.(new AbortController().signal) ?? Promise.resolve([]);

  it('is empty, or the fault of its status', async () => {
    for (const odd of [{}, { data: 'x' }, []]) {
      vendor.answer(odd, { method: 'GET' });
      expect(await list()).to.deep.equal([]);
    }
    vendor.answer({ error: { message: 'no such path' } }, { method: 'GET', status: 404 });
    expect(await rejection(list()))
      .to.have.property('message')
      .that.contains('no such path');
  });
});
