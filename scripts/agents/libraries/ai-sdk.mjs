// The job with the AI SDK over its provider of the responses format, which is told once that nothing is stored.
import { execSync } from 'node:child_process';
import { createOpenAI } from '@ai-sdk/openai';
import { defaultSettingsMiddleware, stepCountIs, streamText, tool, wrapProvider } from 'ai';
import { z } from 'zod';

const { GATE_URL, GATE_KEY, GATE_MODEL, GATE_PROMPT } = process.env;

// It asks only models whose names it knows for their thoughts.
const openai = { store: false, forceReasoning: true, reasoningEffort: 'medium', reasoningSummary: 'auto' };
const provider = wrapProvider({
  provider: createOpenAI({ baseURL: GATE_URL, apiKey: GATE_KEY }),
  languageModelMiddleware: defaultSettingsMiddleware({ settings: { providerOptions: { openai } } }),
});
const { text } = streamText({
  model: provider.languageModel(GATE_MODEL),
  prompt: GATE_PROMPT,
  stopWhen: stepCountIs(100),
  tools: {
    bash: tool({
      description: 'Runs a command.',
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }) => execSync(command).toString(),
    }),
  },
});
console.log(await text);
