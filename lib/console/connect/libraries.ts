// SDKs, libraries for agents, and requests without either, on the connect page.
import { type Client, inPackage, joinLines, TERMINAL } from './client.ts';

export const LIBRARIES: readonly Client[] = [
  {
    id: 'python',
    name: 'Python',
    heading: 'Official SDKs',
    settings: [
      {
        where: inPackage('openai'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'import openai',
            '',
            `chat = openai.OpenAI(base_url="${v1}", api_key="${key}")`,
            'answer = chat.chat.completions.create(',
            `    model="${model}",`,
            '    messages=[{"role": "user", "content": "Hello!"}],',
            ')',
            'print(answer.choices[0].message.content)',
          ),
      },
      {
        where: inPackage('anthropic'),
        paste: ({ api, key, model }) =>
          joinLines(
            'import anthropic',
            '',
            `messages = anthropic.Anthropic(base_url="${api}", api_key="${key}")`,
            'answer = messages.messages.create(',
            `    model="${model}",`,
            '    max_tokens=1000,',
            '    messages=[{"role": "user", "content": "Hello!"}],',
            ')',
            'print(answer.content[0].text)',
          ),
      },
    ],
  },
  {
    id: 'javascript',
    name: 'JavaScript',
    heading: 'Official SDKs',
    settings: [
      {
        where: inPackage('openai'),
        paste: ({ v1, key, model }) =>
          joinLines(
            "import OpenAI from 'openai';",
            '',
            `const client = new OpenAI({ baseURL: '${v1}', apiKey: '${key}' });`,
            'const answer = await client.chat.completions.create({',
            `  model: '${model}',`,
            "  messages: [{ role: 'user', content: 'Hello!' }],",
            '});',
            'console.log(answer.choices[0].message.content);',
          ),
      },
      {
        where: inPackage('@anthropic-ai/sdk'),
        paste: ({ api, key, model }) =>
          joinLines(
            "import Anthropic from '@anthropic-ai/sdk';",
            '',
            `const client = new Anthropic({ baseURL: '${api}', apiKey: '${key}' });`,
            'const answer = await client.messages.create({',
            `  model: '${model}',`,
            '  max_tokens: 1000,',
            "  messages: [{ role: 'user', content: 'Hello!' }],",
            '});',
            'console.log(answer.content[0].text);',
          ),
      },
    ],
  },
  {
    id: 'agents-sdk',
    name: 'Agents SDK',
    heading: 'Agents SDK',
    settings: [
      {
        where: inPackage('@openai/agents'),
        paste: ({ v1, key, model }) =>
          joinLines(
            "import { Agent, run, setDefaultOpenAIClient, setTracingDisabled } from '@openai/agents';",
            "import OpenAI from 'openai';",
            '',
            `setDefaultOpenAIClient(new OpenAI({ apiKey: '${key}', baseURL: '${v1}' }));`,
            'setTracingDisabled(true);',
            `const agent = new Agent({ name: 'Guide', instructions: 'Be brief.', model: '${model}' });`,
            "console.log((await run(agent, 'Hello!')).finalOutput);",
          ),
      },
      {
        where: inPackage('openai-agents'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'from agents import Agent, Runner, set_default_openai_client, set_tracing_disabled',
            'from openai import AsyncOpenAI',
            '',
            `set_default_openai_client(AsyncOpenAI(api_key="${key}", base_url="${v1}"))`,
            'set_tracing_disabled(True)',
            `print(Runner.run_sync(Agent(name="Guide", model="${model}"), "Hello!").final_output)`,
          ),
      },
    ],
  },
  {
    id: 'ai-sdk',
    name: 'Vercel AI SDK',
    heading: 'Vercel AI SDK',
    settings: [
      {
        where: inPackage('@ai-sdk/openai-compatible'),
        paste: ({ v1, key, model }) =>
          joinLines(
            "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
            "import { generateText } from 'ai';",
            '',
            `const tollgate = createOpenAICompatible({ name: 'tollgate', baseURL: '${v1}', apiKey: '${key}' });`,
            `const { text } = await generateText({ model: tollgate('${model}'), prompt: 'Hello!' });`,
            'console.log(text);',
          ),
      },
    ],
  },
  {
    id: 'langchain',
    name: 'LangChain',
    heading: 'LangChain',
    settings: [
      {
        where: inPackage('@langchain/openai'),
        paste: ({ v1, key, model }) =>
          joinLines(
            "import { ChatOpenAI } from '@langchain/openai';",
            '',
            `const chat = new ChatOpenAI({ model: '${model}', apiKey: '${key}', configuration: { baseURL: '${v1}' } });`,
            "console.log((await chat.invoke('Hello!')).content);",
          ),
      },
      {
        where: inPackage('langchain-openai'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'from langchain_openai import ChatOpenAI',
            '',
            `chat = ChatOpenAI(model="${model}", api_key="${key}", base_url="${v1}")`,
            'print(chat.invoke("Hello!").content)',
          ),
      },
    ],
  },
  {
    id: 'litellm',
    name: 'LiteLLM',
    heading: 'LiteLLM',
    settings: [
      {
        where: inPackage('litellm'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'import litellm',
            '',
            'answer = litellm.completion(',
            `    model="openai/${model}",`,
            `    api_base="${v1}",`,
            `    api_key="${key}",`,
            '    messages=[{"role": "user", "content": "Hello!"}],',
            ')',
            'print(answer.choices[0].message.content)',
          ),
      },
    ],
  },
  {
    id: 'pydantic-ai',
    name: 'pydantic-ai',
    heading: 'pydantic-ai',
    settings: [
      {
        where: inPackage('pydantic-ai'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'from pydantic_ai import Agent',
            'from pydantic_ai.models.openai import OpenAIChatModel',
            'from pydantic_ai.providers.openai import OpenAIProvider',
            '',
            `openai = OpenAIProvider(base_url="${v1}", api_key="${key}")`,
            `print(Agent(OpenAIChatModel("${model}", provider=openai)).run_sync("Hello!").output)`,
          ),
      },
    ],
  },
  {
    id: 'llamaindex',
    name: 'LlamaIndex',
    heading: 'LlamaIndex',
    settings: [
      {
        where: inPackage('llama-index-llms-openai-like'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'from llama_index.llms.openai_like import OpenAILike',
            '',
            `base = {"api_base": "${v1}", "api_key": "${key}"}`,
            `llm = OpenAILike(model="${model}", is_chat_model=True, is_function_calling_model=True, **base)`,
            'print(llm.complete("Hello!"))',
          ),
      },
    ],
  },
  {
    id: 'curl',
    name: 'curl',
    heading: 'Official SDKs',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) =>
          joinLines(
            `curl ${v1}/chat/completions \\`,
            `  -H 'authorization: Bearer ${key}' \\`,
            "  -H 'content-type: application/json' \\",
            `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] })}'`,
          ),
      },
    ],
  },
];
