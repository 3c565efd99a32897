// Chat front ends and other programs with pages of their own, on the connect page.
import { type Client, inFile, joinLines, sameInAll } from './client.ts';

const ADDRESS = { en: 'API address', ru: 'Адрес API' };
const KEY = { en: 'API key', ru: 'Ключ API' };

export const CHATS: readonly Client[] = [
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
          [sameInAll('URL'), v1],
          [KEY, key],
        ],
      },
      {
        where: {
          en: 'Or in the environment, before its first start',
          ru: 'Или в переменных окружения, до первого запуска',
        },
        paste: ({ v1, key, model, small }) =>
          joinLines(
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
          joinLines(
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
          [sameInAll('API Key'), key],
          [sameInAll('Base URL'), v1],
        ],
      },
      {
        where: { en: 'In the node “OpenAI Chat Model”', ru: 'В узле «OpenAI Chat Model»' },
        fields: ({ model }) => [[sameInAll('Model → By ID'), model]],
      },
    ],
  },
];
