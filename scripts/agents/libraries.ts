// The libraries that `npm run agents` runs, each by a script of its own that gives the model one tool, over responses.
import type { Program } from './program.ts';

const describe = ({
  script,
  ...rest
}: Pick<Program, 'name' | 'registry' | 'package' | 'extras'> & { script: string }): Program => ({
  ...rest,
  runs: { script },
  wire: 'responses',
  env: ({ baseUrl, key, model, prompt }) => ({
    GATE_URL: baseUrl,
    GATE_KEY: key,
    GATE_MODEL: model,
    GATE_PROMPT: prompt,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  }),
});

export const LIBRARIES: readonly Program[] = [
  describe({
    name: 'Agents SDK, JavaScript',
    registry: 'npm',
    package: '@openai/agents',
    extras: ['openai', 'zod'],
    script: 'agents-sdk.mjs',
  }),
  describe({
    name: 'Agents SDK, Python',
    registry: 'pypi',
    package: 'openai-agents',
    script: 'agents-sdk.py',
  }),
  describe({
    name: 'AI SDK',
    registry: 'npm',
    package: 'ai',
    extras: ['@ai-sdk/openai', 'zod'],
    script: 'ai-sdk.mjs',
  }),
  describe({
    name: 'LangChain, JavaScript',
    registry: 'npm',
    package: '@langchain/openai',
    extras: ['@langchain/core'],
    script: 'langchain-openai.mjs',
  }),
  describe({
    name: 'LangChain, Python',
    registry: 'pypi',
    package: 'langchain-openai',
    script: 'langchain-openai.py',
  }),
  describe({
    name: 'pydantic-ai',
    registry: 'pypi',
    package: 'pydantic-ai-slim',
    extras: ['pydantic-ai-slim[openai]'],
    script: 'pydantic-ai.py',
  }),
  describe({ name: 'LiteLLM', registry: 'pypi', package: 'litellm', script: 'litellm-responses.py' }),
];
