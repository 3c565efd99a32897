// Agents for the terminal and the editor, on the connect page.
import { type Client, inFile, joinLines, TERMINAL } from './client.ts';

export const AGENTS: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    heading: 'Claude Code',
    settings: [
      {
        where: TERMINAL,
        paste: ({ api, key, model, small }) =>
          joinLines(
            `export ANTHROPIC_BASE_URL=${api}`,
            `export ANTHROPIC_AUTH_TOKEN=${key}`,
            `export ANTHROPIC_MODEL=${model}`,
            `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${small}`,
            'export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1',
            'unset ANTHROPIC_API_KEY',
            'claude',
          ),
      },
    ],
  },
  {
    id: 'codex',
    name: 'Codex CLI',
    heading: 'Codex CLI',
    settings: [
      {
        where: inFile('~/.codex/config.toml'),
        paste: ({ v1, model }) =>
          joinLines(
            `model = "${model}"`,
            'model_provider = "tollgate"',
            '',
            '[model_providers.tollgate]',
            'name = "Tollgate"',
            `base_url = "${v1}"`,
            'env_key = "KEY"',
            'wire_api = "responses"',
          ),
      },
      { where: TERMINAL, paste: ({ key }) => joinLines(`export KEY=${key}`, 'codex') },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    heading: 'Qwen Code',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) =>
          joinLines(
            `export OPENAI_BASE_URL=${v1}`,
            `export OPENAI_API_KEY=${key}`,
            `export OPENAI_MODEL=${model}`,
            'qwen',
          ),
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    heading: 'opencode',
    settings: [
      {
        where: inFile('opencode.json'),
        paste: ({ v1, model, small }) => {
          const models = Object.fromEntries([...new Set([model, small])].map((id) => [id, {}]));
          const options = { baseURL: v1, apiKey: '{env:KEY}' };
          const provider = { npm: '@ai-sdk/openai-compatible', name: 'Tollgate', options, models };
          const file = {
            $schema: 'https://opencode.ai/config.json',
            provider: { tollgate: provider },
            model: `tollgate/${model}`,
            small_model: `tollgate/${small}`,
          };
          return JSON.stringify(file, null, 2);
        },
      },
      { where: TERMINAL, paste: ({ key }) => joinLines(`export KEY=${key}`, 'opencode') },
    ],
  },
  {
    id: 'cline',
    name: 'Cline',
    heading: 'Cline',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) => joinLines(`cline auth -p openai -k ${key} -m ${model} -b ${v1}`, 'cline'),
      },
    ],
  },
  {
    id: 'continue',
    name: 'Continue',
    heading: 'Continue',
    settings: [
      {
        where: inFile('config.yaml'),
        paste: ({ v1, key, model }) =>
          joinLines(
            'name: tollgate',
            'version: 0.0.1',
            'schema: v1',
            'models:',
            `  - name: ${model}`,
            '    provider: openai',
            `    model: ${model}`,
            `    apiBase: ${v1}`,
            `    apiKey: ${key}`,
            '    roles: [chat]',
            '    capabilities: [tool_use]',
          ),
      },
      { where: TERMINAL, paste: () => 'cn --config config.yaml' },
    ],
  },
  {
    id: 'pi',
    name: 'pi',
    heading: 'pi',
    settings: [
      {
        where: inFile('~/.pi/agent/models.json'),
        paste: ({ v1, model }) => {
          const models = [
            { id: model, name: model, reasoning: true, input: ['text'], contextWindow: 128_000, maxTokens: 8192 },
          ];
          const tollgate = { baseUrl: v1, api: 'openai-completions', apiKey: '$KEY', models };
          return JSON.stringify({ providers: { tollgate } }, null, 2);
        },
      },
      {
        where: TERMINAL,
        paste: ({ key, model }) => joinLines(`export KEY=${key}`, `pi --provider tollgate --model ${model}`),
      },
    ],
  },
  {
    id: 'copilot-cli',
    name: 'Copilot CLI',
    heading: 'Copilot CLI',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) =>
          joinLines(
            'export COPILOT_PROVIDER_TYPE=openai',
            `export COPILOT_PROVIDER_BASE_URL=${v1}`,
            `export COPILOT_PROVIDER_API_KEY=${key}`,
            'export COPILOT_PROVIDER_WIRE_API=completions',
            `export COPILOT_MODEL=${model}`,
            'copilot',
          ),
      },
    ],
  },
  {
    id: 'openhands',
    name: 'OpenHands',
    heading: 'OpenHands',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) =>
          joinLines(
            `export LLM_MODEL=openai/${model}`,
            `export LLM_BASE_URL=${v1}`,
            `export LLM_API_KEY=${key}`,
            'openhands --override-with-envs',
          ),
      },
    ],
  },
  {
    id: 'mini-swe-agent',
    name: 'mini-swe-agent',
    heading: 'mini-swe-agent',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) =>
          joinLines(
            `export OPENAI_API_BASE=${v1} OPENAI_API_KEY=${key}`,
            'export MSWEA_COST_TRACKING=ignore_errors',
            `mini -m openai/${model} --model-class litellm`,
          ),
      },
    ],
  },
  {
    id: 'aider',
    name: 'aider',
    heading: 'aider',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) =>
          joinLines(
            `export OPENAI_API_BASE=${v1} OPENAI_API_KEY=${key}`,
            `aider --model openai/${model} --edit-format diff`,
          ),
      },
    ],
  },
  {
    id: 'llm',
    name: 'llm',
    heading: 'llm',
    settings: [
      {
        where: {
          en: 'In the file extra-openai-models.yaml, in the folder that llm logs path names',
          ru: 'В файле extra-openai-models.yaml, в папке, которую называет llm logs path',
        },
        paste: ({ v1, model }) =>
          joinLines(
            `- model_id: ${model}`,
            `  model_name: ${model}`,
            `  api_base: ${v1}`,
            '  api_key_name: tollgate',
            '  supports_tools: true',
            '  reasoning: true',
          ),
      },
      {
        where: TERMINAL,
        paste: ({ key, model }) => joinLines(`llm keys set tollgate --value ${key}`, `llm -m ${model} 'Hello!'`),
      },
    ],
  },
];
