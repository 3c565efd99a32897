// The clients of the connect page: what to enter or paste into each, with the base address that it needs. A test holds
// the same settings against docs/clients.md.
import type { Language } from '../language.ts';

/** What the settings are filled with. */
export interface Connection {
  /** For clients that append `/chat/completions` or `/responses`. */
  readonly v1: string;
  /** For clients that append `/v1/…` themselves. */
  readonly api: string;
  readonly key: string;
  readonly model: string;
  /** Cheaper, for titles and other small tasks. */
  readonly small: string;
}

type Text = Readonly<Record<Language, string>>;

/** A text to paste, or fields to fill in. */
interface Settings {
  /** Where it goes. */
  readonly where: Text;
  readonly paste?: (to: Connection) => string;
  readonly fields?: (to: Connection) => readonly (readonly [label: Text, value: string])[];
}

export interface Client {
  readonly id: string;
  readonly name: string;
  /** The heading in docs/clients.md. */
  readonly heading: string;
  readonly settings: readonly Settings[];
  readonly note?: Text;
}

const same = (text: string): Text => ({ en: text, ru: text });

const ADDRESS: Text = { en: 'API address', ru: 'Адрес API' };
const KEY: Text = { en: 'API key', ru: 'Ключ API' };
const TERMINAL: Text = { en: 'In the terminal', ru: 'В терминале' };
const inFile = (path: string): Text => ({ en: `In the file ${path}`, ru: `В файле ${path}` });

const lines = (...all: readonly string[]) => all.join('\n');

/** Programs with pages of their own come first. */
export const CLIENTS: readonly Client[] = [
  {
    id: 'open-webui',
    name: 'Open WebUI',
    heading: 'Open WebUI',
    settings: [
      {
        where: {
          en: 'Admin Panel → Settings → Connections → OpenAI API → +',
          ru: 'Панель администратора → Настройки → Подключения → OpenAI API → +',
        },
        fields: ({ v1, key }) => [
          [same('URL'), v1],
          [KEY, key],
        ],
      },
      {
        where: {
          en: 'Or in the environment, before its first start',
          ru: 'Или в переменных окружения, до первого запуска',
        },
        paste: ({ v1, key, model, small }) =>
          lines(
            `export OPENAI_API_BASE_URL=${v1}`,
            `export OPENAI_API_KEY=${key}`,
            `export DEFAULT_MODELS=${model}`,
            `export TASK_MODEL_EXTERNAL=${small}`,
            'export ENABLE_FOLLOW_UP_GENERATION=false',
            'export ENABLE_TAGS_GENERATION=false',
          ),
      },
    ],
    note: {
      en: 'Titles, tags and follow-up questions are paid calls of their own; the last three lines keep them cheap.',
      ru: 'Заголовки, теги и подсказки вопросов — отдельные платные запросы; последние три строки делают их дешевле.',
    },
  },
  {
    id: 'cherry-studio',
    name: 'Cherry Studio',
    heading: 'Cherry Studio',
    settings: [
      {
        where: {
          en: 'Settings → Model Provider → Add, provider type OpenAI',
          ru: 'Настройки → Провайдеры моделей → Добавить, тип OpenAI',
        },
        fields: ({ api, key, model }) => [
          [ADDRESS, api],
          [KEY, key],
          [{ en: 'Model', ru: 'Модель' }, model],
        ],
      },
    ],
    note: {
      en: 'The address ends in /api, not /api/v1: the program appends /v1 itself. “Manage” lists the models.',
      ru: 'Адрес заканчивается на /api, а не на /api/v1: программа сама добавит /v1. Модели — по кнопке «Управление».',
    },
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    heading: 'LibreChat',
    settings: [
      {
        where: inFile('librechat.yaml'),
        paste: ({ v1, model, small }) =>
          lines(
            'version: 1.3.17',
            'cache: true',
            'endpoints:',
            '  custom:',
            "    - name: 'Tollgate'",
            `      apiKey: '\${TOLLGATE_KEY}'`,
            `      baseURL: '${v1}'`,
            '      models:',
            `        default: ['${model}']`,
            '        fetch: true',
            '      titleConvo: true',
            `      titleModel: '${small}'`,
          ),
      },
      { where: inFile('.env'), paste: ({ key }) => `TOLLGATE_KEY=${key}` },
    ],
  },
  {
    id: 'n8n',
    name: 'n8n',
    heading: 'n8n',
    settings: [
      {
        where: { en: 'Credentials → Create → OpenAI', ru: 'Credentials → Create → OpenAI' },
        fields: ({ v1, key }) => [
          [same('API Key'), key],
          [same('Base URL'), v1],
        ],
      },
      {
        where: { en: 'In the node “OpenAI Chat Model”', ru: 'В узле «OpenAI Chat Model»' },
        fields: ({ model }) => [[same('Model → By ID'), model]],
      },
    ],
  },
  {
    id: 'claude-code',
    name: 'Claude Code',
    heading: 'Claude Code',
    settings: [
      {
        where: TERMINAL,
        paste: ({ api, key, model, small }) =>
          lines(
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
          lines(
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
      { where: TERMINAL, paste: ({ key }) => lines(`export KEY=${key}`, 'codex') },
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
          lines(`export OPENAI_BASE_URL=${v1}`, `export OPENAI_API_KEY=${key}`, `export OPENAI_MODEL=${model}`, 'qwen'),
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
      { where: TERMINAL, paste: ({ key }) => lines(`export KEY=${key}`, 'opencode') },
    ],
  },
  {
    id: 'cline',
    name: 'Cline',
    heading: 'Cline',
    settings: [
      {
        where: TERMINAL,
        paste: ({ v1, key, model }) => lines(`cline auth -p openai -k ${key} -m ${model} -b ${v1}`, 'cline'),
      },
    ],
  },
  {
    id: 'python',
    name: 'Python',
    heading: 'Official SDKs',
    settings: [
      {
        where: { en: 'Package openai', ru: 'Пакет openai' },
        paste: ({ v1, key, model }) =>
          lines(
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
        where: { en: 'Package anthropic', ru: 'Пакет anthropic' },
        paste: ({ api, key, model }) =>
          lines(
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
        where: { en: 'Package openai', ru: 'Пакет openai' },
        paste: ({ v1, key, model }) =>
          lines(
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
          lines(
            `curl ${v1}/chat/completions \\`,
            `  -H 'authorization: Bearer ${key}' \\`,
            "  -H 'content-type: application/json' \\",
            `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] })}'`,
          ),
      },
    ],
  },
];
