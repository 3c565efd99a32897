// Loops of tools over the responses format with real clients, today's and an older one: whole tasks that are paid
// exactly, and several calls at once.
import { expect } from 'chai';
import type OpenAI from 'openai';
import { zodResponsesFunction } from 'openai/helpers/zod';
import { zodResponsesFunction as zodResponsesFunctionOld } from 'openai-v4/helpers/zod';
import { z } from 'zod';
import type { TestAccount } from '../../testkit/gateway.ts';
import { OPENAI_SDKS, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

type Response = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseInputItem;

const STEPS = 10;
const TASK = `Go up, and say where you are. [[tool:climb*${STEPS} {"floors":2}]]`;
const ARGUMENTS = z.object({ floors: z.number() });

/** In micro-roubles: each call by its usage, and at least the minimum. */
function computeCost(responses: readonly Response[]): bigint {
  return responses.reduce((sum, { usage }) => {
    const cost = BigInt(usage?.input_tokens ?? 0) * 1000n + BigInt(usage?.output_tokens ?? 0) * 5000n;
    return sum + (cost > 500_000n ? cost : 500_000n);
  }, 0n);
}

/** Answers the calls of a response until one has none. */
async function runTask(
  task: string,
  respond: (input: Item[]) => Promise<Response>,
  call: (name: string, json: string) => string,
): Promise<readonly Response[]> {
  const input: Item[] = [{ role: 'user', content: task }];
  const responses: Response[] = [];
  for (;;) {
    const response = await respond(input);
    responses.push(response);
    input.push(...(response.output as Item[]));
    const calls = response.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0 || responses.length > STEPS + 1) return responses;
    for (const { call_id, name, arguments: json } of calls) {
      input.push({ type: 'function_call_output', call_id, output: call(name, json) });
    }
  }
}

const readText = (response: Response | undefined) => JSON.stringify(response?.output);

for (const sdk of OPENAI_SDKS) {
  const describeTool = sdk.current ? zodResponsesFunction : (zodResponsesFunctionOld as typeof zodResponsesFunction);
  const CLIMB = describeTool({ name: 'climb', description: 'Goes up.', parameters: ARGUMENTS });

  describe(`tools over responses with ${sdk.name}`, () => {
    let stage: Stage;
    let account: TestAccount;
    let client: OpenAI;

    before(async () => {
      stage = await openStage();
    });
    beforeEach(async () => {
      account = await stage.gateway.account();
      client = sdk.open(stage.gateway, account);
    });
    afterEach(() => stage.gateway.checkMoney());
    after(() => stage.close());

    for (const streams of [false, true]) {
      const how = streams ? 'streaming' : 'not streaming';
      const respond = (tools: OpenAI.Responses.Tool[]) => async (input: Item[]) => {
        const body = { model: SANDBOX_MODEL, max_output_tokens: 500, input, tools, store: false };
        return streams ? client.responses.stream(body).finalResponse() : client.responses.parse(body);
      };

      it(`are called until the task is done, ${how}`, async () => {
        let floor = 0;
        const responses = await runTask(TASK, respond([CLIMB]), (_name, json) => {
          floor += JSON.parse(json).floors;
          return `floor ${floor}`;
        });
        expect(responses).to.have.length(STEPS + 1);
        for (const { output } of responses.slice(0, -1)) {
          expect(output[0]).to.include({ type: 'function_call', name: 'climb', arguments: '{"floors":2}' });
          // The older client parses some of them.
          if (sdk.current) expect(output[0]).to.deep.include({ parsed_arguments: { floors: 2 } });
        }
        expect(readText(responses.at(-1))).to.contain(`floor ${2 * STEPS}`);
        expect(await stage.charged(account)).to.equal(computeCost(responses));
      });

      it(`are called several at once, ${how}`, async () => {
        const tools = ['rise', 'sink'].map((name) => ({ ...CLIMB, name }));
        const called: string[] = [];
        const task = 'Move. [[tool:rise {"floors":3}]] [[tool:sink {"floors":1}]]';
        const responses = await runTask(task, respond(tools), (name, json) => {
          called.push(`${name} ${JSON.parse(json).floors}`);
          return `${name} is done`;
        });
        expect(called).to.deep.equal(['rise 3', 'sink 1']);
        const ids = responses[0]?.output.map((item) => ('call_id' in item ? item.call_id : undefined));
        expect(new Set(ids).size).to.equal(2);
        expect(readText(responses.at(-1)))
          .to.contain('rise is done')
          .and.to.contain('sink is done');
        expect(await stage.charged(account)).to.equal(computeCost(responses));
      });
    }
  });
}
