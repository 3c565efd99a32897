// The job with LangChain for JavaScript over the responses format.
import { execSync } from 'node:child_process';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';

const { GATE_URL, GATE_KEY, GATE_MODEL, GATE_PROMPT } = process.env;

const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
const model = new ChatOpenAI({
  model: GATE_MODEL,
  apiKey: GATE_KEY,
  configuration: { baseURL: GATE_URL },
  useResponsesApi: true,
  zdrEnabled: true,
  reasoning: { effort: 'medium', summary: 'auto' },
}).bindTools([{ type: 'function', function: { name: 'bash', description: 'Runs a command.', parameters } }]);

// It asks only models whose names it knows for their thoughts.
const include = ['reasoning.encrypted_content'];
const messages = [new HumanMessage(GATE_PROMPT)];
for (;;) {
  const answer = await model.invoke(messages, { include });
  messages.push(answer);
  if (answer.tool_calls.length === 0) break;
  for (const { id, args } of answer.tool_calls) {
    messages.push(new ToolMessage({ tool_call_id: id, content: execSync(args.command).toString() }));
  }
}
console.log(messages.at(-1).text);
