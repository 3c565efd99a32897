// The job with the Agents SDK for JavaScript: streamed, with thoughts that go back to the model.
import { execSync } from 'node:child_process';
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

const { GATE_URL, GATE_KEY, GATE_MODEL, GATE_PROMPT } = process.env;

setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: GATE_URL, apiKey: GATE_KEY }));

const bash = tool({
  name: 'bash',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string() }),
  execute: ({ command }) => execSync(command).toString(),
});
const agent = new Agent({
  name: 'Mender',
  instructions: 'Mend what is broken.',
  model: GATE_MODEL,
  modelSettings: {
    store: false,
    reasoning: { effort: 'medium', summary: 'auto' },
    providerData: { include: ['reasoning.encrypted_content'] },
  },
  tools: [bash],
});
const ran = await run(agent, GATE_PROMPT, { stream: true, maxTurns: 100 });
await ran.completed;
console.log(ran.finalOutput);
