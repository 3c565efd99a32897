import { expect } from 'chai';
import { routeSmart } from '../../../lib/calls/smart/route.ts';
import { chooseModel, findLeastPrice, listEligibleModels } from '../../../lib/calls/text/choice.ts';
import { computeHold } from '../../../lib/calls/text/hold.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';
import { buildCatalog, type Catalog } from '../../../lib/catalog/catalog.ts';
import type { TextModel } from '../../../lib/catalog/model.ts';
import type { SmartEntry, TextEntry } from '../../../lib/catalog/schema.ts';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';
import type { Provider } from '../../../lib/upstream/contract/provider.ts';
import { NO_ABILITIES } from './stage.ts';

const IDS = ['small', 'middle', 'big'];
const TIERS: SmartEntry = { lite: ['small'], standard: ['middle'], heavy: ['big'] };

type Able = Readonly<Record<string, Partial<Pick<TextEntry, 'tools' | 'demands' | 'json' | 'schema'>>>>;

function catalogOf(smart: SmartEntry = TIERS, usable: readonly string[] = IDS, able: Able = {}): Catalog {
  const provider: Provider = {
    tools: true,
    async *text() {
      yield [];
    },
  };
  const models = IDS.map((id) => ({
    id,
    aliases: [`${id}-alias`],
    type: 'text' as const,
    provider: 'Test',
    order: 'listed' as const,
    delivery: 'stream' as const,
    ...NO_ABILITIES,
    ...able[id],
    price: { input: '1', output: '2' },
    routes: [{ upstream: usable.includes(id) ? 'up' : 'off', model: id, options: {} }],
  }));
  const upstream = { plugin: 'test', settings: {}, sandbox: false };
  const defaults = { image: [], edit: [] };
  const upstreams = { up: upstream, off: upstream };
  const open = new Map([['up', { provider, origin: undefined }]]);
  return buildCatalog({ upstreams, payments: {}, models, smart, vision: [], defaults, retired: {} }, open);
}

function ask(text: string, model = 'smart'): TextRequest {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
  return { model, system: undefined, messages, messageCount: 1, images: 0, maxTokens: 100, stream: false };
}

const PROMPTS = {
  lite: 'translate: «write a quicksort»',
  standard: 'Напиши письмо поставщику о задержке оплаты',
  heavy: 'write a quicksort',
} as const;

/** The id of the model that is chosen, or the message that says why there is none. */
function chosen(models: readonly string[] | null, tier: keyof typeof PROMPTS, name?: string): string {
  try {
    return chooseModel(catalogOf(), ask(PROMPTS[tier], name), { ...NO_LIMITS, models }).model.id;
  } catch (error) {
    return (error as Error).message;
  }
}

const asRouted = ({ messages }: TextRequest) => ({ messages });

