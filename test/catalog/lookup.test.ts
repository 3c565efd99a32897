import { expect } from 'chai';
import { type Fault, isFault } from '../../lib/base/faults.ts';
import {
  findEditModel,
  findEmbeddingModel,
  findImageModel,
  findModel,
  findTextModel,
  findUsableModel,
} from '../../lib/catalog/lookup.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { cpuMs } from '../../testkit/event-loop-ticks.ts';
import { itTimed } from '../../testkit/timed.ts';
import { ALL, build, catalogOf, IMAGE, TEXT, VIDEO } from './folder.ts';

const SMART = { lite: 'text-1', standard: 'text-1', heavy: 'text-1' };

describe('look-up of models', () => {
  const catalog = () =>
    build(
      catalogOf({
        models: [{ ...TEXT, aliases: ['small'] }, { ...TEXT, id: 'text-2', routes: [] }, IMAGE, VIDEO],
        retired: { old: 'text-1' },
      }),
    );
  const fail = (name: string): Fault => {
    try {
      findTextModel(catalog(), name);
    } catch (error) {
      if (isFault(error)) return error;
      throw error;
    }
    throw new Error('it was found');
  };

  it('finds a model by id and by alias', () => {
    expect(findTextModel(catalog(), 'text-1').id).to.equal('text-1');
    expect(findTextModel(catalog(), 'small').id).to.equal('text-1');
  });

  it('does not know the names of smart, which is no single model', () => {
    for (const name of ['smart', 'auto']) {
      expect(fail(name).data?.code).to.equal('unknown_model');
      expect(fail(name).message).to.contain(`Unknown model \`${name}\``);
    }
  });

  it('finds models that create and edit images, also by default, and explains why there is none', () => {
    const edits = { ...IMAGE, id: 'edits-1', edits: true };
    const models = [TEXT, IMAGE, edits, { ...IMAGE, id: 'off-1', routes: [] }, { ...edits, id: 'off-2', routes: [] }];
    const defaults = { image: ['off-1', 'image-1'], edit: ['image-1', 'off-2', 'edits-1'] };
    const whole = build(catalogOf({ models, defaults }), { one: ALL });
    const bare = build(catalogOf({ models }), { one: ALL });
    const found = (find: typeof findImageModel, name?: string, catalog = whole) => {
      try {
        return find(catalog, name).id;
      } catch (error) {
        return (error as Fault).data?.code;
      }
    };
    const rows = [
      [undefined, 'image-1', 'edits-1'],
      ['image-1', 'image-1', 'cannot_edit'],
      ['edits-1', 'edits-1', 'edits-1'],
      ['off-1', 'unknown_model', 'cannot_edit'],
      ['off-2', 'unknown_model', 'images_unavailable'],
      ['text-1', 'wrong_model_type', 'wrong_model_type'],
      ['constructor', 'unknown_model', 'unknown_model'],
    ] as const;
    for (const [name, made, edited] of rows) {
      expect([found(findImageModel, name), found(findEditModel, name)], name).to.deep.equal([made, edited]);
    }
    expect(found(findImageModel, undefined, bare)).to.equal('images_unavailable');
    expect(found(findEditModel, undefined, bare)).to.equal('images_unavailable');
  });

  it('names the replacement of a retired model', () => {
    expect(fail('old').message).to.equal('Model `old` is retired. Use `text-1` instead.');
  });

  it('does not name an unusable replacement', () => {
    const message = (models: readonly object[], retired: object) => {
      try {
        findTextModel(build(catalogOf({ models, retired })), 'old');
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error('it was found');
    };
    expect(message([{ ...TEXT, routes: [] }], { old: 'text-1' })).to.equal('Model `old` is retired.');
    expect(message([TEXT], { old: 'nothing' })).to.equal('Model `old` is retired.');
    expect(message([TEXT], { old: 'smart' })).to.equal('Model `old` is retired.');
  });

  it('suggests up to three similar ids, nearest first', () => {
    const models = ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5-max', 'claude-5'].map((id) => ({ ...TEXT, id }));
    const found = build(catalogOf({ models: [...models, { ...TEXT, id: 'gpt-5-off', routes: [] }] }));
    const asked = (name: string) => {
      try {
        findTextModel(found, name);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error('it was found');
    };
    const list = 'See GET /api/v1/models for the list.';
    expect(asked('gpt-5-mino')).to.equal(
      `Unknown model \`gpt-5-mino\`. Did you mean \`gpt-5-mini\`, \`gpt-5\`, \`gpt-5-nano\`? ${list}`,
    );
    expect(asked('GPT5')).to.contain('Did you mean `gpt-5`?');
    expect(asked('claude-5-20260101')).to.contain('Did you mean `claude-5`?');
    expect(asked('gpt-5-off')).not.to.contain('`gpt-5-off`,');
    expect(asked('llama')).to.equal(`Unknown model \`llama\`. ${list}`);
  });

  it('matches parts of an id from four characters on, and tolerates typos by length, in any case', () => {
    const ids = ['ab1', 'Wide-Model', 'kimi-k2-turbo'];
    const models = ids.map((id, at) => ({ ...TEXT, id, aliases: at === 0 ? ['wi', 'ki'] : [] }));
    const found = build(catalogOf({ models }));
    const hint = (name: string) => {
      try {
        findTextModel(found, name);
      } catch (error) {
        return /Did you mean (.*)\?/.exec((error as Fault).message)?.[1];
      }
      throw new Error('it was found');
    };
    const rows: readonly (readonly [name: string, hint: string | undefined])[] = [
      ['tur', undefined],
      ['turb', '`kimi-k2-turbo`'],
      ['imi', undefined],
      // Nor is a short alias a part of every name with its letters.
      ['window', undefined],
      ['skippy', undefined],
      ['wide-model', '`Wide-Model`'],
      ['WIDE', '`Wide-Model`'],
      // One typo in a short name, three in a long one.
      ['ab', '`ab1`'],
      ['a', undefined],
      // As is a pair that changed places.
      ['ba1', '`ab1`'],
      ['b1a', undefined],
      ['wied-madol', '`Wide-Model`'],
      ['wied-mafal', undefined],
      ['wIdemodel-s', '`Wide-Model`'],
      ['wodo-modol', '`Wide-Model`'],
      ['wodo-madol', undefined],
      ['kimo-k3-turba', '`kimi-k2-turbo`'],
      ['komo-k3-turba', undefined],
    ];
    for (const [name, wanted] of rows) expect(hint(name), name).to.equal(wanted);
  });

  it('finds any usable model by id, and suggests others for an unusable one', () => {
    const find = (name: string) => {
      try {
        return findUsableModel(catalog(), name).id;
      } catch (error) {
        const { data, message } = error as Fault;
        return [data?.code, /Did you mean (.*)\?|Use (.*) instead/.exec(message)?.slice(1).join('')];
      }
    };
    expect([find('text-1'), find('small')]).to.deep.equal(['text-1', 'text-1']);
    expect(find('text-2')).to.deep.equal(['no_such_model', '`text-1`']);
    expect(find('image-1')).to.deep.equal(['no_such_model', undefined]);
    expect(find('old')).to.deep.equal(['retired_model', '`text-1`']);
  });

  it('names a model that edits instead of one that does not', () => {
    const edits = { ...IMAGE, id: 'edits-1', edits: true };
    const find = (defaults: object) => () =>
      findEditModel(build(catalogOf({ models: [TEXT, IMAGE, edits], defaults }), { one: ALL }), 'image-1');
    expect(find({ edit: ['edits-1'] })).to.throw(/does not edit them\. Use `edits-1`\.$/);
    expect(find({})).to.throw(/does not edit them\.$/);
  });

  it('finds models of every type for their endpoints, with and without a route', () => {
    const found = build(catalogOf({ models: [TEXT, IMAGE, VIDEO], smart: SMART }));
    expect(findModel(found, 'image-1', 'image').id).to.equal('image-1');
    expect(findModel(found, 'video-1', 'video').routes).to.deep.equal([]);
    expect(() => findModel(found, 'text-1', 'video')).to.throw('Use it with POST /api/v1/messages');
    expect(() => findModel(found, 'smart', 'image')).to.throw('Use it with POST /api/v1/messages');
    expect(() => findModel(found, 'video-1', 'image')).to.throw('Use it with POST /api/v1/videos');
  });

  it('finds models of embeddings, and names their endpoint to others', () => {
    const embeds = { ...ALL, embed: () => undefined } as unknown as typeof ALL;
    const vector = { ...TEXT, id: 'vector-1', type: 'embedding', price: { input: '3' } };
    const found = build(catalogOf({ models: [TEXT, vector, { ...vector, id: 'off', routes: [] }] }), { one: embeds });
    expect(findEmbeddingModel(found, 'vector-1').id).to.equal('vector-1');
    expect(() => findTextModel(found, 'vector-1')).to.throw('Use it with POST /api/v1/embeddings.');
    expect(() => findEmbeddingModel(found, 'text-1')).to.throw('Use it with POST /api/v1/messages');
    expect(() => findEmbeddingModel(found, 'off')).to.throw('Unknown model `off`');
  });

  it('refuses what a key may not use, and names what it may', () => {
    const embeds = { ...ALL, embed: () => undefined } as unknown as typeof ALL;
    const vector = { ...TEXT, id: 'vector-1', type: 'embedding', price: { input: '3' } };
    const found = build(catalogOf({ models: [TEXT, vector] }), { one: embeds });
    const limits = { ...NO_LIMITS, models: ['other-1', 'other-2'] };
    for (const [find, id] of [
      [findTextModel, 'text-1'],
      [findEmbeddingModel, 'vector-1'],
    ] as const) {
      expect(find(found, id, { ...limits, models: ['other-1', id] }).id).to.equal(id);
      expect(() => find(found, id, limits)).to.throw(
        `This API key may not be used for model \`${id}\`. It may be used for \`other-1\`, \`other-2\`.`,
      );
    }
  });

  it('says what is not available without a default model', () => {
    const bare = build(catalogOf({ models: [TEXT] }), { one: ALL });
    expect(() => findImageModel(bare, undefined)).to.throw('Image generation');
    expect(() => findEditModel(bare, undefined)).to.throw('Image editing');
  });

  it('names the endpoint of a model of another type', () => {
    expect(fail('image-1').message).to.contain('Use it with POST /api/v1/images/generations.');
    expect(fail('video-1').message).to.contain('Use it with POST /api/v1/videos.');
  });

  it('does not find unknown models and models without a route', () => {
    for (const name of ['nothing', 'text-2', '', 'TEXT-1', ' text-1', 'constructor', '__proto__', 'toString']) {
      expect(fail(name).data?.code).to.equal('unknown_model');
    }
  });

  it('repeats a name in one short line', () => {
    const { message } = fail(`a\nb\u0000c\u202e${'x'.repeat(5000)}`);
    expect(message).to.match(/^Unknown model `a\?b\?c\?x+…`\. See/);
    expect(message.length).to.be.below(200);
    const emoji = fail(`a${'👋'.repeat(5000)}`).message;
    expect(emoji.length).to.be.below(300);
    expect(Buffer.from(emoji).toString()).to.equal(emoji);
    expect(fail('имя-модели').message).to.contain('`имя-модели`');
  });

  itTimed('is fast for the longest name', () => {
    const name = 'x\n'.repeat(20_000_000);
    const before = cpuMs();
    fail(name);
    expect(cpuMs() - before).to.be.below(500);
  });
});