describe('choice of the model', () => {
  it('takes no model that the key may not be used for: smart goes up, then down', () => {
    expect(chosen(['middle'], 'lite')).to.equal('middle');
    expect(chosen(['big'], 'lite')).to.equal('big');
    expect(chosen(['small'], 'heavy')).to.equal('small');
    expect(chosen(['small', 'middle-alias'], 'heavy')).to.equal('middle');
    expect(chosen(['small', 'big'], 'standard')).to.equal('big');
    expect(chosen(['small-alias'], 'standard', 'small')).to.equal('small');
    const words = 'This API key may not be used for model';
    expect(chosen(['small'], 'lite', 'big-alias')).to.equal(`${words} \`big\`. It may be used for \`small\`.`);
    expect(chosen(['a', 'b'], 'lite')).to.equal(`${words} \`smart\`. It may be used for \`a\`, \`b\`.`);
  });

  it('takes models for smart that can do what is asked for, of the tier, above it, then below it', () => {
    const tools = { list: [{ name: 'f', schema: {} }], text: 'f' };
    const format = { type: 'json-schema', name: 'answer', schema: {} } as const;
    const smart = { lite: ['small', 'middle'], standard: ['middle'], heavy: ['big'] };
    const chosenOf = (able: Able, wishes: Partial<TextRequest>, tier: keyof typeof PROMPTS = 'lite') =>
      chooseModel(catalogOf(smart, IDS, able), { ...ask(PROMPTS[tier]), ...wishes }).model.id;
    expect(chosenOf({ middle: { schema: true } }, {})).to.equal('small');
    expect(chosenOf({ middle: { schema: true } }, { format: { type: 'json' } })).to.equal('small');
    expect(chosenOf({ middle: { schema: true } }, { format })).to.equal('middle');
    expect(chosenOf({ small: { schema: true } }, { format }, 'heavy')).to.equal('small');
    expect(chosenOf({ big: { schema: true }, small: { json: true } }, { format })).to.equal('big');
    expect(chosenOf({ small: { json: true } }, { format })).to.equal('small');
    const able = { small: { schema: true }, middle: { tools: true }, big: { tools: true, schema: true } };
    expect(chosenOf(able, { tools })).to.equal('middle');
    expect(chosenOf(able, { tools, format })).to.equal('big');
    expect(chosenOf({ ...able, big: {} }, { tools, format })).to.equal('middle');
    const demand = { tools: { ...tools, choice: 'any' as const } };
    expect(chosenOf({ middle: { tools: true }, big: { tools: true, demands: true } }, demand)).to.equal('big');
  });

  it('says of smart what was scored, whichever model the key leaves', () => {
    const { model, smart } = chooseModel(catalogOf(), ask(PROMPTS.lite), { ...NO_LIMITS, models: ['big'] });
    expect([model.id, smart?.tier]).to.deep.equal(['big', 'lite']);
  });

  it('knows before the text is there which models it may come to', () => {
    const idsOf = (models: readonly string[] | null, name: string) =>
      listEligibleModels(catalogOf(), { model: name }, { ...NO_LIMITS, models }).map(({ id }) => id);
    expect(idsOf(null, 'smart')).to.deep.equal(IDS);
    expect(idsOf(['big', 'small'], 'auto')).to.deep.equal(['small', 'big']);
    expect(idsOf(['big'], 'big-alias')).to.deep.equal(['big']);
    expect(() => idsOf(['big'], 'small')).to.throw('may not be used for model `small`');
    expect(() => idsOf(['x'], 'smart')).to.throw('may not be used for model `smart`');
  });

  for (const [tier, prompt] of Object.entries(PROMPTS)) {
    it(`takes the model of ${tier}, and says how`, () => {
      const catalog = catalogOf();
      const { model, smart } = chooseModel(catalog, ask(prompt));
      expect(model.id).to.equal({ lite: 'small', standard: 'middle', heavy: 'big' }[tier]);
      expect(smart).to.deep.equal(routeSmart(asRouted(ask(prompt))));
      expect(smart).to.have.all.keys('tier', 'score', 'signals');
      expect(smart?.tier).to.equal(tier);
      expect(chooseModel(catalog, ask(prompt, 'auto'))).to.deep.equal({ model, smart });
    });

    it(`keeps ${tier} as scored when another tier has to answer`, () => {
      for (const id of IDS) {
        const { model, smart } = chooseModel(catalogOf(TIERS, [id]), ask(prompt));
        expect([model.id, smart?.tier]).to.deep.equal([id, tier]);
      }
    });
  }

  it('judges what was asked for, not the exchange with tools that follows it', () => {
    const request = ask(PROMPTS.heavy);
    const call = { type: 'tool-call', id: 'call_1', name: 'find', json: '{}' } as const;
    const result = { type: 'tool-result', id: 'call_1', content: [{ type: 'text', text: 'found' }] } as const;
    const talk = [
      ...request.messages,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ] as unknown as TextRequest['messages'];
    const { smart } = chooseModel(catalogOf(), { ...request, messages: talk, hasCalls: true });
    expect(smart).to.deep.equal(routeSmart(asRouted(request)));
  });

  it('judges nothing that the gateway adds itself', () => {
    const given = ask(PROMPTS.heavy);
    const added = ask('Summarize this conversation.').messages.map((each) => ({
      ...each,
      isFromGateway: true as const,
    }));
    const messages = [...given.messages, ...added];
    expect(chooseModel(catalogOf(), { ...given, messages }).smart).to.deep.equal(chooseModel(catalogOf(), given).smart);
  });

  it('judges the system prompt and the wish for JSON, too', () => {
    const order = 'Translate what the user writes into French.';
    const request = {
      ...ask(PROMPTS.standard),
      system: [{ type: 'text' as const, text: order }],
      format: { type: 'json' } as const,
    };
    const { messages } = request;
    const { smart } = chooseModel(catalogOf(), request);
    expect(smart).to.deep.equal(routeSmart({ system: order, messages, json: true }));
    for (const less of [
      { messages, json: true },
      { system: order, messages },
    ]) {
      expect(smart).not.to.deep.equal(routeSmart(less));
    }
  });

  it('prices a call by the cheapest model that it may come to, whatever its estimate', () => {
    const [small, , big] = IDS.map((id) => chooseModel(catalogOf(), ask('', id)).model);
    const catalog = catalogOf();
    for (const tokensHeld of [undefined, 500]) {
      const request = { ...ask('hi'), ...(tokensHeld && { estimate: { tokensHeld } }) } as TextRequest;
      const hold = computeHold(small as TextModel, { tokensHeld: tokensHeld ?? 0, maxTokens: 100 });
      expect(findLeastPrice(catalog, request, NO_LIMITS)).to.deep.equal({ kind: 'text', amount: hold });
      const only = findLeastPrice(catalog, { ...request, model: 'big' }, NO_LIMITS);
      expect(only.amount).to.equal(computeHold(big as TextModel, { tokensHeld: tokensHeld ?? 0, maxTokens: 100 }));
    }
  });

  it('cuts the score by the thresholds of the catalog', () => {
    const tierAt = (thresholds: { standard: number; heavy: number }, prompt: string) => {
      const { model, smart } = chooseModel(catalogOf({ ...TIERS, thresholds }), ask(prompt));
      expect(model.id).to.equal({ lite: 'small', standard: 'middle', heavy: 'big' }[smart?.tier ?? 'lite']);
      return smart?.tier;
    };
    for (const prompt of Object.values(PROMPTS)) {
      expect(tierAt({ standard: 0, heavy: 100.5 }, prompt)).to.equal('standard');
      expect(tierAt({ standard: -2, heavy: -1 }, prompt)).to.equal('heavy');
      const { score } = routeSmart(asRouted(ask(prompt)));
      expect(tierAt({ standard: score, heavy: score + 0.1 }, prompt)).to.equal('standard');
      expect(tierAt({ standard: score + 0.1, heavy: score + 0.2 }, prompt)).to.equal('lite');
    }
  });

  it('reads nothing of a request that names its model', () => {
    for (const name of ['small', 'middle-alias']) {
      const request = { ...ask('', name) };
      Object.defineProperty(request, 'messages', {
        get: () => {
          throw new Error('the messages were read');
        },
      });
      const { model, smart } = chooseModel(catalogOf(), request);
      expect([model.id, smart]).to.deep.equal([name.replace('-alias', ''), undefined]);
    }
  });

  it('does not know smart in another spelling, nor without a usable tier', () => {
    for (const name of ['Smart', 'SMART', 'Auto', 'smart ', 'smart-2']) {
      expect(() => chooseModel(catalogOf(), ask('hi', name))).to.throw(`Unknown model \`${name}\``);
    }
    const none: SmartEntry = { lite: [], standard: [], heavy: [] };
    for (const catalog of [catalogOf(none), catalogOf(TIERS, [])]) {
      for (const name of ['smart', 'auto']) {
        expect(() => chooseModel(catalog, ask('hi', name))).to.throw(`Unknown model \`${name}\``);
      }
    }
  });

  it('has a model for a request whose only content is an image', () => {
    const { model, smart } = chooseModel(catalogOf(), { ...ask(''), messages: [], images: 1 });
    expect(IDS).to.include(model.id);
    expect(smart).to.deep.equal(routeSmart({ messages: [] }));
  });
});
